#include <gtest/gtest.h>

#include "tests/support/big_clusters.hpp"
#include "tests/support/host.hpp"

/// Clusters of many loops: every method says what the dense ones say, which neither divide K into
/// blocks nor pass bodies by columns.

namespace espalier::test::big_clusters_test {
namespace {

// The dense oracles solve systems of up to 150 unknowns whose condition is some 1e4.
constexpr double agreed = 1e-10;

/// Mechanisms by name: every test of this program passes the list of them, which builds none.
struct Mechanism {
  const char* name;
  Description (*build)();
};

class BigClustersTest : public testing::TestWithParam<Mechanism> {
 protected:
  ModelPtr model = host().compile(GetParam().build());
  State state = big_cluster_state(*model, 3);
  Wrenches<double> wrenches = state.wrenches(model);
};

TEST_P(BigClustersTest, ForwardDynamicsAgreesWithKkt) {
  std::vector<double> expected(model->nv());
  const auto kkt = host().create<ForwardDynamics<double>>("kkt", ::espalier::Setup{model});
  kkt->evaluate(state.q, state.v, state.tau, expected, &wrenches);
  auto all = every<ForwardDynamics<double>>(model);
  EXPECT_GT(all.size(), 2u);
  for (auto& [name, algorithm] : all) {
    std::vector<double> vdot(model->nv());
    algorithm->evaluate(state.q, state.v, state.tau, vdot, &wrenches);
    EXPECT_LE(relative_difference(vdot, expected), agreed) << name;
  }
}

TEST_P(BigClustersTest, InverseDynamicsUndoesForwardDynamics) {
  const auto forward = host().create<ForwardDynamics<double>>("c-aba", ::espalier::Setup{model});
  std::vector<double> vdot(model->nv());
  forward->evaluate(state.q, state.v, state.tau, vdot, &wrenches);
  for (auto& [name, algorithm] : every<InverseDynamics<double>>(model)) {
    std::vector<double> tau(model->nv());
    algorithm->evaluate(state.q, state.v, vdot, tau, &wrenches);
    // tau is a small difference of the many forces that the accelerations take.
    EXPECT_LE(largest_difference(tau, state.tau), 1e-9 * (largest(vdot) + 1.0)) << name;
  }
}

TEST_P(BigClustersTest, MassMatricesAgree) {
  std::vector<std::vector<double>> all;
  for (auto& [name, algorithm] : every<MassMatrix<double>>(model)) {
    all.emplace_back(model->nv() * model->nv());
    algorithm->evaluate(state.q, all.back());
    EXPECT_LE(relative_difference(all.back(), all.front()), agreed) << name;
  }
  EXPECT_GT(all.size(), 1u);
}

TEST_P(BigClustersTest, PacksAgreeLaneByLane) {
  std::vector<State> states;
  for (int k = 0; k < Pack::size; ++k) states.push_back(big_cluster_state(*model, 10 + k));
  std::vector<Pack> q(model->nq()), v(model->nv()), tau(model->nv()), vdot(model->nv());
  for (int k = 0; k < Pack::size; ++k) {
    for (int i = 0; i < model->nq(); ++i) q[i].set(k, states[k].q[i]);
    for (int i = 0; i < model->nv(); ++i) v[i].set(k, states[k].v[i]);
    for (int i = 0; i < model->nv(); ++i) tau[i].set(k, states[k].tau[i]);
  }
  host()
      .create<ForwardDynamics<Pack>>("c-aba", ::espalier::Setup{model})
      ->evaluate(q, v, tau, vdot);
  const auto one = host().create<ForwardDynamics<double>>("c-aba", ::espalier::Setup{model});
  for (int k = 0; k < Pack::size; ++k) {
    std::vector<double> expected(model->nv()), lane;
    one->evaluate(states[k].q, states[k].v, states[k].tau, expected);
    for (const Pack& x : vdot) lane.push_back(x[k]);
    EXPECT_LE(relative_difference(lane, expected), agreed);
  }
}

/// The same with a floating base, arms that hang on some of its bodies, and armature: the cluster
/// then has a moving supporting body, articulated inertias and spins.
Description with_arms(Description robot, const std::vector<std::string>& on) {
  robot.name += "_with_arms";
  robot.links.front().inertial =
      Inertial{{{0.1, 0, 0.05}, {0, 0, 0}}, 4.0, {0.2, 0, 0, 0.3, 0, 0.25}};
  add_link(robot, "world");
  std::swap(robot.links.front(), robot.links.back());
  add_joint(robot, "free", "floating", "world", "base");
  for (const std::string& link : on) {
    add_solid(robot, "upper_" + link);
    add_solid(robot, "lower_" + link);
    add_joint(robot, "shoulder_" + link, "spherical", link, "upper_" + link, {0, 0, 1},
              {{0.05, 0.1, 0.02}, {0.2, 0.1, 0.3}});
    add_joint(robot, "elbow_" + link, "revolute", "upper_" + link, "lower_" + link, {0, 1, 0},
              {{0.3, 0, 0}, {0, 0, 0}});
  }
  for (std::size_t i = 0; i < robot.joints.size(); i += 3) {
    const std::string& type = robot.joints[i].type;
    if (type == "revolute" || type == "prismatic") robot.joints[i].armature = 0.02;
  }
  return robot;
}

INSTANTIATE_TEST_SUITE_P(
    Mechanisms, BigClustersTest,
    testing::ValuesIn(std::vector<Mechanism>{
        {"ladder11", [] { return ladder(6); }},
        {"ladder31", [] { return ladder(16, 7); }},
        {"ladder61", [] { return ladder(31, 0); }},
        {"scissor_lift5", [] { return scissor_lift(5); }},
        {"scissor_lift20", [] { return scissor_lift(20); }},
        {"net2x2", [] { return net(2, 2); }},
        {"net3x3", [] { return net(3, 3); }},
        {"net5x4", [] { return net(5, 4); }},
        {"stewart_platform", [] { return stewart_platform(); }},
        {"random_loops20", [] { return random_loops(20, 2, 1); }},
        {"random_loops30", [] { return random_loops(30, 3, 2); }},
        {"random_loops40", [] { return random_loops(40, 4, 3); }},
        {"ladder23_with_arms",
         [] {
           return with_arms(ladder(12, 5), {"crank_link3", "coupler_link6"});
         }},
        {"scissor_lift12_with_arms",
         [] {
           return with_arms(scissor_lift(12), {"rising_link4", "falling_link11"});
         }},
        {"net2x3_with_arms",
         [] {
           return with_arms(net(2, 3), {"bar1_2", "cross0_0"});
         }},
        {"net5x2_with_arms",
         [] {
           return with_arms(net(5, 2), {"bar0_0", "bar3_1", "cross4_1"});
         }},
        {"stewart_platform_with_arms", [] { return with_arms(stewart_platform(), {"platform"}); }},
        {"random_loops25_with_arms",
         [] {
           return with_arms(random_loops(25, 3, 7), {"link9", "link25"});
         }}}),
    [](const auto& mechanism) { return std::string(mechanism.param.name); });

}  // namespace
}  // namespace espalier::test::big_clusters_test
