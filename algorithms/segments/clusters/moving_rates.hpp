#pragma once

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <span>
#include <vector>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"

namespace espalier {

/// Independent rates of a cluster from one on up to another, that one not included.
struct RateRange {
  int begin, end;
};

/// All rates of a cluster of n.
struct AllRates {
  int n;
  template <class F>
  [[gnu::always_inline]] void for_each(F&& f) const {
    for (int j = 0; j < n; ++j) f(j);
  }
  /// Those up to one of them, which is included.
  template <class F>
  [[gnu::always_inline]] void for_each_up_to(int last, F&& f) const {
    for (int j = 0; j <= last; ++j) f(j);
  }
};
/// Those of some ranges, in ascending order.
struct SomeRates {
  std::span<const RateRange> ranges;
  template <class F>
  [[gnu::always_inline]] void for_each(F&& f) const {
    for (const RateRange& rates : ranges) {
      for (int j = rates.begin; j < rates.end; ++j) f(j);
    }
  }
  template <class F>
  [[gnu::always_inline]] void for_each_up_to(int last, F&& f) const {
    for (const RateRange& rates : ranges) {
      const int end = std::min(rates.end, last + 1);
      for (int j = rates.begin; j < end; ++j) f(j);
      if (end > last) return;
    }
  }
};
/// Calls f(AllRates) where there are no ranges, else f(SomeRates): code of its own for clusters of
/// few rates, in which looking for zeros costs more than multiplying with them.
template <class F>
[[gnu::always_inline]] inline void with_rates(std::span<const RateRange> ranges, int n, F&& f) {
  if (ranges.empty()) return f(AllRates{n});
  f(SomeRates{ranges});
}
inline constexpr int fewest_rates_in_ranges = 8;

/// Which independent rates of a cluster can move which of its bodies on their support, whatever the
/// position: what else G has is zero. Constraints in blocks and constant ones tell; of others all
/// rates move all bodies.
/// @return for each body, as ranges in ascending order; a body has those of its parent, and may
///         have rates that do not move it between others that do. Of clusters of few rates none
/// Source: theory/large-clusters C.2 (structural support).
inline std::vector<std::vector<RateRange>> moving_rates(const Model& m, const Cluster& c) {
  using Rates = boost::dynamic_bitset<>;
  const ClusterConstraint* constraint = c.constraint.get();
  std::vector<std::vector<RateRange>> out(c.count);
  if (c.nv < fewest_rates_in_ranges) return out;
  const std::size_t rows = c.spanning_nv + c.rotors;
  std::vector<Rates> of_row(rows, Rates(c.nv));
  if (constraint != nullptr && constraint->blocks) {
    for (int j = 0; j < c.nv; ++j) of_row[constraint->independent[j]].set(j);
    const LoopBlocks& blocks = *constraint->blocks;
    for (const LoopBlocks::Block& block : blocks.blocks) {
      Rates read(c.nv);
      for (int e = block.outside; e < block.outside_end; ++e) {
        read |= of_row[blocks.outside[e].column];
      }
      for (int k = block.first; k < block.first + block.size; ++k) {
        of_row[blocks.columns[k]] = read;
      }
    }
  } else if (constraint == nullptr && !c.G.empty()) {
    for (std::size_t k = 0; k < rows * c.nv; ++k) of_row[k / c.nv].set(k % c.nv, c.G[k] != 0.0);
  } else {
    for (Rates& rates : of_row) rates.set();
  }

  constexpr int longest_gap = 2;  // zeros that cost less than another range
  std::vector<Rates> of_body(c.count, Rates(c.nv));
  for (int i = c.first; i < c.first + c.count; ++i) {
    const Body& body = m.body(i);
    Rates& rates = of_body[i - c.first];
    if (body.parent >= c.first) rates = of_body[body.parent - c.first];
    for (int k = 0; k < body.nv; ++k) rates |= of_row[c.row(body.v + k)];
    std::vector<RateRange>& ranges = out[i - c.first];
    for (auto j = rates.find_first(); j != Rates::npos; j = rates.find_next(j)) {
      const int rate = static_cast<int>(j);
      if (ranges.empty() || rate > ranges.back().end + longest_gap) ranges.push_back({rate, rate});
      ranges.back().end = rate + 1;
    }
  }
  return out;
}

}  // namespace espalier
