#include "benchmarks/sensors/matrix_form.hpp"

#include <array>
#include <cmath>
#include <map>
#include <stdexcept>
#include <vector>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/spatial/inertia.hpp"

namespace espalier::bench {

namespace {

/// Rounding of sums that are zero, and of zeros and ones of frames: entries are of order one to
/// some hundreds.
constexpr double tiny = 1e-9;

using Row = std::map<int, double>;
using Sparse = std::vector<Row>;
using Block = std::array<std::array<double, 6>, 6>;

bool is_one(double x) { return std::fabs(std::fabs(x) - 1.0) < tiny; }

/// Operations on sparse rows, counted.
class Counting {
 public:
  /// to += factor * row.
  void add(double factor, const Row& row, Row& to) {
    for (const auto& [column, x] : row) {
      if (!is_one(factor) && !is_one(x)) ++count.multiplications;
      const auto [at, is_new] = to.try_emplace(column, factor * x);
      if (is_new) continue;
      ++count.additions;
      at->second += factor * x;
    }
  }
  /// A B.
  Sparse product(const Sparse& A, const Sparse& B) {
    Sparse out(A.size());
    for (std::size_t i = 0; i < A.size(); ++i) {
      for (const auto& [k, a] : A[i]) add(a, B[k], out[i]);
      std::erase_if(out[i], [](const auto& entry) { return std::fabs(entry.second) < tiny; });
    }
    return out;
  }
  /// L y = b, L lower triangular.
  Sparse substituted(const Sparse& L, Sparse b) {
    for (std::size_t i = 0; i < L.size(); ++i) {
      for (const auto& [k, x] : L[i]) {
        if (k > static_cast<int>(i)) {
          throw std::runtime_error(
              "matrix form of the ABA: an entry is above the diagonal, "
              "expected a lower triangular matrix");
        }
        if (k < static_cast<int>(i)) add(-x, b[k], b[i]);
      }
    }
    return b;
  }

  LuCount count;
};

Sparse sparse(const Block& dense) {
  Sparse out(6);
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      if (std::fabs(dense[i][j]) > tiny) out[i][j] = dense[i][j];
    }
  }
  return out;
}
Sparse transposed(const Sparse& A) {
  Sparse out(6);
  for (int i = 0; i < 6; ++i) {
    for (const auto& [j, x] : A[i]) out[j][i] = x;
  }
  return out;
}
/// The motion transform of X, by the twists that it makes of unit twists.
Sparse matrix(const Transform<double>& X) {
  Block out;
  for (int j = 0; j < 6; ++j) {
    Motion<double> unit = Motion<double>::zero();
    unit[j] = 1.0;
    const Motion<double> column = X * unit;
    for (int i = 0; i < 6; ++i) out[i][j] = column[i];
  }
  return sparse(out);
}
Sparse matrix(const RigidInertia<double>& I) {
  Block out;
  for (int j = 0; j < 6; ++j) {
    Motion<double> unit = Motion<double>::zero();
    unit[j] = 1.0;
    const Force<double> column = I * unit;
    for (int i = 0; i < 6; ++i) out[i][j] = column[i];
  }
  return sparse(out);
}

constexpr int axis = 2;  ///< S = e_z, angular

/// The chain's matrices by bodies 1, 2, ...; rows and unknowns f_n, ..., f_1, a_1, ..., a_n, and
/// then torques and qdd.
class Chain {
 public:
  explicit Chain(const Model& model) : n_(model.body_count()), X_(n_ + 1), I_(n_ + 1), IA_(n_ + 1) {
    std::vector<double> q(model.nq());
    model.random(1, q.data());
    SpanningMotion<double> motion(model);
    motion.update(q.data(), nullptr);
    for (int i = 1; i <= n_; ++i) {
      X_[i] = matrix(motion.joints.X[i]);
      I_[i] = matrix(model.body(i).inertia);
    }
  }

  LuCount count() {
    articulate();
    Sparse D = equations(), b(D.size());
    for (Row& row : b) row[0] = 1.5;  // full, and no one
    D = run_.product(D, right());
    for (const Sparse& W : {substitute_a(), divide(), substitute_qdd(), substitute_a_in_f()}) {
      D = run_.product(W, D);
      b = run_.product(W, b);
    }
    b = run_.substituted(D, std::move(b));
    run_.product(right(), b);
    return run_.count;
  }

 private:
  int f(int i) const { return 6 * (n_ - i); }
  int a(int i) const { return 6 * (n_ + i - 1); }
  int rate(int i) const { return 12 * n_ + i - 1; }
  Sparse identity() const {
    Sparse out(13 * n_);
    for (int i = 0; i < 13 * n_; ++i) out[i][i] = 1.0;
    return out;
  }
  static void put(const Sparse& block, double factor, int row, int column, Sparse& out) {
    for (int i = 0; i < 6; ++i) {
      for (const auto& [j, x] : block[i]) out[row + i][column + j] = factor * x;
    }
  }

  /// IA_i = I_i + X^T (IA_j - U D^-1 U^T) X, j the next body.
  void articulate() {
    for (int i = n_; i >= 1; --i) {
      IA_[i] = I_[i];
      if (i == n_) continue;
      Sparse Ia = IA_[i + 1];
      const Row U = Ia[axis];  // symmetric
      const double inverse = 1.0 / U.at(axis);
      for (int k = 0; k < 6; ++k) {
        if (U.contains(k)) run_.add(-inverse * U.at(k), U, Ia[k]);
      }
      for (Row& row : Ia) {
        std::erase_if(row, [](const auto& entry) { return std::fabs(entry.second) < tiny; });
      }
      const Sparse& X = X_[i + 1];
      const Sparse there = run_.product(transposed(X), run_.product(Ia, X));
      for (int k = 0; k < 6; ++k) run_.add(1.0, there[k], IA_[i][k]);
    }
  }
  /// f_i - I_i a_i - X^T f_j = ..., a_i - X a_(i-1) - S qdd_i = ..., S^T f_i = tau_i.
  Sparse equations() const {
    Sparse D = identity();
    for (int i = 1; i <= n_; ++i) {
      put(I_[i], -1.0, f(i), a(i), D);
      if (i < n_) put(transposed(X_[i + 1]), -1.0, f(i), f(i + 1), D);
      if (i > 1) put(X_[i], -1.0, a(i), a(i - 1), D);
      D[a(i) + axis][rate(i)] = -1.0;
      D[rate(i)] = {{f(i) + axis, 1.0}};
    }
    return D;
  }
  /// Step 1: f_i = pA_i + IA_i a_i.
  Sparse right() const {
    Sparse W = identity();
    for (int i = 1; i <= n_; ++i) put(IA_[i], 1.0, f(i), a(i), W);
    return W;
  }
  /// Step 2: a_i out of the torque's row.
  Sparse substitute_a() const {
    Sparse W = identity();
    for (int i = 1; i <= n_; ++i) {
      for (const auto& [j, x] : IA_[i][axis]) W[rate(i)][a(i) + j] = -x;
    }
    return W;
  }
  /// Step 3: the factor of qdd_i in it becomes 1.
  Sparse divide() const {
    Sparse W = identity();
    for (int i = 1; i <= n_; ++i) W[rate(i)][rate(i)] = 1.0 / IA_[i][axis].at(axis);
    return W;
  }
  /// Step 4: qdd_i out of the row of a_i.
  Sparse substitute_qdd() const {
    Sparse W = identity();
    for (int i = 1; i <= n_; ++i) W[a(i) + axis][rate(i)] = 1.0;
    return W;
  }
  /// Step 5: a_j out of the row of f_i.
  Sparse substitute_a_in_f() {
    Sparse W = identity();
    for (int i = 1; i < n_; ++i) {
      put(run_.product(transposed(X_[i + 1]), IA_[i + 1]), 1.0, f(i), a(i + 1), W);
    }
    return W;
  }

  int n_;
  std::vector<Sparse> X_, I_, IA_;
  Counting run_;
};

}  // namespace

LuCount count_matrix_form(const Model& model) { return Chain(model).count(); }

}  // namespace espalier::bench
