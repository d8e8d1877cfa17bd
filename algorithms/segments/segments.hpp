#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/segments/segment_kinds.hpp"

namespace espalier {

/// Places of numbers in ascending order; of equal ones the first comes first.
std::vector<std::size_t> stable_order(const std::vector<int>& numbers);

/// Segments in the order in which recursive algorithms pass them, parents before children.
template <class... Kinds>
class Segments {
 public:
  using Segment = std::variant<Kinds...>;

  const Segment& operator[](int k) const { return segments_[k]; }
  /// Calls pass(segment) for each segment, base to tips.
  template <class Pass>
  [[gnu::always_inline]] void outward(Pass&& pass) const {
    for (const Segment& s : segments_) visit(pass, s);
  }
  /// Calls pass(segment) for each segment, tips to base.
  template <class Pass>
  [[gnu::always_inline]] void inward(Pass&& pass) const {
    for (std::size_t k = segments_.size(); k-- > 0;) visit(pass, segments_[k]);
  }

  /// Appends a segment. Plain bodies that continue the last run extend it.
  /// @param order  segments of lower order come first, once sorted
  void add(Segment next, int order = 0) {
    if constexpr ((std::is_same_v<PlainRun, Kinds> || ...)) {
      PlainRun* last = segments_.empty() || orders_.back() != order
                           ? nullptr
                           : std::get_if<PlainRun>(&segments_.back());
      const PlainRun* run = std::get_if<PlainRun>(&next);
      if (last != nullptr && run != nullptr && last->run == run->run && last->end == run->begin &&
          last->shift == run->shift) {
        last->end = run->end;
        return;
      }
    }
    segments_.push_back(std::move(next));
    orders_.push_back(order);
  }
  void sort() {
    const std::vector<std::size_t> at = stable_order(orders_);
    std::vector<Segment> sorted;
    sorted.reserve(at.size());
    for (const std::size_t k : at) sorted.push_back(std::move(segments_[k]));
    segments_ = std::move(sorted);
    std::vector<int>().swap(orders_);
  }

 private:
  /// A chain without std::visit, whose code may be far away.
  template <class Pass>
  [[gnu::always_inline]] static void visit(Pass&& pass, const Segment& s) {
    if constexpr ((std::is_same_v<ChainGroup, Kinds> || ...)) {
      if (const ChainGroup* chains = std::get_if<ChainGroup>(&s)) return pass(*chains);
    }
    std::visit(pass, s);
  }

  std::vector<Segment> segments_;
  std::vector<int> orders_;  ///< until sort()
};

}  // namespace espalier
