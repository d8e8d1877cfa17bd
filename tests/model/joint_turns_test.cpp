#include "espalier/kernel/model/motion/joint_turns.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "espalier/kernel/model/adapters/joint_adapter.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"

namespace espalier::test::joint_turns_test {
namespace {

using Numbers = std::vector<double>;

/// A revolute joint whose zero is elsewhere.
struct Turned {
  static constexpr int nq = 1, nv = 1;
  using Subspace = RevoluteAxes;

  explicit Turned(const JointSpec& /*joint*/) {}
  template <class T>
  RotationZ<T> position(const T* q) const {
    return RotationZ<T>::by(q[0] + T(0.3));
  }
};

ModelPtr arm(int bodies) {
  RobotOptions options;
  options.bodies = bodies;
  options.shape = RobotOptions::Shape::chain;
  options.types = {"revolute"};
  return host().compile(random_robot(host().registry(), options));
}

/// Sines, then cosines.
Numbers by_plugin(const BodyRun& run, const Numbers& q) {
  Numbers out(std::size_t{2} * run.count);
  run.joints->turns(q.data() + run.q, out.data(), out.data() + run.count);
  return out;
}
Numbers by_run_turns(const BodyRun& run, const Numbers& q) {
  const std::size_t bodies = run.first + run.count;
  Numbers out(2 * bodies, 0.0), of_run;
  RunTurns<double>(run).update(q.data(), out.data(), out.data() + bodies);
  for (const std::size_t start : {std::size_t{0}, bodies}) {
    of_run.insert(of_run.end(), out.begin() + start + run.first, out.begin() + start + bodies);
  }
  return of_run;
}

TEST(RunTurnsTest, AreSinesAndCosinesOfTheJointsForRunsOfAnyLength) {
  for (int bodies = 1; bodies <= 9; ++bodies) {
    const ModelPtr model = arm(bodies);
    ASSERT_EQ(model->runs().size(), 1u);
    const BodyRun& run = model->runs()[0];
    EXPECT_TRUE(are_angles(run));
    Numbers q(model->nq());
    for (int k = 0; k < bodies; ++k) q[k] = 0.7 * k * k - 2.0;
    const Numbers wanted = by_plugin(run, q), got = by_run_turns(run, q);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      EXPECT_NEAR(got[k], wanted[k], 4e-16) << bodies << " bodies, number " << k;  // rounding
    }
  }
}

/// Angles beyond those whose polynomials are exact have a round of their own.
TEST(RunTurnsTest, HugeAnglesAmongOthersAreRight) {
  for (const int bodies : {3, 4, 6}) {
    const ModelPtr model = arm(bodies);
    const BodyRun& run = model->runs()[0];
    for (int huge = 0; huge < bodies; ++huge) {
      Numbers q(model->nq(), 0.4);
      q[huge] = 1e9;
      const Numbers wanted = by_plugin(run, q), got = by_run_turns(run, q);
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        EXPECT_NEAR(got[k], wanted[k], 4e-16) << huge << " of " << bodies << ", number " << k;
      }
      EXPECT_NEAR(got[huge], std::sin(1e9), 4e-16);
    }
  }
}

TEST(RunTurnsTest, AnglesThatAreNotThePositionsAreAskedOfTheJoints) {
  const ::espalier::detail::JointTypeOf<Turned> type("turned");
  const std::vector<JointSpec> specs(5);
  const std::vector<Transform<double>> placements(5, Transform<double>::identity());
  BodyRun run;
  run.first = 1, run.count = 5, run.nq = run.nv = 1;
  run.subspace = type.subspace(), run.joints = type.make_run(specs, placements);
  EXPECT_FALSE(are_angles(run));
  const Numbers q{0.1, -0.4, 1.0, 2.0, -3.0};
  EXPECT_EQ(by_run_turns(run, q), by_plugin(run, q));
}

}  // namespace
}  // namespace espalier::test::joint_turns_test
