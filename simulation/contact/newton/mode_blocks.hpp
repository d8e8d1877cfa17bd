#pragma once

#include <vector>

#include "espalier/kernel/scalar/reciprocal.hpp"
#include "espalier/simulation/contact/problems/lanes.hpp"

namespace espalier::contact {

/// W = (D + Q R)^-1 Q and y = (D + Q R)^-1 b, contact by contact and row by row: with J the rows
/// and R their compliance, (Q (J M^-1 J^T + R) + D) x = b is
///
///   (M + J^T W J) z = J^T y,  x = y - W J z.
///
/// Source: theory/contact 4.4.
template <class T>
class ModeBlocks {
 public:
  const T* W(int contact) const { return W_.data() + 9 * static_cast<std::size_t>(contact); }
  const T& w(int scalar) const { return W_[9 * static_cast<std::size_t>(contacts_) + scalar]; }

  void reserve(int contacts, int scalars) { W_.reserve(9 * contacts + scalars); }
  /// @param compliance  of contacts' normals
  /// @param[in,out] x   in: b; out: y
  void invert(int contacts, int scalars, const T* compliance, const T* Q, const T* D, T* x) {
    contacts_ = contacts;
    W_.resize(9 * static_cast<std::size_t>(contacts) + scalars);
    for (int c = 0; c < contacts; ++c) {
      invert_contact(Q + 9 * c, D + 9 * c, compliance[c], x + 3 * c, W_.data() + 9 * c);
    }
    for (int k = 0; k < scalars; ++k) {
      const T inverse = reciprocal(D[9 * contacts + k]);
      W_[9 * contacts + k] = inverse * Q[9 * contacts + k];
      x[3 * contacts + k] *= inverse;
    }
  }

 private:
  static void invert_contact(const T* Q, const T* D, const T& compliance, T* y, T* W) {
    // D + Q R = [a 0 0; c t; .] with t symmetric: normal first, then t = L diag(t1, s) L^T.
    const T a = reciprocal(D[0] + Q[0] * compliance);
    const T c1 = D[3] + Q[3] * compliance, c2 = D[6] + Q[6] * compliance;
    const T t = reciprocal(D[4]), l = D[5] * t, s = reciprocal(D[8] - l * D[5]);
    const auto solve = [&](T& n, T& x1, T& x2) {
      n *= a;
      x1 -= c1 * n, x2 -= c2 * n;
      x2 = (x2 - l * x1) * s;
      x1 = x1 * t - l * x2;
    };
    for (int k = 0; k < 3; ++k) {
      T n = Q[k], x1 = Q[3 + k], x2 = Q[6 + k];
      solve(n, x1, x2);
      W[k] = n, W[3 + k] = x1, W[6 + k] = x2;
    }
    solve(y[0], y[1], y[2]);
  }

  int contacts_ = 0;
  std::vector<T> W_;
};

/// N += K^T W K and f += K^T y for three rows K on a twist. N 6 x 6, row-major.
template <class T>
inline void fold_rows(const T* K, const T* other, const T* W, T* N) {
  T WK[3][6];
  for (int r = 0; r < 3; ++r) {
    for (int j = 0; j < 6; ++j) {
      WK[r][j] = W[3 * r] * other[j] + W[3 * r + 1] * other[6 + j] + W[3 * r + 2] * other[12 + j];
    }
  }
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      N[6 * i + j] += K[i] * WK[0][j] + K[6 + i] * WK[1][j] + K[12 + i] * WK[2][j];
    }
  }
}
template <class T>
inline void fold_impulse(const T* K, const T* y, T* f) {
  for (int i = 0; i < 6; ++i) f[i] += K[i] * y[0] + K[6 + i] * y[1] + K[12 + i] * y[2];
}
/// y -= W rates.
template <class T>
inline void unfold_rates(const T* W, const T* rates, T* y) {
  for (int r = 0; r < 3; ++r) {
    y[r] -= W[3 * r] * rates[0] + W[3 * r + 1] * rates[1] + W[3 * r + 2] * rates[2];
  }
}
/// rates += K z.
template <class T>
inline void add_rates(const T* K, const T* z, T* rates) {
  for (int r = 0; r < 3; ++r) {
    for (int j = 0; j < 6; ++j) rates[r] += K[6 * r + j] * z[j];
  }
}
}  // namespace espalier::contact
