#pragma once

#include <algorithm>

#include "espalier/kernel/model/loops/loop_elimination.hpp"

/// What closes loops on packs: Newton's step of a cluster, and on which branch it lies. Of one
/// robot, LoopProjector. For whoever compiles it, as constraint_code.hpp.

namespace espalier::detail {

/// Writes the step of a cluster's dependent rates that takes phi to zero, in the least-squares
/// sense, at most half a radian or metre long; NaN where there is none. Those of the independent
/// rates are zero.
/// @param w     K as jacobian() leaves it
/// @param phi   of the rows of K; overwritten
/// @param step  of the model's spanning rates
template <class T>
static void newton_step(const ClusterConstraint& constraint, ConstraintWorkspace<T>& w, T* phi,
                        T* step) {
  const int m = constraint.rows(), n = static_cast<int>(constraint.dependent.size());
  const auto of = [&](int column) -> T& { return step[constraint.rate[column]]; };
  for (const int column : constraint.independent) of(column) = T(0.0);
  if (m < n) {
    for (const int column : constraint.dependent) of(column) = T(0.0) / T(0.0);
    return;
  }
  if (constraint.blocks) {
    factor_blocks(*constraint.blocks, w);
    solve_blocks(constraint, w, phi, step);
  } else {
    take_dependents(constraint, w, w.factor.data());
    qr_factor(w.factor.data(), m, n, w.beta.data());
    qr_solve(w.factor.data(), m, n, w.beta.data(), phi);
    for (int j = 0; j < n; ++j) of(constraint.dependent[j]) = phi[j];
  }
  T longest(0.5);
  for (const int column : constraint.dependent) {
    const T size = abs(of(column));
    longest = select_less(longest, size, size, longest);
  }
  const T scale = T(-0.5) / longest;
  for (const int column : constraint.dependent) of(column) *= scale;
}

/// Numbers that say on which branch a cluster lies.
inline std::size_t branch_size(const ClusterConstraint& constraint) {
  if (constraint.blocks) return constraint.blocks->blocks.size();
  return static_cast<std::size_t>(constraint.rows()) * constraint.dependent.size();
}
/// Writes them: of blocks 1 where the determinant is negative, else K's dependent columns.
/// @param w  K as jacobian() leaves it
template <class T>
static void take_branch(const ClusterConstraint& constraint, ConstraintWorkspace<T>& w, T* branch) {
  if (!constraint.blocks) return take_dependents(constraint, w, branch);
  factor_blocks(*constraint.blocks, w);
  for (const LoopBlocks::Block& block : constraint.blocks->blocks) {
    *branch++ = negative(block, w);
  }
}
/// 1 where no dead point lies between two positions by what take_branch() says of both, else 0:
/// the determinant of last^T now is positive. NaN gives 0.
template <class T>
static T same_branch(const ClusterConstraint& constraint, ConstraintWorkspace<T>& w, const T* last,
                     const T* now) {
  const T one(1.0), zero(0.0);
  if (constraint.blocks) {
    T same = one;
    for (std::size_t i = 0; i < constraint.blocks->blocks.size(); ++i) {
      same = select_less(abs(last[i] - now[i]), T(0.5), same, zero);
    }
    return same;
  }
  const int m = constraint.rows(), n = static_cast<int>(constraint.dependent.size());
  if (m < n) return zero;
  T* A = w.factor.data();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      T sum = zero;
      for (int k = 0; k < m; ++k) sum += last[k * n + i] * now[k * n + j];
      A[i * n + j] = sum;
    }
  }
  qr_factor(A, n, n, w.beta.data());
  T sign(n % 2 == 0 ? 1.0 : -1.0);  // every reflection turns that of the determinant
  for (int j = 0; j < n; ++j) {
    const T& inverse = w.beta[n + j];
    sign = select_less(zero, inverse, sign, select_less(inverse, zero, -sign, zero));
  }
  return select_less(zero, sign, one, zero);
}

}  // namespace espalier::detail
