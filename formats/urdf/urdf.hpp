#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/format.hpp"

namespace espalier {

/// URDF and URDF+ (couplings, loops, independent joints), and what Espalier adds to them
/// (docs/urdf.md):
///
///     <robot> ... <espalier gravity="0 0 -9.81"/> </robot>
///     <law name="" type="">  <joint name=""/> ...  <parameter name="" value=""/> ...  </law>
///     <joint> or <loop> ... <espalier armature="" stiffness="" rest="" lower="" upper="">
///                             <parameter name="pitch" value="0.01"/>
///                           </espalier>
///
/// All attributes are optional; lower and upper take precedence over those of <limit> (URDF cannot
/// say that a joint is limited on one side only). URDF parsers ignore the element.
///
/// Comments, unknown elements and unknown attributes are ignored. Elements are matched with the
/// namespace prefix of the root element (mostly none); elements with another prefix belong to other
/// tools and are ignored, except uses of xacro macros, which stand for parts of the robot and are
/// refused: xacro has to be run first.
class UrdfFormat final : public Format {
 public:
  std::vector<std::string> extensions() const override;
  using Format::read;
  Description read(std::string_view text, const std::string& origin,
                   const SubMechanisms& parts) const override;
  std::string write(const Description& robot) const override;
};

}  // namespace espalier
