#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/state.hpp"

// Positions of a whole model: on the manifolds of its joints.

namespace espalier::test::positions_test {
namespace {

using Numbers = std::vector<double>;
constexpr double rounding = 1e-12;  // logarithms of rotations by up to three radians

ModelPtr model_of(unsigned long long seed) {
  RobotOptions options;
  options.seed = seed;
  options.bodies = 5 + static_cast<int>(seed);
  return host().compile(random_robot(host().registry(), options));
}

TEST(PositionsTest, DifferenceUndoesIntegrate) {
  for (unsigned long long seed = 1; seed <= 10; ++seed) {
    const ModelPtr model = model_of(seed);
    const State s = random_state(*model, seed);
    Numbers moved_q(model->nq()), v(model->nv());
    model->integrate(s.q.data(), s.v.data(), moved_q.data());
    model->difference(s.q.data(), moved_q.data(), v.data());
    EXPECT_LE(largest_difference(v, s.v), rounding) << model->name();
  }
}

TEST(PositionsTest, IntegrateUndoesDifference) {
  for (unsigned long long seed = 1; seed <= 10; ++seed) {
    const ModelPtr model = model_of(seed);
    const Numbers a = random_state(*model, seed).q, b = random_state(*model, seed + 100).q;
    Numbers v(model->nv()), c(model->nq()), rest(model->nv());
    model->difference(a.data(), b.data(), v.data());
    model->integrate(a.data(), v.data(), c.data());
    // Quaternions may come back with the other sign: they are compared as rotations.
    model->difference(b.data(), c.data(), rest.data());
    EXPECT_LE(largest(rest), rounding) << model->name();
  }
}

TEST(PositionsTest, IntegrateMayWriteOverItsArgument) {
  const ModelPtr model = model_of(7);
  const State s = random_state(*model, 1);
  Numbers apart(model->nq()), in_place = s.q;
  model->integrate(s.q.data(), s.v.data(), apart.data());
  model->integrate(in_place.data(), s.v.data(), in_place.data());
  EXPECT_EQ(apart, in_place);
}

TEST(PositionsTest, PacksDoFourAtATime) {
  const ModelPtr model = model_of(3);
  std::vector<Pack> q(model->nq()), v(model->nv()), out(model->nq()), back(model->nv());
  State states[Pack::size];
  for (int k = 0; k < Pack::size; ++k) {
    states[k] = random_state(*model, k);
    for (int i = 0; i < model->nq(); ++i) q[i].set(k, states[k].q[i]);
    for (int i = 0; i < model->nv(); ++i) v[i].set(k, states[k].v[i]);
  }
  model->integrate(q.data(), v.data(), out.data());
  model->normalize(out.data());
  model->difference(q.data(), out.data(), back.data());
  for (int k = 0; k < Pack::size; ++k) {
    Numbers wanted(model->nq()), got(model->nq()), rates(model->nv());
    model->integrate(states[k].q.data(), states[k].v.data(), wanted.data());
    for (int i = 0; i < model->nq(); ++i) got[i] = out[i][k];
    for (int i = 0; i < model->nv(); ++i) rates[i] = back[i][k];
    EXPECT_LE(largest_difference(got, wanted), rounding) << k;
    EXPECT_LE(largest_difference(rates, states[k].v), rounding) << k;
  }
}

TEST(PositionsTest, NormalizeBringsQuaternionsBackAndLeavesTheRest) {
  const ModelPtr model =
      host().compile(chain_of(std::vector<std::string>{"spherical", "revolute", "floating"}));
  Numbers q = random_state(*model, 1).q;
  const Numbers before = q;
  const auto scaled = [&](int start, double factor) {
    for (int i = start; i < start + 4; ++i) q[i] *= factor;
  };
  scaled(model->joint("joint1").q, 3.0);
  scaled(model->joint("joint3").q + 3, 0.01);
  model->normalize(q.data());
  EXPECT_LE(largest_difference(q, before), 1e-15);  // one square root and division
}

TEST(PositionsTest, NeutralIsZeroAndUnitQuaternions) {
  const ModelPtr model =
      host().compile(chain_of(std::vector<std::string>{"floating", "revolute", "spherical"}));
  Numbers q(model->nq(), 99.0);
  model->neutral(q.data());
  EXPECT_EQ(q, (Numbers{0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}));
}

TEST(RandomPositionTest, IsTheSameForTheSameSeedAndAnotherForAnother) {
  const ModelPtr model = model_of(3);
  Numbers a(model->nq()), b(model->nq()), c(model->nq());
  model->random(5, a.data());
  model->random(5, b.data());
  model->random(6, c.data());
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
}

TEST(RandomPositionTest, IsOnTheManifold) {
  for (unsigned long long seed = 1; seed <= 10; ++seed) {
    const ModelPtr model = model_of(seed);
    Numbers q = random_state(*model, seed).q;
    const Numbers before = q;
    model->normalize(q.data());
    EXPECT_LE(largest_difference(q, before), 1e-15);  // lengths are 1 to rounding
  }
}

TEST(RandomPositionTest, KeepsWithinTheLimitsWhateverTheyAre) {
  constexpr double none = std::numeric_limits<double>::infinity();
  const std::pair<double, double> ranges[] = {{-0.2, 0.1},   {2.0, 2.5},    {-8.0, -7.0},
                                              {7.0, 9.0},    {-1e16, 1e16}, {0.0, 100.0},
                                              {-100.0, 0.5}, {1.0, 1.0},    {-none, none}};
  for (const auto& [lower, upper] : ranges) {
    Description robot = chain_of(std::vector<std::string>{"revolute"});
    for (int given = 0; given < 4; ++given) {
      robot.joints[0].limits.lower.reset();
      robot.joints[0].limits.upper.reset();
      if (given & 1) robot.joints[0].limits.lower = lower;
      if (given & 2) robot.joints[0].limits.upper = upper;
      const ModelPtr model = host().compile(robot);
      double low = 1e300, high = -1e300;
      for (int seed = 0; seed < 50; ++seed) {
        double q = std::nan("");
        model->random(seed, &q);
        ASSERT_TRUE(std::isfinite(q));
        if (given & 1) {
          EXPECT_GE(q, lower);
        }
        if (given & 2) {
          EXPECT_LE(q, upper);
        }
        low = std::min(low, q), high = std::max(high, q);
      }
      if (lower < upper) {
        EXPECT_LT(low, high) << "always the same position";
      }
    }
  }
}

TEST(RandomPositionTest, HonoursCouplings) {
  Description robot = ground();
  for (const char* name : {"a", "b"}) {
    add_solid(robot, name);
    add_joint(robot, std::string("to_") + name, "revolute", "base", name);
  }
  robot.joints[0].mimic = Mimic{"to_b", 2.0, 0.5};
  const ModelPtr model = host().compile(robot);
  Numbers q(2);
  for (int seed = 0; seed < 20; ++seed) {
    model->random(seed, q.data());
    EXPECT_EQ(q[model->joint("to_a").q], 2.0 * q[model->joint("to_b").q] + 0.5);
  }
}

}  // namespace
}  // namespace espalier::test::positions_test
