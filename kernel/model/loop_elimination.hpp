#pragma once

#include <algorithm>
#include <cassert>
#include <span>

#include "espalier/kernel/model/constraint_code.hpp"

/// From what constraints say to qd = G v and qdd = G vdot + g, for SpanningMotion and batches; for
/// whoever compiles it, as constraint_code.hpp; of algorithms, for those that go on with the blocks
/// that it keeps (SpanningMotion::constraint_work()).

namespace espalier::detail {

/// Pivots that rounding leaves of zero, over what they are made of, are some 1e-16, in floats 1e-7.
template <class T>
inline constexpr double least_loop_pivot = is_single<T> ? 1e-6 : 1e-14;

/// 1 / pivot; NaN where the pivot is rounding beside `size`, so that a dead point gives no numbers.
template <class T>
static T inverse_of(const T& pivot, const T& size) {
  const T zero = T(0.0);
  return select_less(T(least_loop_pivot<T>) * size, abs(pivot), T(1.0) / pivot, zero / zero);
}

/// A x = b in the least-squares sense, A of full column rank, by Householder reflections. A is
/// m x n, row-major; afterwards it holds R above the diagonal and the reflections below it.
template <class T>
static void qr_factor(T* A, int m, int n, T* beta) {
  for (int j = 0; j < n; ++j) {
    T square = T(0.0);
    for (int i = j; i < m; ++i) square += A[i * n + j] * A[i * n + j];
    const T norm = sqrt(square), a = A[j * n + j];
    const T alpha = select_less(a, T(0.0), norm, -norm);
    A[j * n + j] = a - alpha;
    // H = 1 - v v^T beta with v = column - alpha e_j and v^T v = 2 alpha (alpha - a).
    beta[j] = T(1.0) / (alpha * (alpha - a));
    T* sums = beta + n;  // of the columns to the right; row by row, as A is stored
    for (int l = j + 1; l < n; ++l) sums[l] = T(0.0);
    for (int i = j; i < m; ++i) {
      const T v = A[i * n + j];
      for (int l = j + 1; l < n; ++l) sums[l] += v * A[i * n + l];
    }
    for (int l = j + 1; l < n; ++l) sums[l] *= beta[j];
    for (int i = j; i < m; ++i) {
      const T v = A[i * n + j];
      for (int l = j + 1; l < n; ++l) A[i * n + l] -= sums[l] * v;
    }
    beta[n + j] = T(1.0) / alpha;
  }
}
/// After qr_factor(): spoils the factor where a column hangs on the others but for rounding.
template <class T>
static void spoil_singular(int n, T* beta) {
  T most = abs(beta[n]), least = most;  // of 1 / pivot
  for (int j = 1; j < n; ++j) {
    const T size = abs(beta[n + j]);
    most = select_less(most, size, size, most);
    least = select_less(size, least, size, least);
  }
  const T zero = T(0.0), bound = T(least_loop_pivot<T>) * most;
  beta[2 * n - 1] *= select_less(bound, least, T(1.0), zero / zero);
}
/// R x = b in place, for the first `size` of n unknowns.
template <class T>
static void back_substitute(const T* A, int n, int size, const T* beta, T* b) {
  for (int j = size - 1; j >= 0; --j) {
    for (int l = j + 1; l < size; ++l) b[j] -= A[j * n + l] * b[l];
    b[j] *= beta[n + j];
  }
}
template <class T>
static void qr_solve(const T* A, int m, int n, const T* beta, T* b) {
  for (int j = 0; j < n; ++j) {
    T s = T(0.0);
    for (int i = j; i < m; ++i) s += A[i * n + j] * b[i];
    s *= beta[j];
    for (int i = j; i < m; ++i) b[i] -= s * A[i * n + j];
  }
  back_substitute(A, n, n, beta, b);
}

/// A^T x = b in place, A square.
template <class T>
static void qr_solve_transposed(const T* A, int n, const T* beta, T* b) {
  for (int j = 0; j < n; ++j) {
    for (int l = 0; l < j; ++l) b[j] -= A[l * n + j] * b[l];
    b[j] *= beta[n + j];
  }
  for (int j = n - 1; j >= 0; --j) {
    T s = T(0.0);
    for (int i = j; i < n; ++i) s += A[i * n + j] * b[i];
    s *= beta[j];
    for (int i = j; i < n; ++i) b[i] -= s * A[i * n + j];
  }
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

// --- block by block -------------------------------------------------------------------------------

/// Of up to two rows the inverse, of more the factor.
template <class T>
static void factor_block(const LoopBlocks& all, const LoopBlocks::Block& block,
                         ConstraintWorkspace<T>& w) {
  T* A = w.factor.data() + block.factor;
  const T* K = w.K.data();
  const int n = block.size;
  if (n > 1) std::fill(A, A + n * n, T(0.0));
  for (int e = block.inside; e < block.inside_end; ++e) {
    A[all.inside[e].position] = K[all.inside[e].value];
  }
  if (n == 1) {
    A[0] = T(1.0) / A[0];
  } else if (n == 2) {
    const T inverse = T(1.0) / (A[0] * A[3] - A[1] * A[2]), a = A[0];
    A[0] = A[3] * inverse;
    A[1] = -(A[1] * inverse);
    A[2] = -(A[2] * inverse);
    A[3] = a * inverse;
  } else {
    qr_factor(A, n, n, w.beta.data() + 2 * block.first);
  }
}
/// A x = b in place.
template <class T>
static void solve_block(const LoopBlocks::Block& block, const ConstraintWorkspace<T>& w, T* b) {
  const T* A = w.factor.data() + block.factor;
  if (block.size == 1) {
    b[0] *= A[0];
  } else if (block.size == 2) {
    const T x = b[0], y = b[1];
    b[0] = A[0] * x + A[1] * y;
    b[1] = A[2] * x + A[3] * y;
  } else {
    qr_solve(A, block.size, block.size, w.beta.data() + 2 * block.first, b);
  }
}
/// A^T x = b in place.
template <class T>
static void solve_block_transposed(const LoopBlocks::Block& block, const ConstraintWorkspace<T>& w,
                                   T* b) {
  const T* A = w.factor.data() + block.factor;
  if (block.size == 1) {
    b[0] *= A[0];
  } else if (block.size == 2) {
    const T x = b[0], y = b[1];
    b[0] = A[0] * x + A[2] * y;
    b[1] = A[1] * x + A[3] * y;
  } else {
    qr_solve_transposed(A, block.size, w.beta.data() + 2 * block.first, b);
  }
}
/// spoil_singular() of a factored block.
template <class T>
static void spoil_singular_block(const LoopBlocks& all, const LoopBlocks::Block& block,
                                 ConstraintWorkspace<T>& w) {
  T* A = w.factor.data() + block.factor;
  if (block.size > 2) return spoil_singular(block.size, w.beta.data() + 2 * block.first);
  const T zero = T(0.0), bound = T(least_loop_pivot<T>);
  if (block.size == 1) {
    T size = zero;
    for (int e = block.outside; e < block.outside_end; ++e) size += abs(w.K[all.outside[e].value]);
    A[0] *= select_less(bound * size * abs(A[0]), T(1.0), T(1.0), zero / zero);
    return;
  }
  const T p = A[0] * A[3], m = A[1] * A[2];  // of the inverse, whose determinant is 1 / det
  const T spoilt = select_less(bound * (abs(p) + abs(m)), abs(p - m), T(1.0), zero / zero);
  A[0] *= spoilt;
  A[3] *= spoilt;
}
template <class T>
static void factor_blocks(const LoopBlocks& all, ConstraintWorkspace<T>& w) {
  for (const LoopBlocks::Block& block : all.blocks) factor_block(all, block, w);
}
/// K x = b for the dependent rates from factored blocks, those of the independent ones given.
/// @param x  of the model's spanning rates
template <class T>
static void solve_blocks(const ClusterConstraint& constraint, ConstraintWorkspace<T>& w, const T* b,
                         T* x) {
  const LoopBlocks& all = *constraint.blocks;
  T* right = w.right.data();
  const T* K = w.K.data();
  for (const LoopBlocks::Block& block : all.blocks) {
    for (int i = 0; i < block.size; ++i) right[i] = b[all.rows[block.first + i]];
    for (int e = block.outside; e < block.outside_end; ++e) {
      const LoopBlocks::Outside& entry = all.outside[e];
      right[entry.row] -= K[entry.value] * x[constraint.rate[entry.column]];
    }
    solve_block(block, w, right);
    for (int i = 0; i < block.size; ++i) {
      x[constraint.rate[all.columns[block.first + i]]] = right[i];
    }
  }
}
/// factor_blocks(), singular ones spoilt.
template <class T>
static void factor_checked_blocks(const LoopBlocks& all, ConstraintWorkspace<T>& w) {
  for (const LoopBlocks::Block& block : all.blocks) {
    factor_block(all, block, w);
    spoil_singular_block(all, block, w);
  }
}
/// out = G x of a cluster from its factored blocks. @param x  of the model's independent rates
template <class T>
static void expand_in_blocks(const Cluster& c, ConstraintWorkspace<T>& w, const T* x, T* out) {
  const ClusterConstraint& constraint = *c.constraint;
  for (int j = 0; j < c.nv; ++j) out[constraint.rate[constraint.independent[j]]] = x[c.v + j];
  std::fill(w.k.begin(), w.k.begin() + constraint.rows(), T(0.0));
  solve_blocks(constraint, w, w.k.data(), out);
}
/// out = G^T x likewise: what the dependent rates' forces take through the constraints, from the
/// last block to the first. @param x  of the model's spanning rates; the cluster's are overwritten
template <class T>
static void reduce_in_blocks(const Cluster& c, ConstraintWorkspace<T>& w, T* x, T* out) {
  const ClusterConstraint& constraint = *c.constraint;
  const LoopBlocks& all = *constraint.blocks;
  T* force = w.right.data();  // of the block's dependents, then of its rows
  for (std::size_t k = all.blocks.size(); k-- > 0;) {
    const LoopBlocks::Block& block = all.blocks[k];
    for (int i = 0; i < block.size; ++i) {
      force[i] = x[constraint.rate[all.columns[block.first + i]]];
    }
    solve_block_transposed(block, w, force);
    for (int e = block.outside; e < block.outside_end; ++e) {
      const LoopBlocks::Outside& entry = all.outside[e];
      x[constraint.rate[entry.column]] -= w.K[entry.value] * force[entry.row];
    }
  }
  for (int j = 0; j < c.nv; ++j) out[c.v + j] = x[constraint.rate[constraint.independent[j]]];
}
/// Dependent rows of G, block by block; keeps the factors. @param nv  columns, `fixed` unless 0
template <int fixed, class T>
static void eliminate_blocks(const LoopBlocks& all, int nv, ConstraintWorkspace<T>& w, T* G) {
  if constexpr (fixed > 0) nv = fixed;
  const T* K = w.K.data();
  T* right = w.right.data();  // one right-hand side after the other
  for (const LoopBlocks::Block& block : all.blocks) {
    const int n = block.size;
    factor_block(all, block, w);
    spoil_singular_block(all, block, w);
    std::fill(right, right + n * nv, T(0.0));
    for (int e = block.outside; e < block.outside_end; ++e) {
      const LoopBlocks::Outside& entry = all.outside[e];
      const T& value = K[entry.value];
      for (int j = 0; j < nv; ++j) right[j * n + entry.row] -= value * G[entry.column * nv + j];
    }
    for (int j = 0; j < nv; ++j) {
      solve_block(block, w, right + j * n);
      for (int i = 0; i < n; ++i) {
        G[all.columns[block.first + i] * nv + j] = right[j * n + i];
      }
    }
  }
}
/// margin() of one block: by Frobenius norms, of its inverse and of its rows of K. Factors it.
template <class T>
static T block_margin(const LoopBlocks& all, const LoopBlocks::Block& block,
                      ConstraintWorkspace<T>& w) {
  factor_block(all, block, w);
  const T* A = w.factor.data() + block.factor;
  const int n = block.size;
  T inverse = T(0.0), rows = T(0.0);
  for (int e = block.inside; e < block.inside_end; ++e) {
    const T& value = w.K[all.inside[e].value];
    rows += value * value;
  }
  for (int e = block.outside; e < block.outside_end; ++e) {
    const T& value = w.K[all.outside[e].value];
    rows += value * value;
  }
  for (int i = 0; n <= 2 && i < n * n; ++i) inverse += A[i] * A[i];
  for (int j = 0; n > 2 && j < n; ++j) {  // column j of R^-1
    T* x = w.right.data();
    for (int i = 0; i <= j; ++i) x[i] = T(i == j ? 1.0 : 0.0);
    back_substitute(A, n, j + 1, w.beta.data() + 2 * block.first, x);
    for (int i = 0; i <= j; ++i) inverse += x[i] * x[i];
  }
  return T(1.0) / sqrt(inverse * rows);
}
/// Whether the determinant of a factored block is negative.
inline bool is_negative(const LoopBlocks::Block& block, const ConstraintWorkspace<double>& w) {
  const double* A = w.factor.data() + block.factor;
  if (block.size == 1) return A[0] < 0.0;
  if (block.size == 2) return A[0] * A[3] - A[1] * A[2] < 0.0;
  bool negative = block.size % 2 == 1;  // every reflection turns the sign
  const double* beta = w.beta.data() + 2 * block.first;
  for (int j = 0; j < block.size; ++j) negative = negative != (beta[block.size + j] < 0.0);
  return negative;
}

/// out = G x for the rows of some clusters. @param G  of all clusters
template <class T>
static void expand(std::span<const Cluster* const> clusters, const T* G, const T* x, T* out) {
  for (const Cluster* c : clusters) {
    if (!c->constrained) {
      for (int i = 0; i < c->nv; ++i) out[c->spanning_v + i] = x[c->v + i];
      continue;
    }
    const T* row = G + c->G_start;
    for (int i = 0; i < c->rows(); ++i, row += c->nv) {
      T sum = T(0.0);
      for (int j = 0; j < c->nv; ++j) sum += row[j] * x[c->v + j];
      out[c->rate(i)] = sum;
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
      if (v != nullptr) expand(loops.subspan(i, 1), G, v, qd);
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
    back_substitute(A, r, j + 1, w.beta.data(), x);
    for (int i = 0; i <= j; ++i) inverse += x[i] * x[i];
  }
  const int stored = constraint.is_sparse() ? constraint.first_entry(m) : m * constraint.columns;
  for (int i = 0; i < stored; ++i) all += w.K[i] * w.K[i];
  const T margin = T(1.0) / sqrt(inverse * all);
  return select_less(T(0.0), margin, margin, T(0.0));
}

}  // namespace espalier::detail
