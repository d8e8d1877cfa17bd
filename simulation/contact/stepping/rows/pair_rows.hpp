#pragma once

#include <algorithm>
#include <vector>

#include "espalier/simulation/contact/problems/step.hpp"
#include "simulation/contact/stepping/link_columns.hpp"

namespace espalier::contact {

/// Of p rows with one support, at some independent rates.
template <int p, class T>
inline void rates_of(const StepState<T>& s, int row, int nv, const std::vector<T>& v, T* rates) {
  T sum[p];
  for (int r = 0; r < p; ++r) sum[r] = T(0.0);
  s.each_entry(row, [&](int k, std::size_t at) {
    for (int r = 0; r < p; ++r) sum[r] += s.J[at + r * nv] * v[k];
  });
  for (int r = 0; r < p; ++r) rates[r] = sum[r];
}

/// Rows on the twists of one or two moving links, as rows on independent rates.
template <class T>
class PairRows {
 public:
  /// @param links  of bodies that the plan places; they are kept by the caller
  PairRows(const Plan& plan, const LinkColumns<T>& links)
      : plan_(plan),
        links_(links),
        nv_(plan.model().nv()),
        rates_(plan.forks() ? 3 * static_cast<std::size_t>(nv_) : 0) {}

  /// Writes rows [row, row + 3) of J and their supports.
  /// @param on_twist  (site, sign, rows): what the rows are on the twist of a moving link about the
  ///                  origin of its way; sign is that of the link's motion in that of the pair
  template <class F>
  void add(StepState<T>& s, const Plan::Pair& pair, int row, F&& on_twist) {
    const int first = plan_.solids()[pair.a].site, second = plan_.solids()[pair.b].site;
    const bool alone = first < 0 || second < 0;
    T* rows = s.J.data() + static_cast<std::size_t>(row) * nv_;
    for (int k = 0; k < 3; ++k) {
      s.support[row + k] = &pair.support;
      if (!alone) std::fill_n(rows + k * nv_, pair.support.size(), T(0.0));
    }
    const auto write = [&](int number, double sign) {
      if (number < 0) return;
      const Plan::Site& site = plan_.sites()[number];
      Force<T> on[3];
      on_twist(site, sign, on);
      if (alone) return write_rates(site, on, rows);
      write_rates(site, on, rates_.data());
      std::size_t at = 0;  // both supports ascend
      for (std::size_t e = 0; e < site.support.size(); ++e, ++at) {
        while (pair.support[at] != site.support[e]) ++at;
        for (int k = 0; k < 3; ++k) rows[k * nv_ + at] += rates_[k * nv_ + e];
      }
    };
    write(first, 1.0);
    write(second, -1.0);
  }

 private:
  /// What three rows on a link's twist are on the rates of its support.
  void write_rates(const Plan::Site& site, const Force<T>* on, T* rows) const {
    for (std::size_t e = 0; e < site.support.size(); ++e, ++rows) {
      const int column = site.columns[e];
      const PlacedBodies::Column is =
          column < 0 ? PlacedBodies::Column{false, false} : plan_.placed_bodies().columns()[column];
      if (is.turns && is.shifts) {
        for (int k = 0; k < 3; ++k) {
          rows[k * nv_] = dot(on[k].n, links_[column].w) + dot(on[k].f, links_[column].v);
        }
      } else if (is.turns) {
        for (int k = 0; k < 3; ++k) rows[k * nv_] = dot(on[k].n, links_[column].w);
      } else if (is.shifts) {
        for (int k = 0; k < 3; ++k) rows[k * nv_] = dot(on[k].f, links_[column].v);
      } else {
        for (int k = 0; k < 3; ++k) rows[k * nv_] = T(0.0);
      }
    }
  }

  const Plan& plan_;
  const LinkColumns<T>& links_;
  int nv_;
  std::vector<T> rates_;  ///< of one link of two: three rows at its support
};

}  // namespace espalier::contact
