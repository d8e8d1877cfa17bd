#pragma once

#include <string>

#include "espalier/kernel/model/description.hpp"
#include "espalier/kernel/uniform.hpp"

namespace espalier::bench {

/// A robot that is put together link by link, with drawn numbers.
class Assembly {
 public:
  /// @param root  its root link
  Assembly(const std::string& name, const std::string& root);

  /// A link on a revolute joint of the same name.
  /// @param axis     in the frame that the joint has at zero
  /// @param offsets  which of the coordinates of its origin in the parent are not zero: "xyz", "z"
  /// @param rpy      of that frame in the parent
  void link(const std::string& name, const std::string& parent, const Vec3<double>& axis,
            const std::string& offsets = "xyz", const Vec3<double>& rpy = {0, 0, 0});
  /// The same about a coordinate axis: 'x', 'y' or 'z'.
  void link(const std::string& name, const std::string& parent, char axis,
            const std::string& offsets = "xyz");
  /// Links <prefix>1, <prefix>2, ... in series, one for each letter of `axes`.
  /// @returns the name of the last, or the parent where there is none
  std::string chain(const std::string& prefix, const std::string& parent, const std::string& axes);
  /// A link that is fixed to its parent.
  void fixed(const std::string& name, const std::string& parent);

  /// A point of a link, drawn [m].
  Vec3<double> point();

  const Description& description() const { return description_; }

 private:
  Inertial inertial();
  JointDescription& joint(const std::string& name, const std::string& parent, const char* type);

  Description description_;
  UniformNumbers uniform_{41};
};

}  // namespace espalier::bench
