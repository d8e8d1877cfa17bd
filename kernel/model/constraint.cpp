#include "espalier/kernel/model/constraint.hpp"

#include <algorithm>
#include <cmath>

#include "espalier/kernel/model/constraint_code.hpp"
#include "espalier/kernel/pack_code.hpp"

namespace espalier {

int ClusterConstraint::rows() const {
  int n = static_cast<int>(linear.size());
  for (const LawUse& use : laws) n += static_cast<int>(std::count(use.kept.begin(), use.kept.end(), true));
  for (const Loop& loop : loops) n += static_cast<int>(loop.rows.size());
  return n;
}

template <class T>
void ClusterConstraint::allocate(const Model& /*model*/, const Cluster& c,
                                 ConstraintWorkspace<T>& w) const {
  const int m = rows();
  int largest = 0, equations = 0, terms = 0;
  for (const LawUse& use : laws) {
    largest = std::max(largest, use.law->positions());
    equations = std::max(equations, use.law->equations());
    terms += use.law->terms();
  }
  if (planar) {
    w.plane.bars.resize(planar->bars.size());
    w.plane.pins.resize(2 * planar->pins.size());
  }
  if (!loops.empty()) {
    w.pose.resize(c.count);
    w.S.resize(c.spanning_nv);
  }
  w.K.assign(static_cast<std::size_t>(m) * columns, T(0.0));
  w.factor.resize(static_cast<std::size_t>(m) * m);
  w.beta.resize(2 * static_cast<std::size_t>(m));
  w.k.resize(std::max(m, equations));
  w.law_q.resize(largest), w.law_qd.resize(largest), w.law_terms.resize(terms);
  w.law_K.resize(static_cast<std::size_t>(equations) * largest);
  // Couplings are constant: written once.
  for (std::size_t i = 0; i < linear.size(); ++i) {
    for (const auto& [column, coefficient] : linear[i].terms) w.K[i * columns + column] += coefficient;
  }
}

template <class T>
void ClusterConstraint::jacobian(const Model& model, const Cluster& c, const SpanningView<T>& at,
                                 ConstraintWorkspace<T>& w) const {
  if constexpr (is_pack<T>) {
    pack_code->jacobian(*this, model, c, at, w);
  } else {
    detail::jacobian(*this, model, c, at, w);
  }
}

template <class T>
void ClusterConstraint::bias(const Model& model, const Cluster& c, const SpanningView<T>& at,
                             ConstraintWorkspace<T>& w) const {
  if constexpr (is_pack<T>) {
    pack_code->bias(*this, model, c, at, w);
  } else {
    detail::bias(*this, model, c, at, w);
  }
}

template <class T>
void ClusterConstraint::eliminate(ConstraintWorkspace<T>& w, T* G) const {
  if constexpr (is_pack<T>) {
    pack_code->eliminate(*this, w, G);
  } else {
    detail::eliminate(*this, w, G);
  }
}

template <class T>
void ClusterConstraint::eliminate_bias(ConstraintWorkspace<T>& w, T* g) const {
  if constexpr (is_pack<T>) {
    pack_code->eliminate_bias(*this, w, g);
  } else {
    detail::eliminate_bias(*this, w, g);
  }
}

void ClusterConstraint::residual(const Model& model, const Cluster& c,
                                 const SpanningView<double>& at, Rows which,
                                 std::vector<double>& phi) const {
  ConstraintWorkspace<double> w;
  allocate(model, c, w);
  residual(model, c, at, which, w, phi);
}

template <class T>
void ClusterConstraint::residual(const Model& model, const Cluster& c, const SpanningView<T>& at,
                                 Rows which, ConstraintWorkspace<T>& w, std::vector<T>& phi) const {
  if constexpr (is_pack<T>) {
    pack_code->residual(*this, model, c, at, which, w, phi);
  } else {
    detail::residual(*this, model, c, at, which, w, phi);
  }
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
}

void ClusterConstraint::choose(const std::vector<bool>& is_independent) {
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

#define ESPALIER_INSTANTIATE(T)                                                                  \
  template void ClusterConstraint::allocate<T>(const Model&, const Cluster&,                     \
                                               ConstraintWorkspace<T>&) const;                   \
  template void ClusterConstraint::jacobian<T>(const Model&, const Cluster&,                     \
                                               const SpanningView<T>&, ConstraintWorkspace<T>&)  \
      const;                                                                                     \
  template void ClusterConstraint::bias<T>(const Model&, const Cluster&, const SpanningView<T>&, \
                                           ConstraintWorkspace<T>&) const;                       \
  template void ClusterConstraint::eliminate<T>(ConstraintWorkspace<T>&, T*) const;              \
  template void ClusterConstraint::eliminate_bias<T>(ConstraintWorkspace<T>&, T*) const;         \
  template void ClusterConstraint::residual<T>(const Model&, const Cluster&,                     \
                                               const SpanningView<T>&, Rows,                     \
                                               ConstraintWorkspace<T>&, std::vector<T>&) const;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
