#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// A massless rod with ball joints at both ends: the origins of the two frames stay `length` [m]
/// apart. Closes loops only.
class Rod final : public LoopJoint {
 public:
  std::vector<std::string_view> parameter_names() const override { return {"length"}; }
  std::vector<LoopRow> loop_rows(const JointSpec& spec) const override {
    return {{LoopRow::Kind::distance, {0, 0, 0}, {0, 0, 0}, spec.positive("length")}};
  }
};

}  // namespace espalier
