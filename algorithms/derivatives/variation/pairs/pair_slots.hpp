#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/derivatives/variation/ways_to_ground.hpp"

namespace espalier {

/// What one coordinate of a cluster hands to a supporting body: a wrench for each product with the
/// body's columns.
template <class T>
struct PairTerms {
  int body = 0;
  Force<T> t1;   ///< I S
  Vec3<T> t2;    ///< Bhat^T S, angular
  Force<T> t3;   ///< relative variation of the wrench by the rate
  Force<T> t4;   ///< variation of the wrench by the coordinate
  Motion<T> t5;  ///< E^T S; in components of a force

  void start(int of) {
    body = of;
    t1 = t3 = t4 = Force<T>::zero();
    t2 = Vec3<T>::zero();
    t5 = Motion<T>::zero();
  }
  PairTerms& operator+=(const PairTerms& b) {
    t1 += b.t1, t2 += b.t2, t3 += b.t3, t4 += b.t4, t5 += b.t5;
    return *this;
  }
};

/// The supporting bodies of a cluster, each with what one coordinate hands to it, and their way to
/// the ground.
template <class T>
class PairSlots {
 public:
  explicit PairSlots(const WaysToGround& ways, const Model& model) : ways_(ways) {
    std::size_t supports = 1;
    for (const Cluster& c : model.clusters()) supports = std::max(supports, c.supports.size());
    slots_.resize(supports), next_.resize(supports);
  }

  /// Empties the slots of a cluster's supports.
  void start(const Cluster& c) {
    count_ = 0;
    for (const int o : c.supports) {
      if (o != 0) slots_[count_++].start(o);
    }
  }
  /// The slot of a support; null of the ground.
  PairTerms<T>* of(int body) {
    for (int k = 0; k < count_; ++k) {
      if (slots_[k].body == body) return &slots_[k];
    }
    return nullptr;
  }

  /// Whether the ground alone supports the cluster.
  bool empty() const { return count_ == 0; }

  /// Calls each(terms, column, coordinate) for the columns of all bodies on the way from the slots
  /// to the ground; terms that meet on one body are added.
  template <class Each>
  void ancestors(const VariationState<T>& s, Each&& each) {
    const auto visit = [&](const PairTerms<T>& t) {
      const Cluster& p = s.model().clusters()[s.model().body(t.body).cluster];
      const VariationColumn<T>* columns = s.columns(t.body);
      for (int k = 0; k < p.nv; ++k) each(t, columns[k], static_cast<long>(p.v + k));
    };
    while (count_ > 1) {
      int count = 0;
      for (int k = 0; k < count_; ++k) {
        visit(slots_[k]);
        const int o = s.support(slots_[k].body);
        if (o == 0) continue;
        int at = 0;
        while (at < count && next_[at].body != o) ++at;
        if (at < count) {
          next_[at] += slots_[k];
        } else {
          next_[count++] = slots_[k];
          next_[at].body = o;
        }
      }
      std::swap(slots_, next_);
      count_ = count;
    }
    if (count_ == 0) return;
    const PairTerms<T>& t = slots_[0];
    for (const auto& step : ways_.path(t.body)) {
      each(t, s.column[step.column], static_cast<long>(step.coordinate));
    }
    const int base = ways_.base(t.body);
    if (base < 0) return;
    const VariationColumn<T>* columns = s.columns(s.root(t.body));
    for (int k = 0; k < 6; ++k) each(t, columns[k], static_cast<long>(base + k));
  }

 private:
  const WaysToGround& ways_;
  std::vector<PairTerms<T>> slots_, next_;
  int count_ = 0;
};

}  // namespace espalier
