#include "algorithms/segments/newton_euler/lone_body.hpp"

#include <gtest/gtest.h>
#include <vector>

#include "algorithms/inverse_dynamics/projected_rnea.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

namespace espalier::test::lone_body_test {
namespace {

ModelPtr bodies(int count, bool floating) {
  RobotOptions options;
  options.bodies = count, options.floating_base = floating;
  options.armature = options.welded = 0.0;
  if (!floating) options.types = {"revolute"};
  return host().compile(random_robot(host().registry(), options));
}

TEST(LoneBodyTest, IsARobotOfOneBodyThatNothingHolds) {
  EXPECT_TRUE(LoneBody<double>::is(*bodies(1, true)));
  EXPECT_FALSE(LoneBody<double>::is(*bodies(1, false)));
  EXPECT_FALSE(LoneBody<double>::is(*bodies(2, true)));
}

TEST(LoneBodyTest, ItsForcesAreThoseOfTheRecursion) {
  const ModelPtr model = bodies(1, true);
  LoneBody<double> lone(*model);
  SpanningRnea<double> recursion(*model);
  SpanningMotion<double> motion(*model);
  const Vec3<double> gravity{0.4, -1.3, -9.0};
  for (int k = 0; k < 5; ++k) {
    const State state = random_state(*model, 40 + k);
    const Wrenches<double> some = state.wrenches(model);
    const double *q = state.q.data(), *v = state.v.data();
    motion.update(q, v);
    for (const double* vdot : {static_cast<const double*>(nullptr), state.vdot.data()}) {
      for (const Wrenches<double>* wrenches :
           {static_cast<const Wrenches<double>*>(nullptr), &some}) {
        std::vector<double> tau(6), wanted(6);
        lone.compute(q, v, vdot, gravity, wrenches, tau.data());
        recursion.compute(motion, gravity, vdot, wrenches, wanted.data());
        // Sums of some ten products of numbers up to fifty.
        EXPECT_LE(largest_difference(tau, wanted), 1e-13) << k;
      }
    }
  }
}

}  // namespace
}  // namespace espalier::test::lone_body_test
