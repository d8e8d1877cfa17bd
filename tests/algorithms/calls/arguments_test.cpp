#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "espalier/kernel/problems/dynamics/constrained_dynamics.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"
#include "espalier/kernel/problems/operational_space/operational_space.hpp"
#include "tests/support/end_effectors.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/state.hpp"

// Wrong sizes, NaN, and robots with little or nothing that moves.

namespace espalier::test::arguments_test {
namespace {

using Numbers = std::vector<double>;

/// The message of the SizeMismatch that f throws; "" if it throws none.
template <class F>
std::string mismatch(F&& f) {
  try {
    f();
  } catch (const SizeMismatch& error) {
    return error.what();
  }
  return "";
}

class SizeTest : public testing::Test {
 protected:
  // Position and velocity differ in size.
  const ModelPtr model = host().compile(chain_of(std::vector<std::string>{"floating", "revolute"}));
  const int nq = model->nq(), nv = model->nv();
  Numbers q = Numbers(nq, 0.5), v = Numbers(nv, 0.5), out = Numbers(nv);
  const Numbers wrong = Numbers(nv + 5);
  Numbers wrong_out = Numbers(nv + 5);
};

/// The message names the argument, its size and the wanted one.
void expect_names(const std::string& message, const std::string& what, int got, int wanted) {
  const std::string expected =
      what + " is " + std::to_string(got) + ", expected " + std::to_string(wanted);
  EXPECT_NE(message.find(expected), std::string::npos) << "'" << message << "' lacks " << expected;
}

TEST_F(SizeTest, ForwardDynamicsChecksEveryArgument) {
  for (const auto& [name, a] : every<ForwardDynamics<double>>(model)) {
    auto& f = *a;
    expect_names(mismatch([&] { f.evaluate(wrong, v, v, out); }), "q", nv + 5, nq);
    expect_names(mismatch([&] { f.evaluate(q, wrong, v, out); }), "v", nv + 5, nv);
    expect_names(mismatch([&] { f.evaluate(q, v, wrong, out); }), "tau", nv + 5, nv);
    expect_names(mismatch([&] { f.evaluate(q, v, v, wrong_out); }), "vdot", nv + 5, nv);
  }
}
TEST_F(SizeTest, InverseDynamicsChecksEveryArgument) {
  for (const auto& [name, a] : every<InverseDynamics<double>>(model)) {
    auto& f = *a;
    expect_names(mismatch([&] { f.evaluate(wrong, v, v, out); }), "q", nv + 5, nq);
    expect_names(mismatch([&] { f.evaluate(q, wrong, v, out); }), "v", nv + 5, nv);
    expect_names(mismatch([&] { f.evaluate(q, v, wrong, out); }), "vdot", nv + 5, nv);
    expect_names(mismatch([&] { f.evaluate(q, v, v, wrong_out); }), "tau", nv + 5, nv);
  }
}
TEST(WrenchesTest, OfAnotherRobotAreTakenWhereItsBodiesHaveTheSameNames) {
  const ModelPtr model = host().compile(chain_of(std::vector<std::string>(2, "revolute")));
  Description other = chain_of(std::vector<std::string>(2, "revolute"));
  const ModelPtr same = host().compile(other);
  for (auto& link : other.links) link.name += "_b";
  for (auto& joint : other.joints) joint.parent += "_b", joint.child += "_b";
  const ModelPtr renamed = host().compile(other);
  const Numbers x(2, 0.3);
  Numbers out(2);
  const auto aba = host().create<ForwardDynamics<double>>("aba", model);
  const Wrenches<double> alike(same), different(renamed);
  EXPECT_NO_THROW(aba->evaluate(x, x, x, out, &alike));
  try {
    aba->evaluate(x, x, x, out, &different);
    FAIL() << "wrenches on other bodies were taken";
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("'link1_b'"), std::string::npos) << error.what();
  }
  EXPECT_THROW(Wrenches<double>{ModelPtr{}}, InvalidModel);
}

/// Results may go where an input is: every algorithm has read it by then.
TEST(InPlaceTest, DynamicsMayBeWrittenOverTheirInputs) {
  for (const char* file : {"/robots/ur5.urdf", "/robots/tello.yaml", "/robots/mini_cheetah.urdf"}) {
    const ModelPtr model = host().load(std::string(ESPALIER_SOURCE_DIR) + file);
    const test::State s = random_state(*model, 5);
    const auto agree = [&](const std::string& name, const Numbers& apart, const Numbers& in_place) {
      EXPECT_EQ(apart, in_place) << name << " on " << file;
    };
    for (const auto& [name, a] : every<ForwardDynamics<double>>(model)) {
      Numbers out(model->nv()), tau = s.tau, v = s.v;
      a->evaluate(s.q, s.v, s.tau, out);
      a->evaluate(s.q, s.v, tau, tau);
      a->evaluate(s.q, v, s.tau, v);
      agree(name, out, tau), agree(name, out, v);
    }
    for (const auto& [name, a] : every<InverseDynamics<double>>(model)) {
      Numbers out(model->nv()), vdot = s.tau, v = s.v;
      a->evaluate(s.q, s.v, s.tau, out);
      a->evaluate(s.q, s.v, vdot, vdot);
      a->evaluate(s.q, v, s.tau, v);
      agree(name, out, vdot), agree(name, out, v);
    }
  }
}
TEST_F(SizeTest, BiasForceChecksEveryArgument) {
  for (const auto& [name, a] : every<BiasForce<double>>(model)) {
    auto& f = *a;
    expect_names(mismatch([&] { f.evaluate(wrong, v, out); }), "q", nv + 5, nq);
    expect_names(mismatch([&] { f.evaluate(q, wrong, out); }), "v", nv + 5, nv);
    expect_names(mismatch([&] { f.evaluate(q, v, wrong_out); }), "bias", nv + 5, nv);
  }
}
TEST_F(SizeTest, MassMatrixChecksEveryArgument) {
  Numbers M(nv * nv);
  for (const auto& [name, a] : every<MassMatrix<double>>(model)) {
    auto& f = *a;
    expect_names(mismatch([&] { f.evaluate(wrong, M); }), "q", nv + 5, nq);
    expect_names(mismatch([&] { f.evaluate(q, wrong_out); }), "M", nv + 5, nv * nv);
  }
}
TEST_F(SizeTest, KinematicsChecksEveryArgument) {
  const auto f = any<Kinematics<double>>(model);
  expect_names(mismatch([&] { f->evaluate(wrong, v, v); }), "q", nv + 5, nq);
  expect_names(mismatch([&] { f->evaluate(q, wrong, v); }), "v", nv + 5, nv);
  expect_names(mismatch([&] { f->evaluate(q, v, wrong); }), "vdot", nv + 5, nv);
}
TEST_F(SizeTest, JacobiansCheckEveryArgument) {
  const auto f = any<BodyJacobians<double>>(model);
  expect_names(mismatch([&] { f->evaluate(wrong); }), "q", nv + 5, nq);
  f->evaluate(q);
  const Link& link = model->links()[0];
  expect_names(mismatch([&] { f->jacobian(link, wrong_out); }), "J", nv + 5, 6 * nv);
  Numbers J(6 * nv);
  expect_names(mismatch([&] { f->evaluate(wrong, link, J); }), "q", nv + 5, nq);
  expect_names(mismatch([&] { f->evaluate(q, link, wrong_out); }), "J", nv + 5, 6 * nv);
}
TEST_F(SizeTest, CentreOfMassChecksEveryArgument) {
  const auto f = any<CenterOfMass<double>>(model);
  expect_names(mismatch([&] { f->evaluate(wrong, v, v); }), "q", nv + 5, nq);
  expect_names(mismatch([&] { f->evaluate(q, wrong, v); }), "v", nv + 5, nv);
  expect_names(mismatch([&] { f->evaluate(q, v, wrong); }), "vdot", nv + 5, nv);
}
TEST_F(SizeTest, EnergyChecksEveryArgument) {
  const auto f = any<Energy<double>>(model);
  expect_names(mismatch([&] { f->evaluate(wrong, v); }), "q", nv + 5, nq);
  expect_names(mismatch([&] { f->evaluate(q, wrong); }), "v", nv + 5, nv);
}
TEST_F(SizeTest, InverseOsimChecksEveryArgument) {
  Numbers A(36);
  for (const auto& [name, a] : every<InverseOsim<double>>(with_tips(model))) {
    auto& f = *a;
    expect_names(mismatch([&] { f.evaluate(wrong, A); }), "q", nv + 5, nq);
    expect_names(mismatch([&] { f.evaluate(q, wrong_out); }), "inverse_osim", nv + 5, 36);
  }
}
TEST_F(SizeTest, OperationalSpaceChecksEveryArgument) {
  for (const auto& [name, a] : every<OperationalSpace<double>>(with_tips(model))) {
    auto& f = *a;
    expect_names(mismatch([&] { f.evaluate(wrong, v, v); }), "q", nv + 5, nq);
    expect_names(mismatch([&] { f.evaluate(q, wrong, v); }), "v", nv + 5, nv);
    expect_names(mismatch([&] { f.evaluate(q, v, wrong); }), "tau", nv + 5, nv);
  }
}
TEST_F(SizeTest, ConstrainedDynamicsCheckEveryArgument) {
  const Numbers held(6);
  for (const auto& [name, a] : every<ConstrainedDynamics<double>>(with_tips(model))) {
    auto& f = *a;
    expect_names(mismatch([&] { f.evaluate(wrong, v, v, held); }), "q", nv + 5, nq);
    expect_names(mismatch([&] { f.evaluate(q, wrong, v, held); }), "v", nv + 5, nv);
    expect_names(mismatch([&] { f.evaluate(q, v, wrong, held); }), "tau", nv + 5, nv);
    expect_names(mismatch([&] { f.evaluate(q, v, v, wrong); }), "acceleration", nv + 5, 6);
  }
}
TEST_F(SizeTest, EndEffectorsWithoutRowsAreRefused) {
  EndEffector rowless;
  rowless.link = "link1";
  for (const Entry* e : host().registry().algorithms("inverse-osim")) {
    const auto create = [&](std::vector<EndEffector> all) {
      return mismatch([&] { host().registry().create(*e, espalier::Setup{model, all}); });
    };
    const std::string none = create({}), no_rows = create({rowless});
    EXPECT_NE(none.find("number of end-effectors is 0, expected at least one"), std::string::npos)
        << none;
    EXPECT_NE(no_rows.find("link 'link1': number of rows is 0, expected at least one row"),
              std::string::npos)
        << no_rows;
  }
}
TEST_F(SizeTest, WrenchesOfAnotherRobotAreRefused) {
  const ModelPtr other = host().compile(chain_of(std::vector<std::string>(5, "revolute")));
  const Wrenches<double> wrenches(other);
  for (const auto& [name, a] : every<ForwardDynamics<double>>(model)) {
    auto& f = *a;
    expect_names(mismatch([&] { f.evaluate(q, v, v, out, &wrenches); }), "wrenches", 6, 3);
  }
  for (const auto& [name, a] : every<InverseDynamics<double>>(model)) {
    auto& f = *a;
    expect_names(mismatch([&] { f.evaluate(q, v, v, out, &wrenches); }), "wrenches", 6, 3);
  }
  for (const auto& [name, a] : every<BiasForce<double>>(model)) {
    auto& f = *a;
    expect_names(mismatch([&] { f.evaluate(q, v, out, &wrenches); }), "wrenches", 6, 3);
  }
}
TEST_F(SizeTest, NamedInputsAreCheckedToo) {
  Results results;
  for (const Entry* e : named_algorithms()) {
    const auto algorithm = host().registry().create(*e, with_tips(model));
    EXPECT_THROW(algorithm->solve(Inputs{}, results), SizeMismatch) << e->about.name;
  }
}

TEST(WrenchTest, UnknownLinkIsNamedWithTheKnownOnes) {
  const ModelPtr model = host().compile(chain_of(std::vector<std::string>{"revolute"}));
  Wrenches<double> wrenches(model);
  try {
    wrenches.add("hand", Force<double>::zero());
    FAIL() << "expected UnknownName";
  } catch (const UnknownName& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("'hand'"), std::string::npos) << text;
    EXPECT_NE(text.find("'base', 'link1'"), std::string::npos) << text;
  }
}

TEST(EndEffectorTest, UnknownLinksAndNumbersThatAreNoneAreNamed) {
  const ModelPtr model = host().compile(chain_of(std::vector<std::string>{"revolute"}));
  const auto refusal = [&](const EndEffector& e) -> std::string {
    try {
      Task(*model, {e});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::string unknown = refusal(EndEffector::weld("hand"));
  EXPECT_NE(unknown.find("'hand'"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("'base', 'link1'"), std::string::npos) << unknown;
  EndEffector bad = EndEffector::weld("link1");
  bad.rows[3][2] = std::numeric_limits<double>::infinity();
  EXPECT_NE(refusal(bad).find("row holds inf"), std::string::npos) << refusal(bad);
  bad = EndEffector::weld("link1", {0, std::numeric_limits<double>::quiet_NaN(), 0});
  EXPECT_NE(refusal(bad).find("offset holds nan"), std::string::npos) << refusal(bad);
}

TEST(WrenchTest, OnTheGroundHasNoEffectAndClearTakesAllOff) {
  const ModelPtr model = host().compile(chain_of(std::vector<std::string>{"revolute"}));
  const auto a = any<BiasForce<double>>(model);
  const Numbers q{0.3}, v{0.5};
  Numbers without(1), with(1);
  a->evaluate(q, v, without);
  Wrenches<double> wrenches(model);
  wrenches.add("base", {{1, 2, 3}, {4, 5, 6}});
  a->evaluate(q, v, with, &wrenches);
  EXPECT_EQ(with, without);
  wrenches.add("link1", {{1, 2, 3}, {4, 5, 6}});
  a->evaluate(q, v, with, &wrenches);
  EXPECT_NE(with, without);
  wrenches.clear();
  a->evaluate(q, v, with, &wrenches);
  EXPECT_EQ(with, without);
}

TEST(NotANumberTest, PositionsThatAreNoneGiveResultsThatAreNone) {
  RobotOptions options;
  options.bodies = 12;
  options.shape = RobotOptions::Shape::chain;
  const ModelPtr model = host().compile(random_robot(host().registry(), options));
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    // In the first joint, so that every body beyond it is somewhere unknown.
    State s = random_state(*model, 1);
    for (int k = 0; k < model->joints()[0].nq; ++k) s.q[k] = bad;
    for (const auto& [name, a] : every<ForwardDynamics<double>>(model)) {
      Numbers vdot(model->nv(), 0.0);
      a->evaluate(s.q, s.v, s.tau, vdot);
      EXPECT_TRUE(std::isnan(vdot.back())) << name;
    }
    for (const auto& [name, a] : every<InverseDynamics<double>>(model)) {
      Numbers tau(model->nv(), 0.0);
      a->evaluate(s.q, s.v, s.vdot, tau);
      EXPECT_TRUE(std::isnan(tau.front())) << name;
    }
    const espalier::Setup setup = with_tips(model);
    for (const auto& [name, a] : every<InverseOsim<double>>(setup)) {
      const int m = a->task().size();
      Numbers A(m * m, 0.0);
      a->evaluate(s.q, A);
      EXPECT_TRUE(std::isnan(A.back())) << name;
    }
    for (const auto& [name, a] : every<OperationalSpace<double>>(setup)) {
      EXPECT_TRUE(std::isnan(a->evaluate(s.q, s.v, s.tau).osim.back())) << name;
    }
    for (const auto& [name, a] : every<ConstrainedDynamics<double>>(setup)) {
      const Numbers rest(a->task().size());
      EXPECT_TRUE(std::isnan(a->evaluate(s.q, s.v, s.tau, rest).vdot.back())) << name;
    }
  }
}

TEST(NotANumberTest, DoesNotSpreadToTheNextCall) {
  RobotOptions options;
  const ModelPtr model = host().compile(random_robot(host().registry(), options));
  const State s = random_state(*model, 1);
  const Numbers bad(model->nq(), std::numeric_limits<double>::quiet_NaN());
  for (const auto& [name, a] : every<ForwardDynamics<double>>(model)) {
    Numbers before(model->nv()), after(model->nv());
    a->evaluate(s.q, s.v, s.tau, before);
    a->evaluate(bad, s.v, s.tau, after);
    a->evaluate(s.q, s.v, s.tau, after);
    EXPECT_EQ(before, after) << name;
  }
  for (const auto& [name, a] : every<InverseOsim<double>>(with_tips(model))) {
    const int m = a->task().size();
    Numbers before(m * m), after(m * m);
    a->evaluate(s.q, before);
    a->evaluate(bad, after);
    a->evaluate(s.q, after);
    EXPECT_EQ(before, after) << name;
  }
}

// --- nothing that moves -----------------------------------------------------------------------

class NothingMovesTest : public testing::TestWithParam<int> {
 protected:
  /// A robot whose links are all welded to the ground.
  static Description robot() {
    return GetParam() == 0 ? ground() : chain_of(std::vector<std::string>(GetParam(), "fixed"));
  }
};

TEST_P(NothingMovesTest, EveryAlgorithmAnswersWithEmptyVectors) {
  const ModelPtr model = host().compile(robot());
  EXPECT_EQ(model->nq(), 0);
  EXPECT_EQ(model->nv(), 0);
  EXPECT_EQ(model->body_count(), 0);
  EXPECT_TRUE(model->coordinates().empty());
  Results results;
  for (const Entry* e : named_algorithms()) {
    EXPECT_NO_THROW(host().registry().create(*e, with_tips(model))->solve(Inputs{}, results))
        << e->about.name << " for " << e->problem;
  }
}

TEST_P(NothingMovesTest, LinksKeepTheirPlacesAndRest) {
  const ModelPtr model = host().compile(robot());
  const auto a = any<Kinematics<double>>(model);
  a->evaluate(Numbers{}, Numbers{}, Numbers{});
  for (const Link& link : model->links()) {
    EXPECT_EQ(a->placement(link).r.x, link.X.r.x);
    EXPECT_EQ(a->velocity(link).w.x, 0.0);
  }
  const auto answer = any<CenterOfMass<double>>(model)->evaluate(Numbers{}, Numbers{}, Numbers{});
  EXPECT_EQ(answer.position.x, 0.0);  // of nothing: zero, not a number divided by zero
}

INSTANTIATE_TEST_SUITE_P(Welded, NothingMovesTest, testing::Values(0, 1, 5));

}  // namespace
}  // namespace espalier::test::arguments_test
