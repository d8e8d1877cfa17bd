#include "espalier/kernel/model/loops/constraint.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/guard.hpp"
#include "espalier/kernel/model/loops/constraint_code.hpp"

namespace espalier {

namespace {

/// Runs laws' equations; what a law throws is told by the names of those that it may be.
template <class F>
void run_laws(const ClusterConstraint& constraint, F&& f) {
  const auto names = [&] {
    std::string list;
    for (const ClusterConstraint::LawUse& use : constraint.laws) {
      list += (list.empty() ? "'" : ", '") + use.name + "'";
    }
    return (constraint.laws.size() == 1 ? "law " : "one of the laws ") + list;
  };
  detail::guarded(names, "phi or a derivative of it", f);
}

}  // namespace

void ClusterConstraint::count_rows() {
  rows_ = static_cast<int>(linear.size());
  for (const LawUse& use : laws) {
    rows_ += static_cast<int>(std::count(use.kept.begin(), use.kept.end(), true));
  }
  for (const Loop& loop : loops) rows_ += static_cast<int>(loop.rows.size());
  list_entries();
}

/// In the order in which jacobian() writes them.
void ClusterConstraint::list_entries() {
  constexpr int largest_dense =
      8;  // columns: what a row misses is then written faster than skipped
  row_start_.clear(), entry_column_.clear();
  if (columns <= largest_dense) return;
  row_start_.push_back(0);
  const auto end_row = [&] { row_start_.push_back(static_cast<int>(entry_column_.size())); };
  for (const Linear& equation : linear) {
    for (const auto& term : equation.terms) entry_column_.push_back(term.first);
    end_row();
  }
  for (const LawUse& use : laws) {
    for (const bool kept : use.kept) {
      if (!kept) continue;
      entry_column_.insert(entry_column_.end(), use.columns.begin(), use.columns.end());
      end_row();
    }
  }
  for (const Loop& loop : loops) {
    for (std::size_t i = 0; i < loop.rows.size(); ++i) {
      entry_column_.insert(entry_column_.end(), loop.columns.begin(), loop.columns.end());
      end_row();
    }
  }
}

template <class T>
void ClusterConstraint::allocate(const Cluster& c, ConstraintWorkspace<T>& w) const {
  const auto grow = [](auto& numbers, std::size_t n) {
    if (numbers.size() < n) numbers.resize(n);
  };
  const std::size_t m = rows();
  std::size_t largest = 0, equations = 0, terms = 0, positions = 0;
  for (const LawUse& use : laws) {
    const std::size_t n = use.positions.size();
    largest = std::max(largest, n);
    positions += n;
    equations = std::max<std::size_t>(equations, use.law->equations());
    terms += use.law->terms();
  }
  if (planar) {
    grow(w.plane.bars, planar->bars.size());
    grow(w.plane.pins, 2 * planar->pins.size());
  }
  if (!loops.empty()) {
    grow(w.pose, c.count);
    grow(w.S, c.spanning_nv);
  }
  grow(w.K, is_sparse() ? entry_column_.size() : m * columns);
  // Of dependent columns: as many as there are once chosen, not more than rows or columns.
  grow(w.factor, blocks ? blocks->factor_size : m * std::min<std::size_t>(m, columns));
  grow(w.right, blocks ? blocks->largest * independent.size() + blocks->largest : 0);
  grow(w.beta, 2 * m);
  grow(w.k, m);
  grow(w.law_q, positions), grow(w.law_qd, largest), grow(w.law_terms, terms);
  grow(w.law_K, equations * largest);
}

void ClusterConstraint::jacobian(const Model& model, const Cluster& c,
                                 const SpanningView<double>& at,
                                 ConstraintWorkspace<double>& w) const {
  run_laws(*this, [&] { detail::jacobian(*this, model, c, at, w); });
}

void ClusterConstraint::bias(const Model& model, const Cluster& c, const SpanningView<double>& at,
                             ConstraintWorkspace<double>& w) const {
  run_laws(*this, [&] { detail::bias(*this, model, c, at, w); });
}

void ClusterConstraint::residual(const Model& model, const Cluster& c,
                                 const SpanningView<double>& at, Rows which,
                                 std::vector<double>& phi) const {
  ConstraintWorkspace<double> w;
  allocate(c, w);
  residual(model, c, at, which, w, phi);
}

void ClusterConstraint::residual(const Model& model, const Cluster& c,
                                 const SpanningView<double>& at, Rows which,
                                 ConstraintWorkspace<double>& w, std::vector<double>& phi) const {
  run_laws(*this, [&] { detail::residual(*this, model, c, at, which, w, phi); });
}

std::pair<std::string, double> ClusterConstraint::worst(const Model& model, const Cluster& c,
                                                        const SpanningView<double>& at) const {
  std::vector<double> phi;
  residual(model, c, at, Rows::all, phi);
  std::pair<std::string, double> worst{"", 0.0};
  std::size_t next = 0;
  const auto take = [&](const std::string& name, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i, ++next) {
      if (worst.first.empty() || !(std::abs(phi[next]) <= worst.second)) {
        worst = {name, std::abs(phi[next])};
      }
    }
  };
  for (const Linear& equation : all_linear) take(equation.name, 1);
  for (const LawUse& use : laws) take(use.name, use.law->equations());
  for (const Loop& loop : loops) take(loop.name, loop.all_rows.size());
  return worst;
}

void ClusterConstraint::keep(const std::vector<bool>& kept) {
  std::size_t next = 0;
  std::vector<Linear> some;
  for (Linear& equation : linear) {
    if (kept[next++]) some.push_back(std::move(equation));
  }
  linear = std::move(some);
  for (LawUse& use : laws) {
    for (std::size_t e = 0; e < use.kept.size(); ++e) {
      if (use.kept[e]) use.kept[e] = kept[next++];
    }
  }
  for (Loop& loop : loops) {
    std::vector<LoopRow> rows;
    for (const LoopRow& row : loop.rows) {
      if (kept[next++]) rows.push_back(row);
    }
    loop.rows = std::move(rows);
  }
  count_rows();
}

void ClusterConstraint::choose(const std::vector<bool>& is_independent) {
  count_rows();
  independent.clear(), dependent.clear();
  for (int i = 0; i < columns; ++i) (is_independent[i] ? independent : dependent).push_back(i);
  // Explicit laws of independent positions alone, one for every dependent column?
  if (!linear.empty() || !loops.empty()) return;
  std::vector<int> order;
  for (const LawUse& use : laws) {
    if (!use.law->is_explicit()) return;
    const int first = use.law->positions() - use.law->equations();
    for (int i = 0; i < first; ++i) {
      if (!is_independent[use.columns[i]]) return;
    }
    for (int e = 0; e < use.law->equations(); ++e) {
      const int column = use.columns[first + e];
      if (!use.kept[e] || is_independent[column]) return;
      order.push_back(column);
    }
  }
  if (order.size() != dependent.size()) return;
  dependent = std::move(order);
  unit_dependents = true;
}

#define ESPALIER_INSTANTIATE(T) \
  template void ClusterConstraint::allocate<T>(const Cluster&, ConstraintWorkspace<T>&) const;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
ESPALIER_INSTANTIATE(Dual<double>)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
