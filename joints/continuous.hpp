#pragma once

#include <espalier/kernel/model/adapters/renamed_joint.hpp>
#include <espalier/plugin.hpp>
#include <memory>
#include <utility>

namespace espalier {

/// Rotation about the axis without end stops: a revolute joint whose angle counts its turns, so
/// that positions are not wrapped and couplings with other joints hold over many turns.
inline std::shared_ptr<const JointType> continuous(std::shared_ptr<const JointType> revolute) {
  return std::make_shared<const RenamedJoint>("continuous", std::move(revolute));
}

}  // namespace espalier
