#include <gtest/gtest.h>

#include "espalier/kernel/problems/derivatives/kinematics_derivatives.hpp"
#include "espalier/kernel/problems/dynamics/christoffel_symbols.hpp"
#include "espalier/kernel/problems/kinematics/centroidal_dynamics.hpp"
#include "tests/derivatives/oracle.hpp"

// The references by differences that `compare --against differences` takes, of problems that are
// about motion and momentum: they are written in other frames than the algorithms.

namespace espalier::test::kinematic_references_test {
namespace {

// The tolerance of `compare --against differences`.
constexpr double agreed = 1e-6;

template <class F>
void for_robots(F&& f) {
  for (unsigned long long seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("robot of seed " + std::to_string(seed));
    const ModelPtr model = any_robot(seed);
    f(model, any_state(*model, seed));
  }
}

TEST(KinematicReferencesTest, CoriolisMatricesAndChristoffelSymbols) {
  for_robots([](const ModelPtr& model, const State& s) {
    const std::size_t n = model->nv();
    std::vector<double> C(n * n), expected(n * n), Gamma(n * n * n), symbols(n * n * n);
    host().create<CoriolisMatrix<double>>("differences", model)->evaluate(s.q, s.v, expected);
    host().create<CoriolisMatrix<double>>("composite-coriolis", model)->evaluate(s.q, s.v, C);
    EXPECT_LE(relative_difference(C, expected), agreed);
    host().create<ChristoffelSymbols<double>>("differences", model)->evaluate(s.q, symbols);
    host().create<ChristoffelSymbols<double>>("composite-christoffel", model)->evaluate(s.q, Gamma);
    EXPECT_LE(relative_difference(Gamma, symbols), agreed);
  });
}

TEST(KinematicReferencesTest, CentroidalDynamics) {
  for_robots([](const ModelPtr& model, const State& s) {
    const auto reference = host().create<CentroidalDynamics<double>>("differences", model);
    const auto algorithm = host().create<CentroidalDynamics<double>>("composite-centroidal", model);
    const auto expected = reference->evaluate(s.q, s.v, s.vdot);
    const auto answer = algorithm->evaluate(s.q, s.v, s.vdot);
    EXPECT_LE(relative_difference(answer.momentum, expected.momentum), agreed);
    EXPECT_LE(relative_difference(answer.rate, expected.rate), agreed);
    EXPECT_LE(relative_difference(answer.com, expected.com), agreed);
    EXPECT_LE(relative_difference(answer.matrix, expected.matrix), agreed);
    EXPECT_LE(relative_difference(answer.momentum_by_q, expected.momentum_by_q), agreed);
    EXPECT_LE(relative_difference(answer.rate_by_q, expected.rate_by_q), agreed);
    EXPECT_LE(relative_difference(answer.rate_by_v, expected.rate_by_v), agreed);
    EXPECT_LE(relative_difference(answer.com_by_q, expected.com_by_q), agreed);
  });
}

TEST(KinematicReferencesTest, KinematicsOfEveryLink) {
  for_robots([](const ModelPtr& model, const State& s) {
    const auto reference = host().create<KinematicsDerivatives<double>>("differences", model);
    const auto algorithm =
        host().create<KinematicsDerivatives<double>>("variation-kinematics", model);
    reference->evaluate(s.q, s.v, s.vdot);
    algorithm->evaluate(s.q, s.v, s.vdot);
    const std::size_t n = 6UL * model->nv();
    const auto all_of = [&](KinematicsDerivatives<double>& from, const Link& link) {
      std::vector<double> all(5 * n);
      double* m = all.data();
      from.write(link, {m, m + n, m + 2 * n, m + 3 * n, m + 4 * n});
      return all;
    };
    for (const Link& link : model->links()) {
      if (link.body > model->active_body_count()) continue;  // a folded rotor: refused
      EXPECT_LE(relative_difference(all_of(*algorithm, link), all_of(*reference, link)), agreed)
          << link.name;
    }
  });
}

}  // namespace
}  // namespace espalier::test::kinematic_references_test
