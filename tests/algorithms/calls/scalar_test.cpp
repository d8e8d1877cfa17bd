#include <gtest/gtest.h>

#include <functional>

#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"
#include "tests/support/end_effectors.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/state.hpp"

// One template, three scalars: a pack computes eight robots, a counter counts one.

namespace espalier::test::scalar_test {
namespace {

// Sine and cosine of packs come from another library than those of doubles and differ in the last
// bits; deep in a tree such errors add up with the lever arms.
constexpr double lanes_agree = 1e-10;

using Values = std::vector<double>;

template <class T>
struct Case {
  std::vector<T> q, v, tau, vdot;
  Wrenches<T> wrenches;
};

Case<Pack> packed(const ModelPtr& model, const State* states) {
  Case<Pack> c{{}, {}, {}, {}, Wrenches<Pack>(model)};
  const auto gather = [&](Values State::*member) {
    std::vector<Pack> out((states[0].*member).size());
    for (std::size_t i = 0; i < out.size(); ++i)
      for (int k = 0; k < Pack::size; ++k) out[i].set(k, (states[k].*member)[i]);
    return out;
  };
  c.q = gather(&State::q), c.v = gather(&State::v);
  c.tau = gather(&State::tau), c.vdot = gather(&State::vdot);
  // Lane k has the wrenches of state k.
  for (int k = 0; k < Pack::size; ++k) {
    for (const auto& [link, wrench] : states[k].wrenches_on) {
      Force<Pack> w = Force<Pack>::zero();
      for (int i = 0; i < 6; ++i) w[i].set(k, wrench[i]);
      c.wrenches.add(link, w);
    }
  }
  return c;
}
Case<double> plain(const ModelPtr& model, const State& s) {
  return {s.q, s.v, s.tau, s.vdot, s.wrenches(model)};
}
Case<Count> counted(const ModelPtr& model, const State& s) {
  const auto variables = [](const Values& in) {
    std::vector<Count> out;
    for (const double x : in) out.push_back(Count::variable(x));
    return out;
  };
  return {variables(s.q), variables(s.v), variables(s.tau), variables(s.vdot),
          s.wrenches<Count>(model)};
}

template <class T, class M>
void append(std::vector<T>& out, const M& six) {
  for (int i = 0; i < 6; ++i) out.push_back(six[i]);
}

// All that an algorithm says of a case, as one list of numbers.
template <class T>
std::vector<T> answers(ForwardDynamics<T>& a, const Case<T>& c) {
  std::vector<T> out(c.v.size());
  a.evaluate(c.q, c.v, c.tau, out, &c.wrenches);
  return out;
}
template <class T>
std::vector<T> answers(InverseDynamics<T>& a, const Case<T>& c) {
  std::vector<T> out(c.v.size());
  a.evaluate(c.q, c.v, c.vdot, out, &c.wrenches);
  return out;
}
template <class T>
std::vector<T> answers(BiasForce<T>& a, const Case<T>& c) {
  std::vector<T> out(c.v.size());
  a.evaluate(c.q, c.v, out, &c.wrenches);
  return out;
}
template <class T>
std::vector<T> answers(MassMatrix<T>& a, const Case<T>& c) {
  std::vector<T> out(c.v.size() * c.v.size());
  a.evaluate(c.q, out);
  return out;
}
template <class T>
std::vector<T> answers(Kinematics<T>& a, const Case<T>& c) {
  a.evaluate(c.q, c.v, c.vdot);
  std::vector<T> out;
  for (const Link& link : a.model().links()) {
    const Transform<T> X = a.placement(link);
    for (int i = 0; i < 3; ++i) {
      out.push_back(X.r[i]);
      for (int j = 0; j < 3; ++j) out.push_back(X.E(i, j));
    }
    append(out, a.velocity(link));
    append(out, a.acceleration(link));
  }
  return out;
}
template <class T>
std::vector<T> answers(BodyJacobians<T>& a, const Case<T>& c) {
  a.evaluate(c.q);
  std::vector<T> out(6 * c.v.size());
  a.jacobian(a.model().links().back(), out);
  return out;
}
template <class T>
std::vector<T> answers(CenterOfMass<T>& a, const Case<T>& c) {
  const auto answer = a.evaluate(c.q, c.v, c.vdot);
  std::vector<T> out;
  for (const auto* x : {&answer.position, &answer.velocity, &answer.acceleration})
    for (int i = 0; i < 3; ++i) out.push_back((*x)[i]);
  return out;
}
template <class T>
std::vector<T> answers(Energy<T>& a, const Case<T>& c) {
  const auto answer = a.evaluate(c.q, c.v);
  return {answer.kinetic, answer.potential};
}

template <class T>
std::vector<T> answers(InverseOsim<T>& a, const Case<T>& c) {
  std::vector<T> out(a.task().size() * a.task().size());
  a.evaluate(c.q, out);
  return out;
}

template <class T>
Values lane_of(const std::vector<T>& values, int k) {
  Values out;
  for (const T& x : values) out.push_back(lane(x, k));
  return out;
}

/// Robots with all joint types, in runs of all lengths.
ModelPtr model_of(int seed) {
  RobotOptions options;
  options.bodies = 1 + 3 * seed;
  options.seed = seed;
  return host().compile(random_robot(host().registry(), options));
}

template <template <class> class P>
void expect_each_lane_is_what_double_gives() {
  for (int seed = 1; seed <= 8; ++seed) {
    const ModelPtr model = model_of(seed);
    State states[Pack::size];
    for (int k = 0; k < Pack::size; ++k) states[k] = random_state(*model, 10 * seed + k);
    const auto all = every<P<Pack>>(with_tips(model));
    ASSERT_FALSE(all.empty());
    for (const auto& [name, algorithm] : all) {
      const std::vector<Pack> together = answers(*algorithm, packed(model, states));
      const auto alone = host().create<P<double>>(name, with_tips(model));
      for (int k = 0; k < Pack::size; ++k) {
        EXPECT_LE(
            relative_difference(lane_of(together, k), answers(*alone, plain(model, states[k]))),
            lanes_agree)
            << name << " lane " << k << " of robot " << seed;
      }
    }
  }
}

template <template <class> class P>
void expect_counting_gives_the_values() {
  for (int seed = 1; seed <= 8; ++seed) {
    const ModelPtr model = model_of(seed);
    const State s = random_state(*model, seed);
    const auto all = every<P<Count>>(with_tips(model));
    ASSERT_FALSE(all.empty());
    for (const auto& [name, algorithm] : all) {
      const auto alone = host().create<P<double>>(name, with_tips(model));
      const Values wanted = answers(*alone, plain(model, s));
      for (const bool fold : {false, true}) {
        fold_constants() = fold;
        const Values got = lane_of(answers(*algorithm, counted(model, s)), 0);
        fold_constants() = false;
        EXPECT_LE(relative_difference(got, wanted), lanes_agree) << name << " robot " << seed;
      }
    }
  }
}

#define ESPALIER_TEST_PROBLEM(P)                                                                   \
  TEST(PackTest, EachLaneOf##P##IsWhatDoubleGives) { expect_each_lane_is_what_double_gives<P>(); } \
  TEST(CountTest, P##GivesTheValues) { expect_counting_gives_the_values<P>(); }
ESPALIER_TEST_PROBLEM(ForwardDynamics)
ESPALIER_TEST_PROBLEM(InverseDynamics)
ESPALIER_TEST_PROBLEM(BiasForce)
ESPALIER_TEST_PROBLEM(MassMatrix)
ESPALIER_TEST_PROBLEM(Kinematics)
ESPALIER_TEST_PROBLEM(BodyJacobians)
ESPALIER_TEST_PROBLEM(CenterOfMass)
ESPALIER_TEST_PROBLEM(Energy)
ESPALIER_TEST_PROBLEM(InverseOsim)
#undef ESPALIER_TEST_PROBLEM

/// Additions and multiplications of one call on a chain of revolute joints.
template <template <class> class P>
std::int64_t operations(const std::string& name, int bodies) {
  const ModelPtr model = host().compile(chain_of(std::vector<std::string>(bodies, "revolute")));
  const auto algorithm = host().create<P<Count>>(name, model);
  const Case<Count> c = counted(model, random_state(*model, 1));
  operation_counts() = {};
  answers(*algorithm, c);
  return operation_counts().additions + operation_counts().multiplications;
}

/// Equal steps in the number of bodies cost equal numbers of operations.
template <template <class> class P>
void expect_linear_cost() {
  const ModelPtr model = model_of(1);
  int linear = 0;
  for (const auto& [name, algorithm] : every<P<Count>>(model)) {
    if (host().registry().find_algorithm(P<Count>::problem, name).about.cost != "O(n)") continue;
    ++linear;
    const std::int64_t n10 = operations<P>(name, 10), n20 = operations<P>(name, 20),
                       n30 = operations<P>(name, 30), n40 = operations<P>(name, 40);
    EXPECT_GT(n20, n10) << name;
    EXPECT_EQ(n30 - n20, n20 - n10) << name;
    EXPECT_EQ(n40 - n20, 2 * (n20 - n10)) << name;
  }
  EXPECT_GT(linear, 0);
}

TEST(CountTest, ForwardDynamicsCostAsMuchForEachBodyAsTheySay) {
  expect_linear_cost<ForwardDynamics>();
}
TEST(CountTest, InverseDynamicsCostAsMuchForEachBodyAsTheySay) {
  expect_linear_cost<InverseDynamics>();
}

TEST(CountTest, FoldingConstantsNeverCostsMore) {
  const ModelPtr model = model_of(3);
  for (const auto& [name, algorithm] : every<ForwardDynamics<Count>>(model)) {
    const Case<Count> c = counted(model, random_state(*model, 1));
    operation_counts() = {};
    answers(*algorithm, c);
    const std::int64_t plainly = operation_counts().multiplications;
    fold_constants() = true;
    operation_counts() = {};
    answers(*algorithm, c);
    fold_constants() = false;
    EXPECT_LT(operation_counts().multiplications, plainly) << name;
  }
}

// The angle of a continuous joint counts its turns.
TEST(LargeAngleTest, ManyTurnsAreAsGoodAsNone) {
  const ModelPtr model = host().compile(chain_of(std::vector<std::string>(9, "continuous")));
  State s = random_state(*model, 1);
  for (const double turns : {10.0, 1e3, 1e6, 1e9}) {
    State turned = s;
    for (double& q : turned.q) q += turns * 6.283185307179586;
    State back = turned;
    for (double& q : back.q) q = std::atan2(std::sin(q), std::cos(q));
    for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
      const Values wanted = answers(*algorithm, plain(model, back));
      // The reduction to one turn is exact to rounding of the angle in it.
      EXPECT_LE(relative_difference(answers(*algorithm, plain(model, turned)), wanted), 1e-10)
          << name << " after " << turns << " turns";
    }
  }
}

}  // namespace
}  // namespace espalier::test::scalar_test
