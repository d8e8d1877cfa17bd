#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/input_matrix/chains/chain_way.hpp"
#include "algorithms/input_matrix/columns/column_state.hpp"

/// Before a loop of so few turns that unrolling costs more than it saves.
#if defined(__clang__)
#define ESPALIER_NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define ESPALIER_NO_UNROLL _Pragma("GCC unroll 1")
#endif

namespace espalier {

/// Rates of serial chains that carry nothing, from what the sweep inward has left in their
/// ChainWay: no motion goes outward.
/// Source: theory/input-matrix 3.5.
template <class T>
class ChainRates {
 public:
  using V = typename RowLanes<T>::V;
  using Column = typename ChainColumns<T>::Column;
  static constexpr int lanes = RowLanes<T>::size;

  /// Chain number `chain` follows the motion of its parent.
  void add(int parent, int chain) {
    const auto at = std::find_if(followers_.begin(), followers_.end(),
                                 [&](const Followers& f) { return f.parent == parent; });
    if (at != followers_.end()) return at->chains.push_back(chain);
    followers_.push_back({parent, {chain}});
  }

  /// ydd = W^T a in all blocks (3.3), of the chains that were added.
  void follow(const std::vector<ChainWay<T>>& ways, ColumnState<T>& state) const {
    // The six numbers of a rate are read once for eight blocks, whose sums fit in registers.
    constexpr int widest = 8;
    for (const Followers& f : followers_) {
      int begin = 0;
      for (; state.blocks - begin > widest; begin += widest) follow<widest>(f, begin, ways, state);
      follow_up_to<widest>(f, begin, state.blocks - begin, ways, state);
    }
  }

  /// Where each rate of a chain has a motor: with the parent at rest,
  /// ydd_i = sum over k up to i of Z_k(i) D_k^-1 Z_k in the blocks that act on the chain (3.4).
  /// @tparam added  to what stands there
  template <bool added>
  static void from_factors(const Column& chain, const ChainWay<T>& way, ColumnState<T>& state) {
    constexpr int widest = 3;
    int begin = way.begin[0];
    for (; way.end - begin >= widest; begin += widest) {
      from_factors<added, widest>(chain, way, begin, state);
    }
    for (; begin < way.end; ++begin) from_factors<added, 1>(chain, way, begin, state);
  }

 private:
  /// Chains on one body.
  struct Followers {
    int parent;
    std::vector<int> chains;
  };

  /// Of `count` blocks, at most `width`.
  template <int width>
  static void follow_up_to(const Followers& f, int begin, int count,
                           const std::vector<ChainWay<T>>& ways, ColumnState<T>& state) {
    if constexpr (width > 0) {
      if (count == width) return follow<width>(f, begin, ways, state);
      follow_up_to<width - 1>(f, begin, count, ways, state);
    }
  }
  template <int width>
  static void follow(const Followers& f, int begin, const std::vector<ChainWay<T>>& ways,
                     ColumnState<T>& state) {
    const Motion<V>* const a = state.motion(f.parent) + begin;
    V* const rates = state.rates.data() + begin;
    for (const int chain : f.chains) {
      const ChainWay<T>& way = ways[chain];
      const T* const numbers = &row_of<T>(&way.g[0].n.x, 0);
      const int *const rate = way.rate.data(), *const start = way.unit_force.data();
      const std::size_t count = way.rate.size();
      for (std::size_t i = 0; i < count; ++i) {
        const T* const g = numbers + start[i];
        const V g0(g[0]), g1(g[lanes]), g2(g[2 * lanes]), g3(g[3 * lanes]), g4(g[4 * lanes]),
            g5(g[5 * lanes]);
        V sum[width];
        for (int j = 0; j < width; ++j) {
          const Motion<V>& m = a[j];
          sum[j] = m.w.x * g0 + m.w.y * g1 + m.w.z * g2 + m.v.x * g3 + m.v.y * g4 + m.v.z * g5;
        }
        V* const out = rates + rate[i];
        for (int j = 0; j < width; ++j) out[j] = sum[j];
      }
    }
  }

  template <bool added, int width>
  static void from_factors(const Column& chain, const ChainWay<T>& way, int begin,
                           ColumnState<T>& state) {
    const std::size_t B = state.blocks;
    const int count = static_cast<int>(way.rate.size());
    int last = 0;  // bodies that the blocks act on
    for (int j = 0; j < width; ++j) last = std::max(last, way.acted_on[begin + j - way.begin[0]]);
    V divided[ChainWay<T>::longest_by_factors][width];
    const V* z = way.z.data() + begin;
    for (int k = 0; k < last; ++k, z += B) {
      for (int j = 0; j < width; ++j) divided[k][j] = chain.bodies[k].D * z[j];
    }
    const T* const units = &row_of<T>(way.z.data(), 0);
    const int *const rate = way.rate.data(), *const unit_row = way.unit_row.data();
    V* const rates = state.rates.data() + begin;
    for (int i = 0; i < count; ++i) {
      const T* unit = units + unit_row[i];
      V* const out = rates + rate[i];
      V sum[width];
      for (int j = 0; j < width; ++j) sum[j] = added ? out[j] : V(unit[0]) * divided[0][j];
      constexpr int first = added ? 0 : 1;
      unit += first * B * lanes;
      const int stop = std::min(i + 1, last);
      ESPALIER_NO_UNROLL
      for (int k = first; k < stop; ++k, unit += B * lanes) {
        const V factor(unit[0]);
        for (int j = 0; j < width; ++j) sum[j] += factor * divided[k][j];
      }
      for (int j = 0; j < width; ++j) out[j] = sum[j];
    }
  }

  std::vector<Followers> followers_;
};

}  // namespace espalier

#undef ESPALIER_NO_UNROLL
