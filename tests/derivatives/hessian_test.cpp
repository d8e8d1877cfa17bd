#include <gtest/gtest.h>

#include "espalier/kernel/problems/hessian_products.hpp"
#include "tests/derivatives/oracle.hpp"

namespace espalier::test::hessian_test {
namespace {

/// x moved by t along w.
std::vector<double> shifted(std::vector<double> x, const std::vector<double>& w, double t) {
  for (std::size_t i = 0; i < x.size(); ++i) x[i] += t * w[i];
  return x;
}
std::vector<double> joined(const std::vector<double>& a, const std::vector<double>& b,
                           const std::vector<double>& c) {
  std::vector<double> out = a;
  out.insert(out.end(), b.begin(), b.end());
  out.insert(out.end(), c.begin(), c.end());
  return out;
}

/// Trees and couplings of constant ratio, with folded rotors among them; joints whose motion
/// subspace depends on the position are refused by name.
bool differentiates_twice(const ModelPtr& model) {
  const Registry& registry = host().registry();
  const Entry& entry = registry.find_algorithm("inverse-dynamics-hessian-product", "dual-adjoint");
  if (!registry.can(entry, *model).ok) return false;
  try {
    registry.create(entry, espalier::Setup{model});
  } catch (const Unsupported& refusal) {
    EXPECT_NE(std::string(refusal.what()).find("motion subspace"), std::string::npos);
    return false;
  }
  return true;
}

struct Directions {
  Directions(int n, unsigned long long seed)
      : q(Rng(seed + 1).vector(n)),
        v(Rng(seed + 2).vector(n)),
        a(Rng(seed + 3).vector(n)),
        lambda(Rng(seed + 4).vector(n)) {}
  std::vector<double> q, v, a, lambda;
};

// Gradients are exact to 1e-13, and differences of them to 1e-10 of the largest product.
TEST(HessianProductTest, InverseDynamicsAgreesWithDifferencesOfTheGradient) {
  int checked = 0, coupled = 0;
  for (unsigned long long seed = 1; checked < 60; ++seed) {
    const ModelPtr model = any_robot(seed);
    if (!differentiates_twice(model)) continue;
    SCOPED_TRACE("robot of seed " + std::to_string(seed));
    ++checked, coupled += !model->is_tree();
    const int n = model->nv();
    const State s = any_state(*model, seed);
    const Directions w(n, seed);
    DifferenceOracle oracle(model);
    const auto adjoint = any<InverseDynamicsAdjoint<double>>(model);
    std::vector<double> x(n), y(n), z(n);
    const auto wanted =
        DifferenceOracle::best_difference([&](double t) {
          adjoint->evaluate(oracle.moved_along(s.q, shifted(std::vector<double>(n, 0.0), w.q, t)),
                            shifted(s.v, w.v, t), shifted(s.vdot, w.a, t), w.lambda, x, y, z);
          return joined(x, y, z);
        }).first;
    const auto algorithm =
        host().create<InverseDynamicsHessianProduct<double>>("dual-adjoint", model);
    algorithm->evaluate(s.q, s.v, s.vdot, w.lambda, {w.q, w.v, w.a}, x, y, z);
    EXPECT_LT(relative_difference(joined(x, y, z), wanted), 1e-9);
  }
  EXPECT_GT(coupled, 5);  // measured: 10
}

// M^-1 of light rotors behind gears amplifies what rounding differences have.
TEST(HessianProductTest, ForwardDynamicsAgreesWithDifferencesOfTheGradient) {
  int checked = 0;
  for (unsigned long long seed = 1; checked < 60; ++seed) {
    const ModelPtr model = any_robot(seed);
    if (!differentiates_twice(model)) continue;
    SCOPED_TRACE("robot of seed " + std::to_string(seed));
    ++checked;
    const int n = model->nv();
    const State s = any_state(*model, seed);
    const Directions w(n, seed);
    DifferenceOracle oracle(model);
    const auto adjoint = any<ForwardDynamicsAdjoint<double>>(model);
    std::vector<double> x(n), y(n), z(n), vdot(n);
    const auto [wanted, uncertainty] = DifferenceOracle::best_difference([&](double t) {
      adjoint->evaluate(oracle.moved_along(s.q, shifted(std::vector<double>(n, 0.0), w.q, t)),
                        shifted(s.v, w.v, t), shifted(s.tau, w.a, t), w.lambda, vdot, x, y, z);
      return joined(x, y, z);
    });
    const auto algorithm =
        host().create<ForwardDynamicsHessianProduct<double>>("dual-adjoint", model);
    algorithm->evaluate(s.q, s.v, s.tau, w.lambda, {w.q, w.v, w.a}, x, y, z);
    EXPECT_LT(relative_difference(joined(x, y, z), wanted),
              1e-9 + 5.0 * uncertainty / std::max(1.0, largest(wanted)));
  }
}

// On joints of one rate the Hessian is symmetric: a^T H b = b^T H a.
TEST(HessianProductTest, IsSymmetricOnJointsOfOneRate) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/panda.urdf",
                                     {.mimic = CompileOptions::MimicRule::ignore});
  const int n = model->nv();
  const State s = random_state(*model, 5);
  const Directions a(n, 10), b(n, 20);
  const auto algorithm =
      host().create<ForwardDynamicsHessianProduct<double>>("dual-adjoint", model);
  std::vector<double> x(n), y(n), z(n);
  const auto product = [&](const Directions& left, const Directions& right) {
    algorithm->evaluate(s.q, s.v, s.tau, a.lambda, {right.q, right.v, right.a}, x, y, z);
    double sum = 0.0;
    for (int i = 0; i < n; ++i) sum += left.q[i] * x[i] + left.v[i] * y[i] + left.a[i] * z[i];
    return sum;
  };
  const double ab = product(a, b), ba = product(b, a);
  EXPECT_NEAR(ab, ba, 1e-10 * std::abs(ab));
}

TEST(HessianProductTest, LoopsAreRefusedByName) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml");
  EXPECT_FALSE(differentiates_twice(model));
  EXPECT_THROW(host().create<InverseDynamicsHessianProduct<double>>("dual-adjoint", model),
               Unsupported);
}

}  // namespace
}  // namespace espalier::test::hessian_test
