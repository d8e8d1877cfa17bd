#include "espalier/kernel/model/adapters/plugin_checks.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "espalier/plugin.hpp"
#include "tests/support/host.hpp"
#include "tests/support/simple_robot.hpp"

// What authors write by hand beside phi, gamma or the placement is compared with what follows from
// these: when a plugin registers, and when a model compiles.

namespace espalier::test::plugin_checks_test {
namespace {

/// q1 = 2 q0 + 0.3 sin q0.
struct Right {
  static constexpr int positions = 2, equations = 1, branches = 1;
  explicit Right(const PartSpec& /*spec*/) {}
  template <class T>
  void phi(const T* q, T* phi) const {
    phi[0] = q[1] - 2 * q[0] - 0.3 * sin(q[0]);
  }
  template <class T>
  void K(const T* q, T* K) const {
    K[0] = -2.0 - 0.3 * cos(q[0]);
    K[1] = T(1.0);
  }
  template <class T>
  void k(const T* q, const T* qd, T* k) const {
    k[0] = -0.3 * sin(q[0]) * qd[0] * qd[0];
  }
  bool solve(double* q, int /*branch*/) const {
    q[1] = 2 * q[0] + 0.3 * std::sin(q[0]);
    return true;
  }
};
struct WrongK : Right {
  using Right::Right;
  template <class T>
  void K(const T* q, T* K) const {
    K[0] = -2.0 - 0.3 * cos(q[0]) * 1.001;  // wrong in the fourth digit
    K[1] = T(1.0);
  }
};
struct WrongBias : Right {
  using Right::Right;
  template <class T>
  void k(const T* q, const T* qd, T* k) const {
    k[0] = 0.3 * sin(q[0]) * qd[0] * qd[0];  // the sign
  }
};
struct WrongSolve : Right {
  using Right::Right;
  bool solve(double* q, int /*branch*/) const {
    q[1] = 2 * q[0];
    return true;
  }
};
struct NanSolve : Right {
  using Right::Right;
  bool solve(double* q, int /*branch*/) const {
    q[1] = std::nan("");
    return true;
  }
};
/// q1 = q0^2, explicitly.
struct WrongG {
  static constexpr int independent = 1, dependent = 1;
  explicit WrongG(const PartSpec& /*spec*/) {}
  template <class T>
  void gamma(const T* y, T* q) const {
    q[0] = y[0] * y[0];
  }
  template <class T>
  void G(const T* y, T* G) const {
    G[0] = y[0];
  }
};
struct WrongRate : WrongG {
  using WrongG::WrongG;
  template <class T>
  void G(const T* y, T* G) const {
    G[0] = 2.0 * y[0];
  }
  template <class T>
  void g(const T* /*y*/, const T* yd, T* g) const {
    g[0] = yd[0] * yd[0];
  }
};
/// Right at its sample's size, wrong at others.
struct WrongElsewhere {
  static constexpr int positions = 2, equations = 1;
  static constexpr std::array<std::string_view, 1> parameters{"size"};
  static Parameters sample() { return {{"size", {1.0}}}; }
  explicit WrongElsewhere(const PartSpec& spec) : size(spec.number("size")) {}
  template <class T>
  void phi(const T* q, T* phi) const {
    phi[0] = q[1] - size * q[0];
  }
  template <class T>
  void K(const T* /*q*/, T* K) const {
    K[0] = T(-size * size);
    K[1] = T(1.0);
  }
  double size;
};

/// Of two equations it writes one.
struct ForgetsOne {
  static constexpr int positions = 3, equations = 2;
  explicit ForgetsOne(const PartSpec& /*spec*/) {}
  template <class T>
  void phi(const T* q, T* phi) const {
    phi[0] = q[1] - 2.0 * q[0];
  }
};
/// Of one equation it writes two.
struct WritesBeyond {
  static constexpr int positions = 2, equations = 1;
  explicit WritesBeyond(const PartSpec& /*spec*/) {}
  template <class T>
  void phi(const T* q, T* phi) const {
    phi[0] = q[1] - 2.0 * q[0];
    phi[1] = q[0];
  }
};
/// Of two positions it reads three.
struct ReadsBeyond {
  static constexpr int positions = 2, equations = 1;
  explicit ReadsBeyond(const PartSpec& /*spec*/) {}
  template <class T>
  void phi(const T* q, T* phi) const {
    phi[0] = q[1] - 2.0 * q[0] * q[2];
  }
};
/// The same two of a law that is solved for its last position.
struct GammaBeyond {
  static constexpr int independent = 1, dependent = 1;
  explicit GammaBeyond(const PartSpec& /*spec*/) {}
  template <class T>
  void gamma(const T* y, T* q) const {
    q[0] = y[0] * y[1];
  }
};
struct GammaForgets {
  static constexpr int independent = 1, dependent = 2;
  explicit GammaForgets(const PartSpec& /*spec*/) {}
  template <class T>
  void gamma(const T* y, T* q) const {
    q[1] = 2.0 * y[0];
  }
};

/// A hinge about z whose placement turns the other way.
struct WrongHinge {
  static constexpr int nq = 1, nv = 1;
  using Subspace = RevoluteAxes;
  explicit WrongHinge(const JointSpec& /*joint*/) {}
  template <class T>
  RotationZ<T> position(const T* q) const {
    return RotationZ<T>::by(-q[0]);
  }
};
/// Slides along a circle of radius 1: S turns with the position, and its bias is forgotten.
struct WithoutBias {
  static constexpr int nq = 1, nv = 1;
  using Subspace = Dense<1>;
  explicit WithoutBias(const JointSpec& /*joint*/) {}
  template <class T>
  Transform<T> position(const T* q) const {
    T s, c;
    sincos(q[0], s, c);
    return {Mat3<T>::identity(), {c, s, T(0.0)}};
  }
  template <class T>
  void subspace(const T* q, Motion<T>* S) const {
    T s, c;
    sincos(q[0], s, c);
    S[0] = {Vec3<T>::zero(), {-s, c, T(0.0)}};
  }
  template <class T>
  Motion<T> bias(const T* /*q*/, const T* /*qd*/) const {
    return Motion<T>::zero();
  }
};

template <class L>
std::string refusal_of_law() {
  Registry registry;
  Registrar registrar("laws.so");
  registrar.sub_mechanism<L>({.name = "tried"});
  try {
    registry.commit(std::move(registrar));
  } catch (const PluginError& error) {
    return error.what();
  }
  return "accepted";
}
template <class J>
std::string refusal_of_joint() {
  Registry registry;
  Registrar registrar("joints.so");
  registrar.joint<J>({.name = "tried"});
  try {
    registry.commit(std::move(registrar));
  } catch (const PluginError& error) {
    return error.what();
  }
  return "accepted";
}
void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
}

TEST(PluginChecksTest, RightLawsAreTaken) { EXPECT_EQ(refusal_of_law<Right>(), "accepted"); }

TEST(PluginChecksTest, WrongDerivativesNamePluginLawRowAndColumn) {
  expect_words(refusal_of_law<WrongK>(), {"laws.so", "law 'tried'", "K(0, 0)", "expected -2.29"});
  expect_words(refusal_of_law<WrongBias>(), {"laws.so", "law 'tried'", "k(0)", "rates"});
  expect_words(refusal_of_law<WrongG>(), {"laws.so", "law 'tried'", "G(0, 0)", "gamma"});
  expect_words(refusal_of_law<WrongRate>(), {"laws.so", "law 'tried'", "g(0)", "gamma"});
}

TEST(PluginChecksTest, NumbersThatAreMissingOrBeyondAreRefused) {
  expect_words(refusal_of_law<ForgetsOne>(),
               {"laws.so", "law 'tried'", "phi[1] is not written", "'equations = 2'"});
  expect_words(refusal_of_law<WritesBeyond>(), {"phi[1] is written", "'equations = 1'"});
  expect_words(refusal_of_law<ReadsBeyond>(),
               {"phi[0] depends on more than 2 positions", "q[0] to q[1]", "'positions = 2'"});
  expect_words(refusal_of_law<GammaBeyond>(),
               {"gamma[0] depends on more than 1 positions", "'independent = 1'"});
  expect_words(refusal_of_law<GammaForgets>(), {"gamma[0] is not written", "'dependent = 2'"});
}

TEST(PluginChecksTest, SolutionsThatDoNotSolveAreRefused) {
  expect_words(refusal_of_law<WrongSolve>(), {"laws.so", "'tried'", "solve()", "branch 0"});
  expect_words(refusal_of_law<NanSolve>(), {"laws.so", "'tried'", "solve()", "nan"});
}

TEST(PluginChecksTest, WhatItsSampleHidesIsFoundWhenAModelCompiles) {
  Registry registry;
  Registrar registrar("laws.so");
  registrar.sub_mechanism<WrongElsewhere>({.name = "elsewhere"});
  for (const char* joint : {"revolute", "fixed"}) {
    const Entry& known = host().registry().find(Kind::joint, joint);
    registrar.add(Kind::joint, known.about).joint = known.joint;
  }
  registry.commit(std::move(registrar));
  Description robot = ground();
  add_solid(robot, "a"), add_solid(robot, "b");
  add_joint(robot, "ja", "revolute", "base", "a");
  add_joint(robot, "jb", "revolute", "base", "b");
  LawDescription law;
  law.name = "tie", law.type = "elsewhere", law.joints = {"ja", "jb"};
  law.parameters = {{"size", {3.0}}};
  law.where = {"robot.test", 300};
  robot.laws.push_back(law);
  try {
    Model::compile(robot, registry);
    FAIL() << "a wrong K was computed with";
  } catch (const InvalidModel& error) {
    expect_words(error.what(), {"law 'tie'", "'elsewhere'", "K(0, 0) is -9, expected -3", "300"});
  }
}

TEST(PluginChecksTest, JointsWhoseSubspaceIsNotThatOfTheirPlacementAreRefused) {
  expect_words(refusal_of_joint<WrongHinge>(), {"joints.so", "joint 'tried'", "column 0 of S"});
  expect_words(refusal_of_joint<WithoutBias>(), {"joints.so", "joint 'tried'", "bias"});
}

TEST(PluginChecksTest, WhatAnIndexPromisesWasLookedAtWhenTheIndexWasWritten) {
  Registry registry;
  ASSERT_TRUE(registry.promise({"joints.so", {{Kind::joint, "", "promised"}}, [] {}}));
  Registrar promised("joints.so"), other("joints.so");
  promised.joint<WrongHinge>({.name = "promised"});
  registry.commit(std::move(promised));
  EXPECT_EQ(registry.joint_type("promised").nv(), 1);
  other.joint<WrongHinge>({.name = "other"});  // of the same plugin, and no name of its index
  EXPECT_THROW(registry.commit(std::move(other)), PluginError);
}

TEST(PluginChecksTest, AllThatIsRegisteredPasses) {
  int joints = 0, laws = 0;
  for (const Entry* e : host().registry().entries(Kind::joint)) {
    EXPECT_EQ(espalier::detail::fault_of(*e->joint), "") << e->about.name;
    ++joints;
  }
  for (const Entry* e : host().registry().entries(Kind::law)) {
    EXPECT_EQ(espalier::detail::fault_of(*e->law), "") << e->about.name;
    ++laws;
  }
  EXPECT_GT(joints, 5);
  EXPECT_GT(laws, 5);
}

}  // namespace
}  // namespace espalier::test::plugin_checks_test
