#pragma once

#include <string>
#include <vector>

#include "espalier/kernel/model/description.hpp"
#include "espalier/kernel/problems/task.hpp"

/// The mechanisms on which Sathya et al. (2023) and Wensing et al. (2012) count operations.
///
/// Published are their links and joints; masses, inertias and lengths are drawn, since counts do
/// not depend on them: inertias are full tensors about centres of mass that lie on no axis. Link
/// frames are parallel at zero unless it is said otherwise, joint axes are axes of the frames.

namespace espalier::bench {

struct Mechanism {
  std::string name;
  Description description;
  bool floating = true;
  std::vector<EndEffector> end_effectors;

  int rows() const;
};

/// Figure 3 of Sathya et al.: a stem of `links` revolute links in series on a floating link, and on
/// either end of it (the floating link, the last link of the stem) `branches` branches of seven
/// revolute links, the tips of the first `held` of them welded. Seven, and the floating link at the
/// end of the stem, are those of the authors' program (AjSat/spatial_V2, examples/long_tree.m).
inline constexpr int branch_links = 7;
Mechanism stem(int links, int branches, int held);

/// A chain of revolute links on a fixed base of which `held` ones, evenly spaced, are welded: every
/// end-effector hangs on all that come before it.
Mechanism nested_chain(int links, int held);

/// What is constrained of Atlas and its hands.
struct AtlasTask {
  /// 0, 6 or 12 rows on each; four contacts may have their rows in link axes
  enum class Feet { free, weld, four_contacts, four_contacts_link_axes };
  Feet feet = Feet::free;
  bool left_hand = false, right_hand = false;  ///< whether there is a Shadow hand, 15 rows on each
  bool wrists = false;                         ///< 6 rows on each wrist
};
/// Atlas, 30 revolute joints on a floating pelvis, with and without Shadow hands.
Mechanism atlas(const std::string& name, const AtlasTask& task);
/// The Shadow hand alone on a fixed forearm, 24 joints, a contact of three rows on each fingertip.
Mechanism shadow_hand();

/// What Wensing et al. vary: ASIMO Next-Generation, 34 revolute joints on a floating torso.
struct AsimoOptions {
  enum class Task { hands_feet, hands_feet_head, fingers_feet };
  Task task = Task::hands_feet;
  int more_arm_joints = 0, more_leg_joints = 0, more_finger_joints = 0;  ///< in each
  int arms = 2, legs = 2;
  bool four_fingers = false;   ///< of three joints each, instead of thumb and forefinger
  bool on_right_foot = false;  ///< which is the fixed base then
};
Mechanism asimo(const std::string& name, const AsimoOptions& options);

}  // namespace espalier::bench
