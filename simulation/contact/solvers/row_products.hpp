#pragma once

#include <algorithm>
#include <type_traits>

#include "espalier/simulation/contact/problems/contact_impulses.hpp"

/// Products with the matrix G of all rows: as it is written, or by its factors Y Y^T + R.
///
/// Both have `start(lam)`, then `add(row, lam, sum)`, sum += G lam in the q rows of a block, and
/// `change(row, x)` where impulses of a block change by x: what sweeps ask for.

namespace espalier::contact {

template <class T>
class MatrixProduct {
 public:
  explicit MatrixProduct(const ImpulseProblem<T>& p) : p_(p) {}

  void start(const T* /*lam*/) const {}
  template <int q>
  void add(int row, const T* lam, T* sum) const {
    const int m = p_.size();
    const T* G = p_.G.data() + static_cast<std::size_t>(row) * m;
    for (int j = 0; j < m; ++j) {
      for (int r = 0; r < q; ++r) sum[r] += G[r * m + j] * lam[j];
    }
  }
  template <int q>
  void change(int /*row*/, const T* /*x*/) const {}

 private:
  const ImpulseProblem<T>& p_;
};

/// Keeps z = Y^T lam. Cost: O(d) a row for supports of d rates.
template <class T>
class FactorProduct {
 public:
  explicit FactorProduct(const ImpulseProblem<T>& p) : p_(p), f_(p.factors) {}

  void start(const T* lam) const {
    std::fill_n(f_.z, f_.rates, T(0.0));
    for (int c = 0; c < p_.contacts; ++c) change<3>(3 * c, lam + 3 * c);
    for (int i = 3 * p_.contacts; i < p_.size(); ++i) change<1>(i, lam + i);
  }
  template <int q>
  void add(int row, const T* lam, T* sum) const {
    T part[3][q];  // sums that do not wait for each other
    for (int k = 0; k < 3; ++k) std::fill_n(part[k], q, T(0.0));
    const T* Y = f_.Y + f_.stride * row;
    each_three(row, [&](std::size_t e, const T* z, auto count) {
      for (int k = 0; k < count; ++k) {
        for (int r = 0; r < q; ++r) part[k][r] += Y[r * f_.stride + e + k] * z[k];
      }
    });
    for (int r = 0; r < q; ++r) sum[r] += (part[0][r] + part[1][r]) + part[2][r];
    if (q == 3) sum[0] += f_.compliance[row / 3] * lam[row];
  }
  template <int q>
  void change(int row, const T* x) const {
    const T* Y = f_.Y + f_.stride * row;
    each_three(row, [&](std::size_t e, T* z, auto count) {
      for (int k = 0; k < count; ++k) {
        T sum = z[k];
        for (int r = 0; r < q; ++r) sum += Y[r * f_.stride + e + k] * x[r];
        z[k] = sum;
      }
    });
  }

 private:
  /// f(entry, where z has it, count) for all entries of a row: for three at once where their rates
  /// are neighbours, as those of a body that flies and of a leg's joints are; else one by one.
  template <class F>
  void each_three(int row, F&& f) const {
    const std::vector<int>& at = *f_.support[row];
    const std::size_t n = at.size();
    for (std::size_t e = 0; e < n;) {
      T* z = f_.z + at[e];
      if (e + 3 <= n && at[e + 2] == at[e] + 2) {
        f(e, z, std::integral_constant<int, 3>());
        e += 3;
      } else {
        f(e, z, std::integral_constant<int, 1>());
        ++e;
      }
    }
  }

  const ImpulseProblem<T>& p_;
  RowFactors<T> f_;
};

/// f(product) with the one that the problem has.
template <class T, class F>
inline void with_product(const ImpulseProblem<T>& p, F&& f) {
  if (p.factors) {
    f(FactorProduct<T>(p));
  } else {
    f(MatrixProduct<T>(p));
  }
}

/// u = G lam + g in the q rows of a block; sums stay in registers.
template <int q, class T, class Product>
inline void rates(const ImpulseProblem<T>& p, const Product& product, int row, const T* lam, T* u) {
  T sum[q];
  for (int r = 0; r < q; ++r) sum[r] = p.g[row + r];
  product.template add<q>(row, lam, sum);
  for (int r = 0; r < q; ++r) u[r] = sum[r];
}
/// u = G lam + g.
template <class T>
void rates(const ImpulseProblem<T>& p, const T* lam, T* u) {
  with_product(p, [&](const auto& product) {
    product.start(lam);
    for (int i = 0; i < 3 * p.contacts; i += 3) rates<3>(p, product, i, lam, u + i);
    for (int i = 3 * p.contacts; i < p.size(); ++i) rates<1>(p, product, i, lam, u + i);
  });
}
/// w = G x.
template <class T>
void multiply(const ImpulseProblem<T>& p, const T* x, T* w) {
  std::fill_n(w, p.size(), T(0.0));
  with_product(p, [&](const auto& product) {
    product.start(x);
    for (int i = 0; i < 3 * p.contacts; i += 3) product.template add<3>(i, x, w + i);
    for (int i = 3 * p.contacts; i < p.size(); ++i) product.template add<1>(i, x, w + i);
  });
}

/// Entry of G where only blocks on the diagonal may be written.
template <class T>
T entry(const ImpulseProblem<T>& p, int i, int j) {
  const auto block = [&](int row) { return row < 3 * p.contacts ? row / 3 : row; };
  if (!p.factors ||
      (i == j || (block(i) == block(j) && i < 3 * p.contacts && j < 3 * p.contacts))) {
    return p.G[static_cast<std::size_t>(i) * p.size() + j];
  }
  const std::vector<int>&a = *p.factors.support[i], &b = *p.factors.support[j];
  const T *x = p.factors.Y + p.factors.stride * i, *y = p.factors.Y + p.factors.stride * j;
  T sum(0.0);
  for (std::size_t k = 0, l = 0; k < a.size() && l < b.size();) {
    if (a[k] == b[l]) sum += x[k] * y[l];
    const bool first = a[k] <= b[l], second = b[l] <= a[k];
    k += first, l += second;
  }
  return sum;
}

/// Writes all of G where only blocks on the diagonal are.
template <class T>
void complete(ImpulseProblem<T>& p) {
  const int m = p.size();
  for (int i = 0; i < m && p.factors; ++i) {
    for (int j = 0; j < i; ++j) {
      const T x = entry(p, i, j);
      p.G[static_cast<std::size_t>(i) * m + j] = p.G[static_cast<std::size_t>(j) * m + i] = x;
    }
  }
}

}  // namespace espalier::contact
