#include <gtest/gtest.h>

#include "cli/allocations.hpp"
#include "espalier/kernel/problems/derivatives/constrained_dynamics_derivatives.hpp"
#include "espalier/kernel/problems/dynamics/christoffel_symbols.hpp"
#include "tests/derivatives/oracle.hpp"

// evaluate() takes all that it needs when it is bound. Algorithms that allocate say so.

namespace espalier::test::derivatives_allocation_test {
namespace {

struct Room {
  explicit Room(std::size_t n)
      : x(n), y(n), z(n), A(n * n), B(n * n), C(n * n), Gamma(n * n * n), lambda(n, 1.0) {}
  std::vector<double> x, y, z, A, B, C, Gamma, lambda;
};

/// Calls f(algorithm) of every exact one for P, twice: nothing is put off to the first call.
template <class P, class F>
void expect_no_allocation(const espalier::Setup& setup, F&& f) {
  int checked = 0;
  for (auto& [name, algorithm] : every<P>(setup)) {
    const Entry& entry = host().registry().find_algorithm(P::problem, name);
    if (entry.about.summary.find("allocates") != std::string::npos) continue;
    for (int call = 1; call <= 2; ++call) {
      const long before = *cli::allocation_count();
      f(*algorithm);
      EXPECT_EQ(*cli::allocation_count() - before, 0) << name << ", call " << call;
    }
    ++checked;
  }
  EXPECT_GT(checked, 0) << P::problem;
}

TEST(DerivativesAllocationTest, EvaluateTakesNoMemory) {
  if (!cli::allocation_count()) GTEST_SKIP() << "this C library gives no way to count allocations";
  for (const unsigned long long seed : {1, 2, 3, 4, 6}) {
    SCOPED_TRACE("robot of seed " + std::to_string(seed));
    const ModelPtr model = any_robot(seed);
    const State s = any_state(*model, seed);
    espalier::Setup setup{model};
    Room r(model->nv());
    const Wrenches<double> wrenches = s.wrenches<double>(model);
    const Loads<double> loads{&wrenches, nullptr, nullptr};
    expect_no_allocation<InverseDynamicsDerivatives<double>>(
        setup, [&](auto& a) { a.evaluate(s.q, s.v, s.vdot, r.x, r.A, r.B, r.C, &loads); });
    expect_no_allocation<ForwardDynamicsDerivatives<double>>(
        setup, [&](auto& a) { a.evaluate(s.q, s.v, s.tau, r.x, r.A, r.B, r.C, &loads); });
    expect_no_allocation<InverseMassMatrix<double>>(setup, [&](auto& a) { a.evaluate(s.q, r.A); });
    expect_no_allocation<InverseDynamicsAdjoint<double>>(
        setup, [&](auto& a) { a.evaluate(s.q, s.v, s.vdot, r.lambda, r.x, r.y, r.z, &loads); });
    expect_no_allocation<CoriolisMatrix<double>>(setup,
                                                 [&](auto& a) { a.evaluate(s.q, s.v, r.A); });
    expect_no_allocation<ChristoffelSymbols<double>>(setup,
                                                     [&](auto& a) { a.evaluate(s.q, r.Gamma); });
    // Of a weld and a contact on one link, three rows are redundant.
    const std::string link = model->body_names()[model->active_body_count()];
    setup.end_effectors = {EndEffector::weld(link), EndEffector::contact(link)};
    const std::vector<double> rest(9, 0.0);
    expect_no_allocation<ConstrainedDynamicsDerivatives<double>>(
        setup, [&](auto& a) { a.evaluate(s.q, s.v, s.tau, rest, &loads); });
  }
}

}  // namespace
}  // namespace espalier::test::derivatives_allocation_test
