#include <gtest/gtest.h>

#include "cli/allocations.hpp"
#include "espalier/kernel/problems/derivatives/hessian_products.hpp"
#include "tests/derivatives/oracle.hpp"

namespace espalier::test::hessian_test {
namespace {

constexpr int robots = 200;

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

struct Directions {
  Directions(int n, unsigned long long seed)
      : q(Rng(seed + 1).vector(n)),
        v(Rng(seed + 2).vector(n)),
        a(Rng(seed + 3).vector(n)),
        lambda(Rng(seed + 4).vector(n)) {}
  std::vector<double> q, v, a, lambda;
};

/// A state on its way along a direction, with loads as they are there.
struct Moved {
  Moved(const ModelPtr& model, const State& from, const Directions& w, DifferenceOracle& oracle,
        const LoadCase& load_case, double t)
      : s(from) {
    s.q = oracle.moved_along(from.q, shifted(std::vector<double>(w.q.size(), 0.0), w.q, t));
    s.v = shifted(from.v, w.v, t);
    s.vdot = shifted(from.vdot, w.a, t), s.tau = shifted(from.tau, w.a, t);
    loads = std::make_unique<BoundLoads>(model, load_case, s);
  }
  State s;
  std::unique_ptr<BoundLoads> loads;
};

// Gradients are exact to 1e-13, and differences of them to 1e-10 of the largest product; near dead
// points as good as the differences are among themselves.
TEST(HessianProductTest, InverseDynamicsAgreesWithDifferencesOfTheGradient) {
  int loops = 0;
  std::vector<double> errors;
  for (unsigned long long seed = 1; seed <= robots; ++seed) {
    const ModelPtr model = any_robot(seed);
    SCOPED_TRACE("robot of seed " + std::to_string(seed));
    loops += model->has_variable_constraints();
    const int n = model->nv();
    const State s = any_state(*model, seed);
    const Directions w(n, seed);
    const LoadCase load_case = any_loads(*model, seed);
    DifferenceOracle oracle(model);
    const auto adjoint = any<InverseDynamicsAdjoint<double>>(model);
    std::vector<double> x(n), y(n), z(n);
    const auto [wanted, uncertainty] = best_difference([&](double t) {
      const Moved at(model, s, w, oracle, load_case, t);
      adjoint->evaluate(at.s.q, at.s.v, at.s.vdot, w.lambda, x, y, z, &at.loads->loads);
      return joined(x, y, z);
    });
    const BoundLoads bound(model, load_case, s);
    const auto algorithm =
        host().create<InverseDynamicsHessianProduct<double>>("dual-adjoint", model);
    algorithm->evaluate(s.q, s.v, s.vdot, w.lambda, {w.q, w.v, w.a}, x, y, z, &bound.loads);
    errors.push_back(relative_difference(joined(x, y, z), wanted));
    EXPECT_LT(errors.back(), 1e-9 + 5.0 * uncertainty / std::max(1.0, largest(wanted)));
  }
  EXPECT_GT(loops, 70);  // two thirds of the robots have couplings, laws or loop joints
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], 1e-11);  // what the differences leave
}

// M^-1 of light rotors behind gears amplifies what rounding differences have.
TEST(HessianProductTest, ForwardDynamicsAgreesWithDifferencesOfTheGradient) {
  for (unsigned long long seed = 1; seed <= robots; ++seed) {
    const ModelPtr model = any_robot(seed);
    SCOPED_TRACE("robot of seed " + std::to_string(seed));
    const int n = model->nv();
    State s = any_state(*model, seed);
    const Directions w(n, seed);
    const LoadCase load_case = any_loads(*model, seed);
    DifferenceOracle oracle(model);
    s.q = oracle.moved(s.q, 0, 0.0);  // closed as the points beside it: to rounding
    const auto adjoint = any<ForwardDynamicsAdjoint<double>>(model);
    std::vector<double> x(n), y(n), z(n), vdot(n);
    const auto [wanted, uncertainty] = best_difference([&](double t) {
      const Moved at(model, s, w, oracle, load_case, t);
      adjoint->evaluate(at.s.q, at.s.v, at.s.tau, w.lambda, vdot, x, y, z, &at.loads->loads);
      return joined(x, y, z);
    });
    const BoundLoads bound(model, load_case, s);
    const auto algorithm =
        host().create<ForwardDynamicsHessianProduct<double>>("dual-adjoint", model);
    algorithm->evaluate(s.q, s.v, s.tau, w.lambda, {w.q, w.v, w.a}, x, y, z, &bound.loads);
    EXPECT_LT(relative_difference(joined(x, y, z), wanted),
              1e-9 + 5.0 * uncertainty / std::max(1.0, largest(wanted)));
  }
}

// On joints of one rate the Hessian is symmetric, through loops, too: a^T H b = b^T H a.
TEST(HessianProductTest, IsSymmetricOnJointsOfOneRate) {
  for (const char* file : {"panda.urdf", "four_bar_leg.yaml"}) {
    SCOPED_TRACE(file);
    const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/" + std::string(file),
                                       {.mimic = CompileOptions::MimicRule::ignore});
    const int n = model->nv();
    State s = model->is_tree() ? random_state(*model, 5) : random_cluster_state(*model, 5);
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
}

TEST(HessianProductTest, EvaluateTakesNoMemory) {
  if (!cli::allocation_count()) GTEST_SKIP() << "this C library gives no way to count allocations";
  for (const unsigned long long seed : {1, 2, 3, 4}) {
    const ModelPtr model = any_robot(seed);
    const int n = model->nv();
    const State s = any_state(*model, seed);
    const Directions w(n, seed);
    const LoadCase load_case = any_loads(*model, seed);
    const BoundLoads bound(model, load_case, s);
    std::vector<double> x(n), y(n), z(n);
    const auto inverse =
        host().create<InverseDynamicsHessianProduct<double>>("dual-adjoint", model);
    const auto forward =
        host().create<ForwardDynamicsHessianProduct<double>>("dual-adjoint", model);
    for (int call = 1; call <= 2; ++call) {
      const long before = *cli::allocation_count();
      inverse->evaluate(s.q, s.v, s.vdot, w.lambda, {w.q, w.v, w.a}, x, y, z);
      forward->evaluate(s.q, s.v, s.tau, w.lambda, {w.q, w.v, w.a}, x, y, z);
      EXPECT_EQ(*cli::allocation_count() - before, 0) << "robot " << seed << ", call " << call;
    }
  }
}

TEST(HessianProductTest, JointsWithEquationsOfTheirOwnAreRefusedByName) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/elastic_arm.yaml");
  try {
    host().create<InverseDynamicsHessianProduct<double>>("dual-adjoint", model);
    FAIL() << "no refusal";
  } catch (const Unsupported& refusal) {
    const Joint& elastic = model->joints()[model->body(model->bodies_with_equations()[0]).joint];
    EXPECT_NE(std::string(refusal.what()).find(elastic.name), std::string::npos) << refusal.what();
  }
}

TEST(HessianProductTest, NumbersThatAreNoneComeOutAsThat) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml");
  const int n = model->nv();
  State s = random_cluster_state(*model, 1);
  s.v[0] = NAN;
  const Directions w(n, 1);
  std::vector<double> x(n), y(n), z(n);
  const auto algorithm =
      host().create<InverseDynamicsHessianProduct<double>>("dual-adjoint", model);
  algorithm->evaluate(s.q, s.v, s.vdot, w.lambda, {w.q, w.v, w.a}, x, y, z);
  EXPECT_TRUE(std::any_of(x.begin(), x.end(), [](double a) { return std::isnan(a); }));
  EXPECT_THROW(algorithm->evaluate(s.q, s.v, s.vdot, w.lambda, {w.q, w.v, z}, x, y,
                                   Out<double>(z.data(), n - 1)),
               SizeMismatch);
}

// The position that is differentiated at, not one that differences were taken at.
TEST(HessianProductTest, MarginOfDifferencesIsThatOfThePosition) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/four_bar_leg.yaml");
  const State s = any_state(*model, 3);
  const Directions w(model->nv(), 3);
  std::vector<double> x(model->nv()), y(model->nv()), z(model->nv());
  double margin[2];
  for (int k = 0; k < 2; ++k) {
    const auto algorithm = host().create<InverseDynamicsHessianProduct<double>>(
        k == 0 ? "dual-adjoint" : "differences", model);
    algorithm->evaluate(s.q, s.v, s.vdot, w.lambda, {w.q, w.v, w.a}, x, y, z);
    margin[k] = algorithm->margin();
  }
  EXPECT_LT(margin[0], 1.0);
  EXPECT_EQ(margin[0], margin[1]);
}

}  // namespace
}  // namespace espalier::test::hessian_test
