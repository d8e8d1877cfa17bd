#include <gtest/gtest.h>

#include "tests/derivatives/oracle.hpp"

namespace espalier::test::rotor_wrench_test {
namespace {

// A wrench in the axes of a folded rotor turns with it, so that it counts in dtau/dq by the ratio.
TEST(RotorWrenchTest, DerivativesAgreeWithDifferences) {
  int rotors = 0;
  for (unsigned long long seed = 1; seed <= 30; ++seed) {
    ClusterRobotOptions options;
    options.seed = seed, options.parts = 3, options.floating_base = seed % 2 == 0;
    options.kinds = {"geared", "train", "two_parents", "four_bar_with_gears", "body"};
    const ModelPtr model = host().compile(random_cluster_robot(host().registry(), options));
    const int n = model->nv();
    const State s = any_state(*model, seed);
    Rng rng(seed);
    LoadCase loads;
    Wrenches<double> wrenches(model);
    for (int i = 1; i <= model->body_count(); ++i) {
      Link frame;
      frame.body = i;
      frame.X = Transform<double>::identity();
      const Force<double> f{rng.vec3(), rng.vec3()};
      wrenches.add(frame, f);
      loads.items.push_back({i, WrenchFrame::link, f, {0, 0, 0}});
    }
    rotors += static_cast<int>(model->rotors().size());
    DifferenceOracle oracle(model, &loads);
    const auto tau = oracle.tau(s.q, s.v, s.vdot), Dq = oracle.dtau_dq(s);
    const Loads<double> all{&wrenches, nullptr, nullptr};
    std::vector<double> t(n), q(n * n), v(n * n), M(n * n), by_q(n), by_v(n), by_a(n);
    for (auto& named : every<InverseDynamicsDerivatives<double>>(model)) {
      named.algorithm->evaluate(s.q, s.v, s.vdot, t, q, v, M, &all);
      EXPECT_LT(relative_difference(t, tau), 1e-10) << named.name << " " << seed;
      EXPECT_LT(relative_difference(q, Dq), 1e-9) << named.name << " " << seed;
    }
    const std::vector<double> lambda = rng.vector(n);
    for (auto& named : every<InverseDynamicsAdjoint<double>>(model)) {
      named.algorithm->evaluate(s.q, s.v, s.vdot, lambda, by_q, by_v, by_a, &all);
      for (int k = 0; k < n; ++k) {
        double sum = 0.0, size = 1.0;
        for (int i = 0; i < n; ++i) {
          sum += lambda[i] * q[i * n + k];
          size = std::max(size, std::abs(q[i * n + k]));
        }
        EXPECT_NEAR(by_q[k], sum, 1e-11 * n * size) << named.name << " " << seed;
      }
    }
  }
  EXPECT_GT(rotors, 20);
}

}  // namespace
}  // namespace espalier::test::rotor_wrench_test
