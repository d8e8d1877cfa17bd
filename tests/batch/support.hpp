#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "tests/support/end_effectors.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

/// Structures of arrays, and states of many robots in them.

namespace espalier::test {

using Values = std::vector<double>;

/// N states: number i of state k at [i * N + k].
struct States {
  int N = 0;
  Values q, v, tau, vdot, wrenches;

  BatchInputs inputs() const { return {.q = q, .v = v, .tau = tau, .vdot = vdot}; }
  BatchInputs with_wrenches() const {
    BatchInputs all = inputs();
    all.wrenches = wrenches;
    return all;
  }
};

inline void put(Values& array, int N, int k, const Values& numbers) {
  array.resize(numbers.size() * N);
  for (std::size_t i = 0; i < numbers.size(); ++i) array[i * N + k] = numbers[i];
}
inline Values column(const Values& array, int N, int k) {
  Values out(array.size() / N);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = array[i * N + k];
  return out;
}

/// Numbers of one state after the other, of structures of arrays.
inline Values state_by_state(const Values& array, int N) {
  Values out;
  for (int k = 0; k < N; ++k) {
    const Values one = column(array, N, k);
    out.insert(out.end(), one.begin(), one.end());
  }
  return out;
}

inline States gathered(const Model& model, const std::vector<State>& states) {
  States all;
  all.N = static_cast<int>(states.size());
  for (int k = 0; k < all.N; ++k) {
    put(all.q, all.N, k, states[k].q);
    put(all.v, all.N, k, states[k].v);
    put(all.tau, all.N, k, states[k].tau);
    put(all.vdot, all.N, k, states[k].vdot);
    Values wrenches(6 * model.links().size(), 0.0);
    for (const auto& [name, wrench] : states[k].wrenches_on) {
      const auto link = static_cast<std::size_t>(&model.link(name) - model.links().data());
      for (int i = 0; i < 6; ++i) wrenches[6 * link + i] += wrench[i];
    }
    put(all.wrenches, all.N, k, wrenches);
  }
  return all;
}

/// The first n of them.
inline States first(const States& all, int n) {
  States out;
  out.N = n;
  for (Values States::*x :
       {&States::q, &States::v, &States::tau, &States::vdot, &States::wrenches}) {
    for (int k = 0; k < n; ++k) put(out.*x, n, k, column(all.*x, all.N, k));
  }
  return out;
}

/// All results of a batch, by name, in the order of Batch::results().
inline std::vector<Values> answers(Batch& batch, int N, const BatchInputs& in,
                                   std::vector<BatchStatus>* status = nullptr) {
  std::vector<Values> values;
  for (const Result& r : batch.results()) {
    values.emplace_back(static_cast<std::size_t>(r.row_count) * r.column_count * N, -1.0);
  }
  std::vector<BatchOutput> out;
  for (std::size_t k = 0; k < values.size(); ++k) {
    out.push_back({batch.results()[k].name, values[k]});
  }
  if (status != nullptr) status->resize(N);
  batch.evaluate(N, in, std::span<const BatchOutput>(out),
                 status == nullptr ? std::span<BatchStatus>() : std::span<BatchStatus>(*status));
  return values;
}

/// Bit by bit, also where they are not numbers.
inline bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

inline ModelPtr tree(int seed, int bodies = 12) {
  RobotOptions options;
  options.bodies = bodies;
  options.seed = seed;
  return host().compile(random_robot(host().registry(), options));
}
inline ModelPtr cluster_robot(int seed) {
  ClusterRobotOptions options;
  options.seed = seed;
  return host().compile(random_cluster_robot(host().registry(), options));
}
/// Few positions, since closing loops takes long, with rates and forces of their own.
inline std::vector<State> states_of(const Model& model, int N, int positions = 8) {
  std::vector<State> out;
  for (int k = 0; k < N; ++k) {
    State s = random_state(model, 1000 + k);
    s.q = k < positions ? (model.is_tree() ? s.q : random_cluster_state(model, k).q)
                        : out[k % positions].q;
    out.push_back(std::move(s));
  }
  return out;
}

constexpr Precision precisions[] = {Precision::doubles, Precision::floats};

/// Whether an algorithm has the scalar of batches of a precision.
inline bool has(const Entry& e, Precision precision) {
  const int scalar =
      precision == Precision::floats ? ScalarTraits<FloatPack>::index : ScalarTraits<Pack>::index;
  return static_cast<bool>(e.algorithm[scalar]);
}
/// Every algorithm with packs that can run on the model, whatever its problem.
inline std::vector<const Entry*> packed_algorithms(const Model& model,
                                                   Precision precision = Precision::doubles) {
  std::vector<const Entry*> all;
  for (const Entry* e : named_algorithms()) {
    if (has(*e, precision) && host().registry().can(*e, model).ok) all.push_back(e);
  }
  return all;
}

}  // namespace espalier::test
