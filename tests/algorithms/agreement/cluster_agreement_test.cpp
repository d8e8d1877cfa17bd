#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"

// Every registered method against every other on random robots with transmissions and loops.

namespace espalier::test::cluster_agreement_test {
namespace {

// Agreed in the project's specification. Positions are a hundredth away from dead points, ratios
// reach 100: rounding is amplified by some 1e5 at most.
constexpr double agreed = 1e-9;

constexpr int robots = 200;

Description robot(unsigned long long seed) {
  ClusterRobotOptions options;
  options.seed = seed;
  options.parts = 1 + static_cast<int>(seed % 7);
  options.floating_base = seed % 3 == 0;
  return random_cluster_robot(host().registry(), options);
}

/// Calls f(model, state, wrenches) for all robots; a robot that cannot be compiled fails.
void for_each_robot(
    const std::function<void(const ModelPtr&, const State&, const Wrenches<double>&)>& f,
    int step = 1) {
  for (int k = 0; k < robots; k += step) {
    SCOPED_TRACE("robot of seed " + std::to_string(k));
    ModelPtr model;
    try {
      model = host().compile(robot(k));
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
      continue;
    }
    const State s = random_cluster_state(*model, 1000 + k);
    f(model, s, s.wrenches(model));
  }
}

std::vector<double> forward(ForwardDynamics<double>& a, const State& s, const Wrenches<double>& w) {
  std::vector<double> vdot(s.v.size());
  a.evaluate(s.q, s.v, s.tau, vdot, &w);
  return vdot;
}
std::vector<double> inverse(InverseDynamics<double>& a, const State& s, const Wrenches<double>& w) {
  std::vector<double> tau(s.v.size());
  a.evaluate(s.q, s.v, s.vdot, tau, &w);
  return tau;
}

TEST(ClusterAgreementTest, RobotsHoldEveryKindOfPartAndCluster) {
  std::set<std::string> parts;
  int several_supports = 0, implicit = 0, several_rates = 0, rotors = 0, floating_inside = 0;
  for_each_robot([&](const ModelPtr& model, const State&, const Wrenches<double>&) {
    rotors += static_cast<int>(model->rotors().size());
    for (const Cluster& c : model->clusters()) {
      several_supports += c.supports.size() > 1;
      implicit += c.implicit;
      for (int i = c.first; c.constrained && i < c.first + c.count; ++i) {
        several_rates += model->body(i).nv > 1;
        floating_inside += model->body(i).nv == 6;
      }
    }
  });
  EXPECT_GT(several_supports, 20);
  EXPECT_GT(implicit, 100);
  EXPECT_GT(several_rates, 50);
  EXPECT_GT(floating_inside, 10);
  EXPECT_GT(rotors, 100);
}

TEST(ClusterAgreementTest, AllForwardAlgorithmsAgree) {
  for_each_robot([](const ModelPtr& model, const State& s, const Wrenches<double>& w) {
    const auto all = every<ForwardDynamics<double>>(model);
    ASSERT_GE(all.size(), 4u);
    const auto reference = forward(*host().create<ForwardDynamics<double>>("kkt", model), s, w);
    for (const auto& [name, algorithm] : all) {
      EXPECT_LE(relative_difference(forward(*algorithm, s, w), reference), agreed) << name;
    }
  });
}

TEST(ClusterAgreementTest, AllInverseAlgorithmsAgree) {
  for_each_robot([](const ModelPtr& model, const State& s, const Wrenches<double>& w) {
    const auto all = every<InverseDynamics<double>>(model);
    ASSERT_GE(all.size(), 3u);
    const auto reference = inverse(*all[0].algorithm, s, w);
    for (const auto& [name, algorithm] : all) {
      EXPECT_LE(relative_difference(inverse(*algorithm, s, w), reference), agreed) << name;
    }
  });
}

TEST(ClusterAgreementTest, AllMassMatricesAndBiasesAgree) {
  for_each_robot([](const ModelPtr& model, const State& s, const Wrenches<double>& w) {
    std::vector<double> first, M(s.v.size() * s.v.size());
    for (const auto& [name, algorithm] : every<MassMatrix<double>>(model)) {
      algorithm->evaluate(s.q, M);
      if (first.empty()) first = M;
      EXPECT_LE(relative_difference(M, first), agreed) << name;
    }
    std::vector<double> first_bias, bias(s.v.size());
    for (const auto& [name, algorithm] : every<BiasForce<double>>(model)) {
      algorithm->evaluate(s.q, s.v, bias, &w);
      if (first_bias.empty()) first_bias = bias;
      EXPECT_LE(relative_difference(bias, first_bias), agreed) << name;
    }
  });
}

TEST(ClusterAgreementTest, ForwardInvertsInverseForAllPairs) {
  for_each_robot(
      [](const ModelPtr& model, const State& s, const Wrenches<double>& w) {
        const auto all_back = every<ForwardDynamics<double>>(model);
        for (const auto& [name, algorithm] : every<InverseDynamics<double>>(model)) {
          State driven = s;
          driven.tau = inverse(*algorithm, s, w);
          for (const auto& [other, back] : all_back) {
            // Forces of rotors on ratios of 100 are sums of which little is left.
            const double size = std::max(1.0, 1e-3 * largest(driven.tau));
            EXPECT_LE(relative_difference(forward(*back, driven, w), s.vdot), agreed * size)
                << name << " then " << other;
          }
        }
      },
      4);
}

}  // namespace
}  // namespace espalier::test::cluster_agreement_test
