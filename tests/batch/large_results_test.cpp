#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "espalier/kernel/problems/derivatives/derivatives.hpp"
#include "tests/batch/support.hpp"

// Results of thousands of numbers a state, of which a thread takes two packs at a time.

namespace espalier::test::large_results_test {
namespace {

constexpr int before = 8, behind = 8;  // numbers that nobody may write

/// Results of N states in arrays that begin `offset` numbers behind a cache line.
struct Arrays {
  Arrays(const Batch& batch, int N, int offset) {
    for (const Result& r : batch.results()) {
      const std::size_t size = static_cast<std::size_t>(r.row_count) * r.column_count * N;
      Values& memory = memories.emplace_back(size + before + 16 + behind, -1.0);
      const auto address = reinterpret_cast<std::uintptr_t>(memory.data() + before) / 8;
      starts.push_back(before + (8 - address % 8) % 8 + offset);
      sizes.push_back(size);
      out.push_back({r.name, Out<double>(memory.data() + starts.back(), size)});
    }
  }
  std::vector<Values> values() const {
    std::vector<Values> all;
    for (std::size_t k = 0; k < memories.size(); ++k) {
      const double* first = memories[k].data() + starts[k];
      all.emplace_back(first, first + sizes[k]);
    }
    return all;
  }
  /// Whether all around them is as it was.
  bool is_whole() const {
    for (std::size_t k = 0; k < memories.size(); ++k) {
      for (std::size_t i = 0; i < memories[k].size(); ++i) {
        const bool outside = i < starts[k] || i >= starts[k] + sizes[k];
        if (outside && memories[k][i] != -1.0) return false;
      }
    }
    return true;
  }

  std::vector<Values> memories;
  std::vector<std::size_t> starts, sizes;
  std::vector<BatchOutput> out;
};

std::unique_ptr<Batch> derivatives(const ModelPtr& model, const BatchOptions& options) {
  return host().batch(InverseDynamicsDerivatives<double>::problem, "c-rnea-derivatives",
                      espalier::Setup{model}, options);
}

// Pieces begin with a line of the results from 64 states on, and whole lines are streamed from 512
// on; single states know nothing of that.
TEST(LargeResultsTest, SameBitsWhereverArraysBegin) {
  const ModelPtr model = tree(3, 24);
  const int nv = model->nv();
  ASSERT_GT(3 * nv * nv, 1400) << "a thread takes two packs at a time";
  for (const int N : {16, 56, 64, 72, 88, 520}) {
    const States all = gathered(*model, states_of(*model, N));
    const auto batch = derivatives(model, {.threads = 1});
    const Values q = state_by_state(all.q, N), v = state_by_state(all.v, N),
                 vdot = state_by_state(all.vdot, N);
    std::vector<Values> wanted;
    for (const Values& x :
         answers(*batch, N, {.q = q, .v = v, .vdot = vdot, .layout = BatchLayout::states})) {
      Values& rows = wanted.emplace_back(x.size());
      const std::size_t n = x.size() / N;
      for (int k = 0; k < N; ++k) {
        for (std::size_t i = 0; i < n; ++i) rows[i * N + k] = x[k * n + i];
      }
    }
    for (const int threads : {1, 2}) {
      const auto other = derivatives(model, {.threads = threads});
      for (int offset = 0; offset < 8; ++offset) {
        SCOPED_TRACE(std::to_string(N) + " states, offset " + std::to_string(offset) +
                     ", threads " + std::to_string(threads));
        Arrays arrays(*other, N, offset);
        std::vector<BatchStatus> status(N, BatchStatus::loop_open);
        other->evaluate(N, all.inputs(), std::span<const BatchOutput>(arrays.out), status);
        const std::vector<Values> got = arrays.values();
        for (std::size_t k = 0; k < got.size(); ++k) {
          EXPECT_TRUE(same_bits(got[k], wanted[k])) << batch->results()[k].name;
        }
        EXPECT_TRUE(arrays.is_whole());
        EXPECT_EQ(std::count(status.begin(), status.end(), BatchStatus::ok), N);
      }
    }
  }
}

// Also states of the piece before the first line, of which some are computed twice.
TEST(LargeResultsTest, EachStateIsJudgedByItsOwnNumbers) {
  constexpr int N = 72;
  const ModelPtr model = tree(3, 24);
  const States good = gathered(*model, states_of(*model, N));
  for (const Precision precision : {Precision::doubles, Precision::floats}) {
    const auto batch = host().batch(MassMatrix<double>::problem, "crba", espalier::Setup{model},
                                    {.threads = 1, .precision = precision});
    for (int offset = 0; offset < 8; offset += 2) {
      for (const int bad : {0, 5, 7, 8, 13, 14, 30, 63, 64, N - 1}) {
        SCOPED_TRACE("offset " + std::to_string(offset) + ", state " + std::to_string(bad));
        States broken = good;
        broken.q[bad] = std::numeric_limits<double>::quiet_NaN();
        Arrays arrays(*batch, N, offset);
        std::vector<BatchStatus> status(N);
        batch->evaluate(N, broken.inputs(), std::span<const BatchOutput>(arrays.out), status);
        for (int k = 0; k < N; ++k) {
          EXPECT_EQ(status[k], k == bad ? BatchStatus::singular : BatchStatus::ok) << k;
        }
      }
    }
  }
}

// A result that is not asked for counts all the same.
TEST(LargeResultsTest, ResultsThatNobodyTakesAreLookedAt) {
  constexpr int N = 16, bad = 9;
  const ModelPtr model = tree(3, 24);
  States all = gathered(*model, states_of(*model, N));
  all.v[bad] = 1e200;  // its square is infinite, M does not see it
  const auto batch = derivatives(model, {.threads = 1});
  Values M(static_cast<std::size_t>(model->nv()) * model->nv() * N);
  std::vector<BatchStatus> status(N);
  batch->evaluate(N, all.inputs(), {{"mass_matrix", M}}, status);
  for (const double x : M) ASSERT_TRUE(std::isfinite(x));
  for (int k = 0; k < N; ++k) {
    EXPECT_EQ(status[k], k == bad ? BatchStatus::singular : BatchStatus::ok) << k;
  }
}

}  // namespace
}  // namespace espalier::test::large_results_test
