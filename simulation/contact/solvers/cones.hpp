#pragma once

#include "espalier/kernel/scalar/reciprocal.hpp"
#include "simulation/contact/solvers/row_products.hpp"

/// Cones, residuals and sweeps that all solvers share.

namespace espalier::contact {

template <class T>
void scales(const ImpulseProblem<T>& p, T* d) {
  const int m = p.size();
  const auto G = [&](int i) -> const T& { return p.G[static_cast<std::size_t>(i) * (m + 1)]; };
  for (int c = 0; c < p.contacts; ++c) {
    const T trace = G(3 * c) + G(3 * c + 1) + G(3 * c + 2);
    // A row that nothing moves has d = 0; its rate is then compared as it is.
    d[c] = larger(larger(G(3 * c), T(1e-9) * trace), T(1e-300));
  }
  for (int k = 0; k < p.scalars; ++k) {
    d[p.contacts + k] = larger(G(3 * p.contacts + k), T(1e-300));
  }
}

/// Length of a vector by the sum of squares, and its reciprocal, which is finite for all vectors.
template <class T>
struct Length {
  explicit Length(const T& squares)
      : inverse(reciprocal_root(larger(squares, T(1e-300)))), length(squares * inverse) {}
  T inverse, length;
};

/// The point of the cone |t| <= mu n that is nearest to a.
template <class T>
inline void project(const T& mu, const T* a, T* lam) {
  const Length<T> of(a[1] * a[1] + a[2] * a[2]);
  const T& q = of.length;
  // Without friction the cone is a ray, and q <= mu a_n holds on both sides of its tip.
  const Mask<T> inside = less_equal(q, mu * a[0]) & less_equal(T(0.0), a[0]);
  const Mask<T> polar = less_equal(mu * q, -a[0]);
  const T n = (a[0] + mu * q) * reciprocal(T(1.0) + mu * mu), t = mu * n * of.inverse;
  lam[0] = select(inside, a[0], select(polar, T(0.0), n));
  for (int k = 1; k < 3; ++k) {
    lam[k] = select(inside, a[k], select(polar, T(0.0), t * a[k]));
  }
}

/// Into the cone with the normal impulse kept.
template <class T>
inline void clip_contact(const T& mu, T* lam) {
  lam[0] = larger(lam[0], T(0.0));
  const Length<T> of(lam[1] * lam[1] + lam[2] * lam[2]);
  const T most = mu * lam[0];
  const T s = select(less_equal(of.length, most), T(1.0), most * of.inverse);
  lam[1] *= s, lam[2] *= s;
}

/// Bounds of a scalar row.
template <class T>
struct Bounds {
  T low, high;
};
template <class T>
inline Bounds<T> bounds(const ImpulseProblem<T>& p, int scalar, const T* lam) {
  if (scalar < p.first_turning()) return {p.lower[scalar], p.upper[scalar]};
  const T most = p.upper[scalar] * larger(lam[3 * p.contact_of_turning(scalar)], T(0.0));
  return {-most, most};
}

template <class T>
void clip_all(const ImpulseProblem<T>& p, T* lam) {
  for (int c = 0; c < p.contacts; ++c) clip_contact(p.mu[c], lam + 3 * c);
  for (int k = 0; k < p.scalars; ++k) {
    T& x = lam[3 * p.contacts + k];
    const Bounds<T> within = bounds(p, k, lam);
    x = clip(x, within.low, within.high);
  }
}

/// Natural residual at lam and its rates u, at least what contacts approach by. NaN where any row
/// has NaN.
///
/// Cones and bounds are scaled with the row instead of the rates: |d lam - P(d lam - u - ...)|.
template <class T>
T residual(const ImpulseProblem<T>& p, const T* d, const T* lam, const T* u) {
  T worst(0.0);  // its square: one root for all rows
  const auto take = [&](const T& r) { worst = select(less_equal(r, worst), worst, r); };
  T poison(0.0);  // NaN - NaN, so that a later number does not hide a NaN
  for (int c = 0; c < p.contacts; ++c) {
    const T* v = u + 3 * c;
    const T l[3] = {d[c] * lam[3 * c], d[c] * lam[3 * c + 1], d[c] * lam[3 * c + 2]};
    const T slide = p.mu[c] * Length<T>(v[1] * v[1] + v[2] * v[2]).length;
    const T a[3] = {l[0] - (v[0] + slide), l[1] - v[1], l[2] - v[2]};
    T nearest[3];
    project(p.mu[c], a, nearest);
    T sum(0.0);
    for (int k = 0; k < 3; ++k) sum += (l[k] - nearest[k]) * (l[k] - nearest[k]);
    poison += (sum - sum);
    take(sum);
    // A steep cone is close to every direction: what approaches shows in the projection over mu.
    const T approach = larger(-v[0], T(0.0));
    take(approach * approach);
  }
  for (int k = 0; k < p.scalars; ++k) {
    const int i = 3 * p.contacts + k;
    const T& scale = d[p.contacts + k];
    const T l = scale * lam[i];
    const Bounds<T> within = bounds(p, k, lam);
    const T r = l - clip(l - u[i], scale * within.low, scale * within.high);
    poison += (u[i] - u[i]) + (r - r);
    take(r * r);
  }
  return sqrt(worst) + poison;
}

}  // namespace espalier::contact
