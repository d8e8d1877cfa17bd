#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/format.hpp"

namespace espalier {

/// SDFormat, versions 1.4 to 1.11; written as 1.9. docs/formats.md says what each element becomes.
///
/// Poses are resolved through frames, joints and nested models. Joints that are not needed for the
/// spanning tree become loops; joints that lead towards the root are turned round. A model that
/// nothing fixes to the world keeps its root link as root, and is said to float.
class SdfFormat final : public Format {
 public:
  std::vector<std::string> extensions() const override { return {".sdf", ".world"}; }
  using Format::read;
  Description read(std::string_view text, const std::string& origin,
                   const SubMechanisms& parts) const override;
  /// Models that the file includes are looked for in its folder and the search paths.
  Description read(std::string_view text, const std::string& origin, const SubMechanisms& parts,
                   const ReadOptions& options) const override;
  /// What SDF cannot say goes into elements <espalier:...>, which others ignore.
  std::string write(const Description& robot) const override;
  std::vector<std::string> losses(const Description& robot) const override;
};

}  // namespace espalier
