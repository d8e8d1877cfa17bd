#include "espalier/kernel/model/motion/joint_turns.hpp"

#include <cmath>

namespace espalier {

// The rate of such a joint is one about z, so that it can differ by no more than its zero: one
// angle shows it.
bool are_angles(const BodyRun& run) {
  if (run.subspace != SubspaceKind::revolute_z || run.nq != 1) return false;
  if (!run.joints->turns_about_z()) return false;
  constexpr double angle = 0.5, rounding = 4e-16;
  const std::vector<double> q(run.count, angle);
  std::vector<double> s(run.count), c(run.count);
  run.joints->turns(q.data(), s.data(), c.data());
  for (int k = 0; k < run.count; ++k) {
    if (!(std::hypot(s[k] - std::sin(angle), c[k] - std::cos(angle)) < rounding)) return false;
  }
  return true;
}

}  // namespace espalier
