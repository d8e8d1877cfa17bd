#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/support/end_effectors.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/state.hpp"

// Models whose joints are coupled by constant couplings: projected by hand, and refused by
// algorithms for trees.

namespace espalier::test::couplings_test {
namespace {

constexpr double agreed = 1e-10;  // two ways through matrices of a dozen rates

/// A chain of revolute joints of which the second mimics the first and a gear ties the last ones.
Description tied_chain() {
  RobotOptions options;
  options.bodies = 6;
  options.shape = RobotOptions::Shape::chain;
  options.types = {"revolute", "prismatic"};
  options.seed = 4;
  Description robot = random_robot(host().registry(), options);
  const auto joint = [&](const std::string& name) -> JointDescription& {
    for (JointDescription& j : robot.joints)
      if (j.name == name) return j;
    throw UnknownName(name);
  };
  joint("joint2").mimic = Mimic{"joint1", -1.5, 0.2};
  // Link4 on the one side and link5, link6 on the other branch off link3: 2 q4 = q5 + q6.
  joint("joint5").parent = "link3";
  robot.couplings.push_back({"gear", "link4", "link6", 2.0, {}});
  return robot;
}

Description uncoupled(Description robot) {
  robot.couplings.clear();
  for (JointDescription& joint : robot.joints) joint.mimic.reset();
  return robot;
}

class TiedChainTest : public testing::Test {
 protected:
  TiedChainTest() {
    s = random_state(*coupled, 3);
    // G by names: what moves joint j per independent rate.
    G = Eigen::MatrixXd::Zero(6, 4);
    const auto tree_rate = [&](const char* name) { return tree->joint(name).v; };
    const auto own = [&](const char* name) { return coupled->joint(name).independent; };
    for (const Coordinate& c : coupled->coordinates()) G(tree->joint(c.joint).v, c.start) = 1.0;
    G(tree_rate("joint2"), own("joint1")) = -1.5;
    // 2 q4 = q5 + q6: the equation names joint5 first.
    G(tree_rate("joint5"), own("joint4")) = 2.0;
    G(tree_rate("joint5"), own("joint6")) = -1.0;
    q = Eigen::VectorXd(6);
    for (const Joint& joint : coupled->joints()) q[tree->joint(joint.name).q] = s.q[joint.q];
  }
  static std::vector<double> numbers(const Eigen::VectorXd& v) { return {v.begin(), v.end()}; }
  Eigen::VectorXd spanning(const std::vector<double>& v) const {
    return G * Eigen::Map<const Eigen::VectorXd>(v.data(), 4);
  }

  const Description robot = tied_chain();
  const ModelPtr coupled = host().compile(robot), tree = host().compile(uncoupled(robot));
  State s;
  Eigen::MatrixXd G;
  Eigen::VectorXd q;
};

TEST_F(TiedChainTest, HasFourIndependentRates) {
  EXPECT_EQ(coupled->nv(), 4);
  EXPECT_EQ(coupled->spanning_nv(), 6);
  EXPECT_EQ(coupled->joint("joint2").independent, -1);
  EXPECT_EQ(coupled->joint("joint5").independent, -1);
}

TEST_F(TiedChainTest, MassMatrixIsTheProjectedOne) {
  std::vector<double> H(36), M(16);
  any<MassMatrix<double>>(tree)->evaluate(numbers(q), H);
  const Eigen::MatrixXd wanted = G.transpose() * Eigen::Map<Eigen::MatrixXd>(H.data(), 6, 6) * G;
  const auto all = every<MassMatrix<double>>(coupled);
  ASSERT_FALSE(all.empty());
  for (const auto& [name, algorithm] : all) {
    algorithm->evaluate(s.q, M);
    EXPECT_LE((Eigen::Map<Eigen::MatrixXd>(M.data(), 4, 4) - wanted).cwiseAbs().maxCoeff(), agreed)
        << name;
  }
}

TEST_F(TiedChainTest, InverseDynamicsAndBiasAreTheProjectedOnes) {
  const Wrenches<double> wrenches = s.wrenches(coupled), tree_wrenches = s.wrenches(tree);
  const auto on_tree = any<InverseDynamics<double>>(tree);
  std::vector<double> spanning_tau(6), tau(4);
  const auto project = [&](const std::vector<double>& vdot) {
    on_tree->evaluate(numbers(q), numbers(spanning(s.v)), vdot, spanning_tau, &tree_wrenches);
    return numbers(G.transpose() * Eigen::Map<Eigen::VectorXd>(spanning_tau.data(), 6));
  };
  // G is constant: the spanning accelerations are G vdot.
  const auto wanted = project(numbers(spanning(s.vdot)));
  const auto all = every<InverseDynamics<double>>(coupled);
  ASSERT_FALSE(all.empty());
  for (const auto& [name, algorithm] : all) {
    algorithm->evaluate(s.q, s.v, s.vdot, tau, &wrenches);
    EXPECT_LE(relative_difference(tau, wanted), agreed) << name;
  }
  const auto still = project(std::vector<double>(6, 0.0));
  for (const auto& [name, algorithm] : every<BiasForce<double>>(coupled)) {
    algorithm->evaluate(s.q, s.v, tau, &wrenches);
    EXPECT_LE(relative_difference(tau, still), agreed) << name;
  }
}

TEST_F(TiedChainTest, ForwardDynamicsInvertsInverseDynamics) {
  const Wrenches<double> wrenches = s.wrenches(coupled);
  any<InverseDynamics<double>>(coupled)->evaluate(s.q, s.v, s.vdot, s.tau, &wrenches);
  std::vector<double> vdot(4);
  const auto all = every<ForwardDynamics<double>>(coupled);
  ASSERT_FALSE(all.empty());
  for (const auto& [name, algorithm] : all) {
    algorithm->evaluate(s.q, s.v, s.tau, vdot, &wrenches);
    EXPECT_LE(relative_difference(vdot, s.vdot), agreed) << name;
  }
}

TEST_F(TiedChainTest, LinksMoveAsOnTheTree) {
  const auto here = any<Kinematics<double>>(coupled), there = any<Kinematics<double>>(tree);
  here->evaluate(s.q, s.v, s.vdot);
  there->evaluate(numbers(q), numbers(spanning(s.v)), numbers(spanning(s.vdot)));
  const auto jacobians = any<BodyJacobians<double>>(coupled);
  jacobians->evaluate(s.q);
  for (const Link& link : coupled->links()) {
    const Link& other = tree->link(link.name);
    std::vector<double> J(24), Jv(6, 0.0), v, wanted_v, a, wanted_a;
    jacobians->jacobian(link, J);
    for (int i = 0; i < 6; ++i) {
      for (int k = 0; k < 4; ++k) Jv[i] += J[4 * i + k] * s.v[k];
      v.push_back(here->velocity(link)[i]), wanted_v.push_back(there->velocity(other)[i]);
      a.push_back(here->acceleration(link)[i]), wanted_a.push_back(there->acceleration(other)[i]);
    }
    EXPECT_LE(relative_difference(v, wanted_v), agreed) << link.name;
    EXPECT_LE(relative_difference(a, wanted_a), agreed) << link.name;
    EXPECT_LE(relative_difference(Jv, wanted_v), agreed) << link.name;
  }
  const auto c = any<CenterOfMass<double>>(coupled)->evaluate(s.q, s.v, s.vdot);
  const auto wanted = any<CenterOfMass<double>>(tree)->evaluate(numbers(q), numbers(spanning(s.v)),
                                                                numbers(spanning(s.vdot)));
  EXPECT_NEAR(c.acceleration.x, wanted.acceleration.x, agreed * 100);  // of order 100 m/s²
  const auto e = any<Energy<double>>(coupled)->evaluate(s.q, s.v);
  const auto wanted_e = any<Energy<double>>(tree)->evaluate(numbers(q), numbers(spanning(s.v)));
  EXPECT_NEAR(e.kinetic, wanted_e.kinetic, agreed * std::max(1.0, e.kinetic));
  EXPECT_NEAR(e.potential, wanted_e.potential, agreed * std::max(1.0, std::abs(e.potential)));
}

TEST_F(TiedChainTest, EveryAlgorithmRunsOrIsRefusedWithClusterAndAlternative) {
  int refused = 0;
  for (const Entry* e : host().registry().algorithms()) {
    const Verdict verdict = host().registry().can(*e, *coupled);
    EXPECT_EQ(verdict.ok, e->capabilities.couplings) << e->about.name;
    if (verdict.ok) {
      EXPECT_NO_THROW(host().registry().create(*e, with_tips(coupled)));
      continue;
    }
    ++refused;
    try {
      host().registry().create(*e, with_tips(coupled));
      FAIL() << e->about.name << " took a model that it cannot compute";
    } catch (const Unsupported& error) {
      const std::string text = error.what();
      // Derivatives have central differences for an oracle.
      const std::string oracle = e->problem.ends_with("-derivatives") ? "'differences'" : "'dense'";
      for (const std::string& part :
           {std::string("joint1+joint2"), std::string("mimic of joint2"), oracle}) {
        EXPECT_NE(text.find(part), std::string::npos) << text << " lacks " << part;
      }
    }
    // Where a cluster algorithm solves the problem, it comes before the oracle.
    const std::string best = e->problem == "mass-matrix"                    ? "c-crba"
                             : e->problem == "inverse-osim"                 ? "c-efpa"
                             : e->problem == "forward-dynamics"             ? "c-aba"
                             : e->problem == "forward-dynamics-derivatives" ? "c-aba-derivatives"
                             : e->problem == "inverse-dynamics-derivatives" ? "c-rnea-derivatives"
                                                                            : "c-rnea";
    const auto& others = verdict.alternatives;
    EXPECT_LT(std::find(others.begin(), others.end(), best),
              std::find(others.begin(), others.end(),
                        e->problem.ends_with("-derivatives") ? "differences" : "dense"))
        << e->about.name;
  }
  EXPECT_GT(refused, 0);
}

TEST(ReflectedInertiaTest, IsTheRatioSquared) {
  // A rotor on the ground that turns six times as fast as the arm.
  const double arm = 0.4, rotor = 0.01, ratio = 6.0;
  Description robot = ground();
  add_link(robot, "arm", 1.0, {0, 0, 0}, {0.4, 0, 0, 0.4, 0, arm});
  add_link(robot, "rotor", 1.0, {0, 0, 0}, {0.01, 0, 0, 0.01, 0, rotor});
  add_joint(robot, "arm_joint", "revolute", "base", "arm");
  add_joint(robot, "rotor_joint", "revolute", "base", "rotor");
  robot.couplings.push_back({"gear", "arm", "rotor", ratio, {}});
  const ModelPtr model = host().compile(robot);
  ASSERT_EQ(model->nv(), 1);
  EXPECT_EQ(model->coordinates()[0].joint, "arm_joint");
  std::vector<double> M(1);
  for (const auto& [name, algorithm] : every<MassMatrix<double>>(model)) {
    algorithm->evaluate(std::vector<double>(2, 0.0), M);
    EXPECT_NEAR(M[0], arm + ratio * ratio * rotor, 1e-14) << name;  // three roundings
  }
}

TEST(LoopTest, EveryAlgorithmWithoutLoopsIsRefusedNamingTheLoop) {
  Description robot = planar_chain_of(std::vector<std::string>(3, "revolute"));
  LoopDescription loop;
  loop.name = "closure";
  loop.type = "revolute";
  loop.predecessor = "base";
  loop.successor = "link3";
  loop.axis = {0, 1, 0};
  robot.loops.push_back(loop);
  const ModelPtr model = host().compile(robot);
  for (const Entry* e : host().registry().algorithms()) {
    if (e->capabilities.loops) continue;
    try {
      host().registry().create(*e, with_tips(model));
      FAIL() << e->about.name << " took a loop";
    } catch (const Unsupported& error) {
      EXPECT_NE(std::string(error.what()).find("'closure'"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace espalier::test::couplings_test
