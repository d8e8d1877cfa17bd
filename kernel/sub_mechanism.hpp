#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/description.hpp"

namespace espalier {

/// A composable piece of a robot with parameters and ports, e.g. a geared rotor.
class ESPALIER_API SubMechanism {
 public:
  virtual ~SubMechanism();
  /// Names of the parameters it reads; others are refused.
  virtual std::vector<std::string_view> parameter_names() const = 0;
  /// Links of expand()'s result that others may attach to, its base first.
  virtual std::vector<std::string_view> ports() const = 0;
  /// Links, joints, loops and couplings of one instance; names are relative to it.
  /// @throws InvalidModel naming a parameter that is missing or out of range
  virtual Description expand(const Parameters& parameters) const = 0;
};

}  // namespace espalier
