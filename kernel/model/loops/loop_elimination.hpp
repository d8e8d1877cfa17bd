#pragma once

#include <algorithm>
#include <cassert>
#include <span>

#include "espalier/kernel/model/loops/constraint_code.hpp"
#include "espalier/kernel/model/loops/loop_block_code.hpp"

/// From what constraints say to qd = G v and qdd = G vdot + g, for SpanningMotion and batches; for
/// whoever compiles it, as constraint_code.hpp.

namespace espalier::detail {

/// 1 / pivot; NaN where the pivot is rounding beside `size`, so that a dead point gives no numbers.
template <class T>
static T inverse_of(const T& pivot, const T& size) {
  const T zero = T(0.0);
  return select_less(T(least_loop_pivot<T>) * size, abs(pivot), T(1.0) / pivot, zero / zero);
}

/// K's dependent columns, row-major.
template <class T>
static void take_dependents(const ClusterConstraint& constraint, const ConstraintWorkspace<T>& w,
                            T* A) {
  const std::vector<int>& dependent = constraint.dependent;
  if (!constraint.is_sparse()) {
    const T* K = w.K.data();
    for (int i = 0; i < constraint.rows(); ++i, K += constraint.columns) {
      for (const int column : dependent) *A++ = K[column];
    }
    return;
  }
  const std::size_t r = dependent.size();
  for (int i = 0; i < constraint.rows(); ++i, A += r) {
    std::fill(A, A + r, T(0.0));
    constraint.each_in_row(w, i, [&](int column, const T& value) {
      const auto at = std::find(dependent.begin(), dependent.end(), column);
      if (at != dependent.end()) A[at - dependent.begin()] = value;
    });
  }
}

/// out = G x for the rows of one cluster; most have two columns. @param G  of the cluster
template <class T>
[[gnu::always_inline]] static inline void expand(const Cluster& c, const T* G, const T* x, T* out) {
  x += c.v;
  if (c.nv == 2) {
    const T a = x[0], b = x[1];
    for (int i = 0; i < c.rows(); ++i, G += 2) out[c.rate(i)] = G[0] * a + G[1] * b;
    return;
  }
  for (int i = 0; i < c.rows(); ++i, G += c.nv) {
    T sum = T(0.0);
    for (int j = 0; j < c.nv; ++j) sum += G[j] * x[j];
    out[c.rate(i)] = sum;
  }
}
/// The same for some clusters. @param G  of all clusters
template <class T>
static void expand(std::span<const Cluster* const> clusters, const T* G, const T* x, T* out) {
  for (const Cluster* c : clusters) {
    if (c->constrained) {
      expand(*c, G + c->G_start, x, out);
    } else {
      for (int i = 0; i < c->nv; ++i) out[c->spanning_v + i] = x[c->v + i];
    }
  }
}
/// out = G^T x, likewise.
template <class T>
static void reduce(std::span<const Cluster* const> clusters, const T* G, const T* x, T* out) {
  for (const Cluster* c : clusters) {
    if (!c->constrained) {
      for (int i = 0; i < c->nv; ++i) out[c->v + i] = x[c->spanning_v + i];
      continue;
    }
    for (int j = 0; j < c->nv; ++j) {
      T sum = T(0.0);
      for (int i = 0; i < c->rows(); ++i) sum += G[c->G_start + i * c->nv + j] * x[c->rate(i)];
      out[c->v + j] = sum;
    }
  }
}

/// G, columns x independent, row-major, from w.K; keeps the factor of its dependent columns.
template <class T>
static void eliminate(const ClusterConstraint& constraint, ConstraintWorkspace<T>& w, T* G) {
  const int m = constraint.rows(), r = static_cast<int>(constraint.dependent.size());
  const int nv = static_cast<int>(constraint.independent.size());
  const T* K = w.K.data();
  const std::vector<int>& independent = constraint.independent;
  for (int i = 0; i < nv; ++i) {
    for (int j = 0; j < nv; ++j) G[independent[i] * nv + j] = T(i == j ? 1.0 : 0.0);
  }
  if (constraint.blocks) {
    if (nv == 1) return eliminate_blocks<1>(*constraint.blocks, nv, w, G);
    return eliminate_blocks<0>(*constraint.blocks, nv, w, G);
  }
  const auto row = [&](int i) { return G + constraint.dependent[i] * nv; };
  if (constraint.unit_dependents) {
    for (int i = 0; i < r; ++i, K += constraint.columns) {
      for (int j = 0; j < nv; ++j) row(i)[j] = -K[independent[j]];
    }
    return;
  }
  T* A = w.factor.data();
  if (r == 2 && m == 2) {  // A: the inverse
    const T* L = K + constraint.columns;
    const int first = constraint.dependent[0], second = constraint.dependent[1];
    const T p = K[first] * L[second], n = K[second] * L[first];
    const T inverse = inverse_of(p - n, abs(p) + abs(n));
    const T a = L[second] * inverse, b = -(K[second] * inverse);
    const T c = -(L[first] * inverse), d = K[first] * inverse;
    for (int j = 0; j < nv; ++j) {
      const T x = K[independent[j]], y = L[independent[j]];
      row(0)[j] = -(a * x + b * y);
      row(1)[j] = -(c * x + d * y);
    }
    A[0] = a, A[1] = b, A[2] = c, A[3] = d;
    return;
  }
  take_dependents(constraint, w, A);
  qr_factor(A, m, r, w.beta.data());
  if (r > 0) spoil_singular(r, w.beta.data());
  for (int j = 0; j < nv; ++j) {
    if (constraint.is_sparse()) {
      for (int i = 0; i < m; ++i) {
        w.k[i] = T(0.0);
        constraint.each_in_row(w, i, [&](int column, const T& value) {
          if (column == independent[j]) w.k[i] = -value;
        });
      }
    } else {
      for (int i = 0; i < m; ++i) w.k[i] = -K[i * constraint.columns + independent[j]];
    }
    qr_solve(A, m, r, w.beta.data(), w.k.data());
    for (int i = 0; i < r; ++i) row(i)[j] = w.k[i];
  }
}

/// g of a cluster's rates from w.k and what eliminate() kept.
template <class T>
static void eliminate_bias(const ClusterConstraint& constraint, ConstraintWorkspace<T>& w, T* g) {
  const int m = constraint.rows(), r = static_cast<int>(constraint.dependent.size());
  const auto of = [&](int column) -> T& { return g[constraint.rate[column]]; };
  for (const int column : constraint.independent) of(column) = T(0.0);
  if (constraint.blocks) return solve_blocks(constraint, w, w.k.data(), g);
  if (!constraint.unit_dependents) {
    const T* A = w.factor.data();
    if (r == 2 && m == 2) {
      const T x = w.k[0], y = w.k[1];
      of(constraint.dependent[0]) = A[0] * x + A[1] * y;
      of(constraint.dependent[1]) = A[2] * x + A[3] * y;
      return;
    }
    qr_solve(A, m, r, w.beta.data(), w.k.data());
  }
  for (int i = 0; i < r; ++i) of(constraint.dependent[i]) = w.k[i];
}

/// Of qdd = G vdot + g some clusters' g, after eliminate_loops() without g, from at.qd and at.bias.
/// @param work  that of each cluster
/// @param g     of the model's spanning rates
template <class T>
static void eliminate_biases(const Model& model, std::span<const Cluster* const> loops,
                             std::span<ConstraintWorkspace<T>> work, const SpanningView<T>& at,
                             T* g) {
  assert(work.size() == loops.size());
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const ClusterConstraint& constraint = *loops[i]->constraint;
    bias(constraint, model, *loops[i], at, work[i]);
    eliminate_bias(constraint, work[i], g);
  }
}

/// For some clusters G and, unless v is null, qd = G v, to which at.qd points, and g.
/// @param work  one for all clusters, which then stays in the cache, or one for each
/// @param v     independent rates of the model
/// @param G     of all clusters, each rows() x nv, row-major; nullptr for clusters in blocks, whose
///              blocks are factored instead: then each cluster has a work of its own
/// @param qd    of the model's spanning rates
/// @param g     likewise; nullptr where at.bias waits for qd: then each cluster has a work of its
///              own, and eliminate_biases() follows
template <class T>
static void eliminate_loops(const Model& model, std::span<const Cluster* const> loops,
                            std::span<ConstraintWorkspace<T>> work, const SpanningView<T>& at,
                            const T* v, T* G, T* qd, T* g) {
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const Cluster& c = *loops[i];
    ConstraintWorkspace<T>& w = work[work.size() > 1 ? i : 0];
    jacobian(*c.constraint, model, c, at, w);
    if (G != nullptr) {
      eliminate(*c.constraint, w, G + c.G_start);
      if (v != nullptr) expand(c, G + c.G_start, v, qd);
    } else {
      factor_checked_blocks(*c.constraint->blocks, w);
      if (v != nullptr) expand_in_blocks(c, w, v, qd);
    }
    if (v == nullptr || g == nullptr) continue;
    bias(*c.constraint, model, c, at, w);
    eliminate_bias(*c.constraint, w, g);
  }
}

/// Not more than the smallest singular value of K's dependent columns over the largest of K, after
/// jacobian(): a lower bound by Frobenius norms, 0 where there is none. Of a cluster that is
/// eliminated in blocks it is that of its worst block, measured by that block's rows: K's dependent
/// columns are singular where a block is, and a long chain of loops is as far from it as its worst
/// loop. Overwrites what eliminate() keeps.
template <class T>
static T margin(const ClusterConstraint& constraint, ConstraintWorkspace<T>& w) {
  const int m = constraint.rows(), r = static_cast<int>(constraint.dependent.size());
  if (r == 0) return T(1.0);
  if (m < r) return T(0.0);
  if (constraint.blocks) {
    T least = T(1.0), zero = T(0.0);  // the latter stays zero as long as all is finite
    for (const LoopBlocks::Block& block : constraint.blocks->blocks) {
      const T margin = block_margin(*constraint.blocks, block, w);
      least = select_less(margin, least, margin, least);
      zero += margin - margin;
    }
    least += zero;
    return select_less(T(0.0), least, least, T(0.0));
  }
  T* A = w.factor.data();
  take_dependents(constraint, w, A);
  qr_factor(A, m, r, w.beta.data());
  T inverse = T(0.0), all = T(0.0);
  for (int j = 0; j < r; ++j) {  // column j of R^-1
    T* x = w.k.data();
    for (int i = 0; i <= j; ++i) x[i] = T(i == j ? 1.0 : 0.0);
    back_substitute<1>(A, r, j + 1, w.beta.data(), x, 1);
    for (int i = 0; i <= j; ++i) inverse += x[i] * x[i];
  }
  const int stored = constraint.is_sparse() ? constraint.first_entry(m) : m * constraint.columns;
  for (int i = 0; i < stored; ++i) all += w.K[i] * w.K[i];
  const T margin = T(1.0) / sqrt(inverse * all);
  return select_less(T(0.0), margin, margin, T(0.0));
}

}  // namespace espalier::detail
