#include <gtest/gtest.h>

#include <limits>

#include "tests/batch/support.hpp"
#include "tests/derivatives/oracle.hpp"

namespace espalier::test::derivative_batches_test {
namespace {

// Packs have a sine of their own and sum in another order: that is rounding, which inverses of M
// and derivatives near dead points amplify; the oracle's tolerance is taken.
TEST(DerivativeBatchesTest, StatesOfABatchHaveTheResultsOfSingleCalls) {
  constexpr int N = 11;  // a whole pack and a part of one
  int trees = 0;
  for (unsigned long long seed = 1; seed <= 40; ++seed) {
    const ModelPtr model = any_robot(seed);
    trees += model->is_tree();
    std::vector<State> states;
    for (int k = 0; k < N; ++k) states.push_back(any_state(*model, 100 * seed + k));
    const States all = gathered(*model, states);
    for (const char* name : {"c-rnea-derivatives", "c-aba-derivatives", "ltl-inverse-mass-matrix",
                             "rnea-derivatives", "aba-derivatives"}) {
      SCOPED_TRACE(std::string(name) + " on the robot of seed " + std::to_string(seed));
      const bool only_trees = std::string_view(name).find("c-") != 0 && name[0] != 'l';
      if (only_trees && !model->is_tree()) continue;
      const std::string_view problem = name[0] == 'l' ? InverseMassMatrix<double>::problem
                                       : std::string_view(name).find("rnea") != std::string::npos
                                           ? InverseDynamicsDerivatives<double>::problem
                                           : ForwardDynamicsDerivatives<double>::problem;
      const auto batch = host().batch(problem, name, espalier::Setup{model}, {.threads = 1});
      const auto single = host().registry().create(host().registry().find_algorithm(problem, name),
                                                   espalier::Setup{model});
      std::vector<BatchStatus> status(N);
      const std::vector<Values> got = answers(*batch, N, all.with_wrenches(), &status);
      for (int k = 0; k < N; ++k) {
        if (status[k] != BatchStatus::ok) continue;
        const Wrenches<double> wrenches = states[k].wrenches<double>(model);
        Results wanted;
        single->solve({.q = states[k].q,
                       .v = states[k].v,
                       .tau = states[k].tau,
                       .vdot = states[k].vdot,
                       .wrenches = &wrenches},
                      wanted);
        ASSERT_EQ(wanted.size(), got.size());
        for (std::size_t r = 0; r < got.size(); ++r) {
          EXPECT_LT(relative_difference(column(got[r], N, k), wanted[r].values), 1e-8)
              << wanted[r].name << " of state " << k;
        }
      }
    }
  }
  EXPECT_GT(trees, 10);
}

// Lanes know nothing of one another.
TEST(DerivativeBatchesTest, NotANumberStaysInItsState) {
  constexpr int N = 8, bad = 3;
  for (const ModelPtr& model : {tree(4, 9), tree(5, 1), cluster_robot(2)}) {
    std::vector<State> states = states_of(*model, N);
    const States good = gathered(*model, states);
    states[bad].q[0] = std::numeric_limits<double>::quiet_NaN();
    const States broken = gathered(*model, states);
    for (const std::string_view problem :
         {InverseDynamicsDerivatives<double>::problem, ForwardDynamicsDerivatives<double>::problem,
          InverseMassMatrix<double>::problem}) {
      const char* name = problem == InverseMassMatrix<double>::problem ? "ltl-inverse-mass-matrix"
                         : problem == InverseDynamicsDerivatives<double>::problem
                             ? "c-rnea-derivatives"
                             : "c-aba-derivatives";
      SCOPED_TRACE(name);
      const auto batch = host().batch(problem, name, espalier::Setup{model}, {.threads = 1});
      std::vector<BatchStatus> status;
      const std::vector<Values> wanted = answers(*batch, N, good.inputs());
      const std::vector<Values> got = answers(*batch, N, broken.inputs(), &status);
      for (int k = 0; k < N; ++k) {
        EXPECT_EQ(status[k] == BatchStatus::ok, k != bad) << "state " << k;
        for (std::size_t r = 0; r < got.size() && k != bad; ++r) {
          EXPECT_TRUE(same_bits(column(got[r], N, k), column(wanted[r], N, k))) << "state " << k;
        }
      }
    }
  }
}

}  // namespace
}  // namespace espalier::test::derivative_batches_test
