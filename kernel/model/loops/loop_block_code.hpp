#pragma once

#include <algorithm>
#include <type_traits>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"

/// Elimination of a cluster's constraints block by block (LoopBlocks), and the small dense systems
/// of its blocks; for whoever compiles it, as constraint_code.hpp, and of algorithms for those that
/// go on with the blocks of SpanningMotion::constraint_work().

namespace espalier::detail {

/// Pivots that rounding leaves of zero, over what they are made of, are some 1e-16, in floats 1e-7.
template <class T>
inline constexpr double least_loop_pivot = is_single<T> ? 1e-6 : 1e-14;

/// Rows that a reflection changes, in the order of numbers: all of so many, or those of a list.
struct AllRows {
  int count;
  int operator[](int i) const { return i; }
};
struct ListedRows {
  const int* rows;
  int count;
  int operator[](int i) const { return rows[i]; }
};
/// Calls f(rows) for the first row and those in which a column is not zero. LoopBlocks orders large
/// blocks so that most have few; of packs no row is zero in all lanes for sure.
/// @param v  the column, every `stride`-th number
template <class T, class F>
static void with_rows(const T* v, int stride, int count, F&& f) {
  constexpr int least = 6, most = 64;  // of less, a list costs more than it saves
  if constexpr (std::is_same_v<T, double>) {
    if (count >= least && count <= most) {
      int list[most], listed = 1;
      list[0] = 0;
      for (int i = 1; i < count; ++i) {
        list[listed] = i;
        listed += v[i * stride] != 0.0 ? 1 : 0;
      }
      if (listed < count) return f(ListedRows{list, listed});
    }
  }
  f(AllRows{count});
}

/// X - v beta v^T X in place, of so many columns, whose sums stay in registers.
/// @param v  every `v_stride`-th number, one for each row of X
template <int columns, class T, class Rows>
static void reflect_columns(const T* v, int v_stride, const Rows& rows, const T& beta, T* X,
                            int stride) {
  T sums[columns];
  for (T& sum : sums) sum = T(0.0);
  for (int k = 0; k < rows.count; ++k) {
    const int i = rows[k];
    const T at = v[i * v_stride];
    for (int l = 0; l < columns; ++l) sums[l] += at * X[i * stride + l];
  }
  for (T& sum : sums) sum *= beta;
  for (int k = 0; k < rows.count; ++k) {
    const int i = rows[k];
    const T at = v[i * v_stride];
    for (int l = 0; l < columns; ++l) X[i * stride + l] -= sums[l] * at;
  }
}
/// The same of any number of columns.
template <class T, class Rows>
static void reflect(const T* v, int v_stride, const Rows& rows, const T& beta, T* X, int stride,
                    int columns) {
  int l = 0;
  for (; l + 4 <= columns; l += 4) reflect_columns<4>(v, v_stride, rows, beta, X + l, stride);
  for (; l + 2 <= columns; l += 2) reflect_columns<2>(v, v_stride, rows, beta, X + l, stride);
  if (l < columns) reflect_columns<1>(v, v_stride, rows, beta, X + l, stride);
}

/// A x = b in the least-squares sense, A of full column rank, by Householder reflections. A is
/// m x n, row-major; afterwards it holds R above the diagonal and the reflections below it.
template <class T>
static void qr_factor(T* A, int m, int n, T* beta) {
  for (int j = 0; j < n; ++j) {
    T* const v = A + j * n + j;
    with_rows(v, n, m - j, [&](const auto& rows) {
      T square = T(0.0);
      for (int i = 0; i < rows.count; ++i) square += v[rows[i] * n] * v[rows[i] * n];
      const T norm = sqrt(square), a = *v;
      const T alpha = select_less(a, T(0.0), norm, -norm);
      *v = a - alpha;
      // H = 1 - v v^T beta with v = column - alpha e_j and v^T v = 2 alpha (alpha - a).
      beta[j] = T(1.0) / (alpha * (alpha - a));
      reflect(v, n, rows, beta[j], v + 1, n, n - j - 1);
      beta[n + j] = T(1.0) / alpha;
    });
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
/// R X = B in place, for the first `size` of n unknowns, so many right-hand sides side by side.
template <int columns, class T>
static void back_substitute(const T* A, int n, int size, const T* beta, T* B, int stride) {
  for (int j = size - 1; j >= 0; --j) {
    T x[columns];
    for (int k = 0; k < columns; ++k) x[k] = B[j * stride + k];
    for (int l = j + 1; l < size; ++l) {
      const T& value = A[j * n + l];
      for (int k = 0; k < columns; ++k) x[k] -= value * B[l * stride + k];
    }
    for (int k = 0; k < columns; ++k) B[j * stride + k] = x[k] * beta[n + j];
  }
}
/// The same of any number of right-hand sides.
template <class T>
static void back_substitute_all(const T* A, int n, const T* beta, T* B, int columns) {
  int k = 0;
  for (; k + 4 <= columns; k += 4) back_substitute<4>(A, n, n, beta, B + k, columns);
  for (; k + 2 <= columns; k += 2) back_substitute<2>(A, n, n, beta, B + k, columns);
  if (k < columns) back_substitute<1>(A, n, n, beta, B + k, columns);
}
/// A x = b in the least-squares sense, of which the first n rows become x.
template <class T>
static void qr_solve(const T* A, int m, int n, const T* beta, T* b) {
  for (int j = 0; j < n; ++j) {
    const T* v = A + j * n + j;
    with_rows(v, n, m - j,
              [&](const auto& rows) { reflect_columns<1>(v, n, rows, beta[j], b + j, 1); });
  }
  back_substitute<1>(A, n, n, beta, b, 1);
}

/// A X = B in place, A square, of any number of right-hand sides.
template <class T>
static void qr_solve_all(const T* A, int n, const T* beta, T* B, int columns) {
  for (int j = 0; j < n; ++j) {
    const T* v = A + j * n + j;
    with_rows(v, n, n - j, [&](const auto& rows) {
      reflect(v, n, rows, beta[j], B + j * columns, columns, columns);
    });
  }
  back_substitute_all(A, n, beta, B, columns);
}

/// A^T x = b in place, A square.
template <class T>
static void qr_solve_transposed(const T* A, int n, const T* beta, T* b) {
  for (int j = 0; j < n; ++j) {
    for (int l = 0; l < j; ++l) b[j] -= A[l * n + j] * b[l];
    b[j] *= beta[n + j];
  }
  for (int j = n - 1; j >= 0; --j) {
    const T* v = A + j * n + j;
    with_rows(v, n, n - j,
              [&](const auto& rows) { reflect_columns<1>(v, n, rows, beta[j], b + j, 1); });
  }
}

// --- block by block -----------------------------------------------------------------------------

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
/// A X = B in place. @param B  size x nv, row-major
template <class T>
static void solve_block_for_all(const LoopBlocks::Block& block, const ConstraintWorkspace<T>& w,
                                T* B, int nv) {
  const T* A = w.factor.data() + block.factor;
  if (block.size == 1) {
    for (int j = 0; j < nv; ++j) B[j] *= A[0];
  } else if (block.size == 2) {
    for (int j = 0; j < nv; ++j) {
      const T x = B[j], y = B[nv + j];
      B[j] = A[0] * x + A[1] * y;
      B[nv + j] = A[2] * x + A[3] * y;
    }
  } else {
    qr_solve_all(A, block.size, w.beta.data() + 2 * block.first, B, nv);
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
  T* right = w.right.data();  // right-hand sides side by side, as G is stored
  for (const LoopBlocks::Block& block : all.blocks) {
    const int n = block.size;
    factor_block(all, block, w);
    spoil_singular_block(all, block, w);
    std::fill(right, right + n * nv, T(0.0));
    for (int e = block.outside; e < block.outside_end; ++e) {
      const LoopBlocks::Outside& entry = all.outside[e];
      const T& value = K[entry.value];
      for (int j = 0; j < nv; ++j) right[entry.row * nv + j] -= value * G[entry.column * nv + j];
    }
    solve_block_for_all(block, w, right, nv);
    for (int i = 0; i < n; ++i) {
      std::copy_n(right + i * nv, nv, G + all.columns[block.first + i] * nv);
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
    back_substitute<1>(A, n, j + 1, w.beta.data() + 2 * block.first, x, 1);
    for (int i = 0; i <= j; ++i) inverse += x[i] * x[i];
  }
  return T(1.0) / sqrt(inverse * rows);
}
/// 1 where the determinant of a factored block is negative, else 0.
template <class T>
static T negative(const LoopBlocks::Block& block, const ConstraintWorkspace<T>& w) {
  const T zero(0.0), one(1.0);
  const T* A = w.factor.data() + block.factor;
  if (block.size == 1) return select_less(A[0], zero, one, zero);
  if (block.size == 2) return select_less(A[0] * A[3] - A[1] * A[2], zero, one, zero);
  T sign(block.size % 2 == 1 ? -1.0 : 1.0);  // every reflection turns it
  const T* beta = w.beta.data() + 2 * block.first;
  for (int j = 0; j < block.size; ++j) sign = select_less(beta[block.size + j], zero, -sign, sign);
  return select_less(sign, zero, one, zero);
}

}  // namespace espalier::detail
