#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "espalier/kernel/problems/algorithm.hpp"
#include "tests/support/random.hpp"

/// States of a model, and how far two results are apart.

namespace espalier::test {

struct State {
  std::vector<double> q, v, tau, vdot;
  /// Wrenches on links, link frame.
  std::vector<std::pair<std::string, Force<double>>> wrenches_on;

  template <class T = double>
  Wrenches<T> wrenches(const ModelPtr& model) const {
    Wrenches<T> all(model);
    for (const auto& [link, wrench] : wrenches_on) all.add(link, Force<T>::from(wrench));
    return all;
  }
};

/// Positions inside the limits, rates and forces of order 1, wrenches on a few links.
inline State random_state(const Model& model, unsigned long long seed) {
  Rng rng(seed);
  State s;
  s.q.resize(model.nq());
  model.random(seed, s.q.data());
  s.v = rng.vector(model.nv());
  s.tau = rng.vector(model.nv(), 5.0);
  s.vdot = rng.vector(model.nv(), 5.0);
  for (int k = 0; k < 3; ++k) {
    const Link& link = model.links()[rng.below(static_cast<int>(model.links().size()))];
    s.wrenches_on.push_back({link.name, {rng.vec3(3.0), rng.vec3(3.0)}});
  }
  return s;
}

/// For a tree: q moved along v for time t.
inline std::vector<double> moved(const Model& model, const std::vector<double>& q,
                                 std::vector<double> v, double t) {
  for (double& x : v) x *= t;
  std::vector<double> out(q.size());
  model.integrate(q.data(), v.data(), out.data());
  return out;
}
/// a + t b.
inline std::vector<double> combined(std::vector<double> a, double t, const std::vector<double>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += t * b[i];
  return a;
}

inline double largest(const std::vector<double>& a) {
  double x = 0.0;
  for (const double ai : a) x = std::max(x, std::abs(ai));
  return x;
}
inline double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double x = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    if (std::isnan(d)) return d;
    x = std::max(x, d);
  }
  return x;
}
/// Largest difference against the larger of 1 and the largest entry of the reference.
inline double relative_difference(const std::vector<double>& a, const std::vector<double>& ref) {
  return largest_difference(a, ref) / std::max(1.0, largest(ref));
}

inline double inner(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// d/dt at t = 0 of a function of time, by central differences of fourth order: with derivatives of
/// size D, truncation is D step^4 / 30 and rounding 2e-16 D / step, both below 1e-12 D at 1e-3.
template <class F>
auto derivative(F&& f, double step = 1e-3) {
  const auto a = f(step), b = f(-step), c = f(2 * step), d = f(-2 * step);
  auto out = a;
  if constexpr (requires { a.size(); }) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      out[i] = (8.0 * (a[i] - b[i]) - (c[i] - d[i])) / (12.0 * step);
    }
  } else {
    out = (8.0 * (a - b) - (c - d)) / (12.0 * step);
  }
  return out;
}

}  // namespace espalier::test
