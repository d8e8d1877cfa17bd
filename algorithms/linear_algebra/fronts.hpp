#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/linear_algebra/front_plan.hpp"
#include "espalier/kernel/model/loops/loop_block_code.hpp"

namespace espalier {

/// Solves H x = r + K^T lam, K x = 0 along a FrontPlan, for some variables that are kept last.
///
/// With C the rows of a block, d its dependents and A = -C_d^-1 C_rest, d = A rest, so that
///   B = M_d,rest + 1/2 M_dd A;  M_rest += A^T B + B^T A;  r_rest += A^T r_d
/// and for a free variable u, u = (r_u - M_u,rest rest) / M_uu,
///   M_rest -= M_u^T M_u / M_uu;  r_rest -= M_u^T r_u / M_uu.
/// The right-hand side is one more column of M, in which A has zeros.
/// Source: theory/large-clusters C.3 (up 1, up 3, out).
template <class T>
class Fronts {
 public:
  Fronts(const ClusterConstraint& constraint, FrontPlan plan)
      : constraint_(&constraint),
        plan_(std::move(plan)),
        H_(plan_.pairs, T(0.0)),
        r_(plan_.variables + plan_.kept, T(0.0)),
        M_(plan_.matrices, T(0.0)),
        F_(plan_.factors, T(0.0)),
        B_(plan_.widest),
        inverse_(constraint.blocks->largest * constraint.blocks->largest) {}

  /// To be filled before factor(): H in the order of the plan's pairs, r per variable.
  T* H() { return H_.data(); }
  T* r() { return r_.data(); }

  /// Eliminates all variables but the kept ones.
  /// @param w  with K and its factored blocks
  void factor(const ConstraintWorkspace<T>& w) {
    for (const FrontPlan::Front& front : plan_.fronts) {
      assemble(front);
      for (std::size_t s = 0; s < front.steps.size();) {
        if (front.steps[s].block >= 0) {
          eliminate_block(front, front.steps[s++], w);
        } else {
          s += eliminate_free(front, s);
        }
      }
    }
  }
  /// After factor(): what is left of H, i <= j, and of r, for the kept variables.
  const T& left(int i, int j) const {
    return M_[plan_.fronts.back().matrix + i * (plan_.kept + 1) + j];
  }
  const T& left(int i) const { return left(i, plan_.kept); }

  /// After factor(): the variables for given kept ones.
  /// @param[in,out] x  per variable
  void solve(T* x) const {
    for (std::size_t f = plan_.fronts.size(); f-- > 0;) {
      const FrontPlan::Front& front = plan_.fronts[f];
      const int* variable = front.variables.data();
      for (std::size_t s = front.steps.size(); s-- > 0;) {
        const FrontPlan::Step& step = front.steps[s];
        const int start = step.first + step.size, rest = front.size() - start;
        const T* row = F_.data() + step.factor;
        for (int i = 0; i < step.size; ++i, row += rest + 1) {
          T sum = step.block < 0 ? row[rest] : T(0.0);
          for (int j = 0; j < rest; ++j) sum += row[j] * x[variable[start + j]];
          x[variable[step.first + i]] = sum;
        }
      }
    }
  }

 private:
  static constexpr std::size_t most_at_once = 4;

  /// What is given, and what the children left.
  void assemble(const FrontPlan::Front& front) {
    T* M = M_.data() + front.matrix;
    const int size = front.size(), length = front.row_length();
    std::fill(M, M + size * length, T(0.0));
    for (const FrontPlan::Entry& e : front.H) M[e.position] = H_[e.value];
    for (int i = 0; i < front.eliminated; ++i) M[i * length + size] = r_[front.variables[i]];
    for (const FrontPlan::Child& child : front.children) {
      const FrontPlan::Front& from = plan_.fronts[child.front];
      const T* left = M_.data() + from.matrix;
      for (std::size_t a = 0; a + 1 < child.runs.size(); ++a) {
        const FrontPlan::Run& rows = child.runs[a];
        for (int i = 0; i < rows.length; ++i) {
          const T* source = left + (rows.from + i) * from.row_length();
          T* target = M + (rows.to + i) * length;
          for (std::size_t b = a; b < child.runs.size(); ++b) {
            const FrontPlan::Run& run = child.runs[b];
            for (int j = b == a ? i : 0; j < run.length; ++j) {
              target[run.to + j] += source[run.from + j];
            }
          }
        }
      }
    }
  }

  /// Several free variables, as many as stand side by side and most_at_once: what is left of M is
  /// read and written once for all of them. @returns how many
  std::size_t eliminate_free(const FrontPlan::Front& front, std::size_t first) {
    std::size_t n = 1;
    while (n < most_at_once && first + n < front.steps.size() && front.steps[first + n].block < 0) {
      ++n;
    }
    const FrontPlan::Step* steps = &front.steps[first];
    if (n == 4) eliminate_free<4>(front, steps);
    if (n == 3) eliminate_free<3>(front, steps);
    if (n == 2) eliminate_free<2>(front, steps);
    if (n == 1) eliminate_free<1>(front, steps);
    return n;
  }
  /// Of each its row over -M_uu is kept, with r_u / M_uu at the end.
  template <int n>
  void eliminate_free(const FrontPlan::Front& front, const FrontPlan::Step* steps) {
    const int length = front.row_length(), first = steps[0].first, start = first + n;
    const int columns = length - start;
    T* M = M_.data() + front.matrix;
    const T* rows[n];
    const T* kept[n];  // of the columns from `start` on
    for (int u = 0; u < n; ++u) {
      T* row = M + (first + u) * length;
      for (int before = 0; before < u; ++before) {
        const T* F = F_.data() + steps[before].factor;
        add(rows[before][first + u], F + (u - before - 1), length - first - u, row + first + u);
      }
      T* F = F_.data() + steps[u].factor;
      const T inverse = T(-1.0) / row[first + u];
      for (int j = first + u + 1; j < length; ++j) F[j - first - u - 1] = row[j] * inverse;
      rows[u] = row, kept[u] = F + (n - 1 - u);
    }
    for (int k = 0; k + 1 < columns; ++k) {
      T factor[n];
      for (int u = 0; u < n; ++u) factor[u] = rows[u][start + k];
      T* __restrict target = M + (start + k) * length + start;
      for (int j = k; j < columns; ++j) {
        T sum = target[j];
        for (int u = 0; u < n; ++u) sum += factor[u] * kept[u][j];
        target[j] = sum;
      }
    }
    for (int u = 0; u < n; ++u) {
      T& right = F_[steps[u].factor + length - first - u - 2];
      right = -right;
    }
  }

  /// Its A is kept.
  void eliminate_block(const FrontPlan::Front& front, const FrontPlan::Step& step,
                       const ConstraintWorkspace<T>& w) {
    const int n = step.size, length = front.row_length(), start = step.first + n;
    const int columns = length - start;
    T* M = M_.data() + front.matrix;
    T* A = F_.data() + step.factor;
    follow(step, columns, w, A);
    for (int i = 0; i < n; ++i) {
      T* B = B_.data() + i * columns;
      const T* row = M + (step.first + i) * length + start;
      std::copy(row, row + columns, B);
      for (int j = 0; j < n; ++j) {
        const int low = std::min(i, j), high = std::max(i, j);
        add(T(0.5) * M[(step.first + low) * length + step.first + high], A + j * columns, columns,
            B);
      }
    }
    int i = 0;
    for (; i + 3 <= n; i += 3) add_products<3>(A + i * columns, columns, i, M, length, start);
    if (n - i == 2) add_products<2>(A + i * columns, columns, i, M, length, start);
    if (n - i == 1) add_products<1>(A + i * columns, columns, i, M, length, start);
  }
  /// A = -C_d^-1 C_rest.
  void follow(const FrontPlan::Step& step, int columns, const ConstraintWorkspace<T>& w, T* A) {
    const LoopBlocks::Block& block = constraint_->blocks->blocks[step.block];
    const int n = step.size;
    T* inverse = inverse_.data();  // column by column
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) inverse[j * n + i] = T(i == j ? 1.0 : 0.0);
      detail::solve_block(block, w, inverse + j * n);
    }
    T* C = B_.data();
    std::fill(C, C + n * columns, T(0.0));
    for (const FrontPlan::Entry& e : step.outside) C[e.position] = w.K[e.value];
    std::fill(A, A + n * columns, T(0.0));
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j)
        add(-inverse[j * n + i], C + j * columns, columns, A + i * columns);
    }
  }
  static void add(const T& factor, const T* __restrict x, int n, T* __restrict y) {
    for (int j = 0; j < n; ++j) y[j] += factor * x[j];
  }
  /// M_rest += A^T B + B^T A for n of a block's rows.
  template <int n>
  void add_products(const T* __restrict A, int columns, int first, T* M, int length, int start) {
    const T* __restrict B = B_.data() + first * columns;
    for (int k = 0; k + 1 < columns; ++k) {
      T a[n], b[n];
      for (int i = 0; i < n; ++i) a[i] = A[i * columns + k], b[i] = B[i * columns + k];
      T* __restrict target = M + (start + k) * length + start;
      for (int j = k; j < columns; ++j) {
        T sum = target[j];
        for (int i = 0; i < n; ++i) sum += a[i] * B[i * columns + j] + b[i] * A[i * columns + j];
        target[j] = sum;
      }
    }
  }

  const ClusterConstraint* constraint_;
  FrontPlan plan_;
  std::vector<T> H_, r_, M_, F_, B_, inverse_;
};

}  // namespace espalier
