#pragma once

#include <algorithm>
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
std::vector<std::vector<RateRange>> moving_rates(const Model& m, const Cluster& c);

}  // namespace espalier
