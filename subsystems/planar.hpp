#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <espalier/plugin.hpp>
#include <numbers>
#include <type_traits>

#include "espalier/kernel/text.hpp"

/// What planar linkages have in common.

namespace espalier {

template <class T>
struct PlanarVector {
  T x, y;
};

/// Sines and cosines of several angles; of doubles, they are taken side by side.
template <class T, int n>
void sincos_of(const T (&angle)[n], T (&s)[n], T (&c)[n]) {
  if constexpr (std::is_same_v<T, double>) {
    static_assert(n <= Quad::size);
    Quad angles(angle[0]), sines, cosines;
    for (int k = 1; k < n; ++k) angles.set(k, angle[k]);
    sincos(angles, sines, cosines);
    for (int k = 0; k < n; ++k) s[k] = sines[k], c[k] = cosines[k];
  } else {
    for (int k = 0; k < n; ++k) sincos(angle[k], s[k], c[k]);
  }
}

/// length (cos angle, sin angle) for each of several.
template <class T, int n>
std::array<PlanarVector<T>, n> along(const double (&length)[n], const T (&angle)[n]) {
  T s[n], c[n];
  sincos_of(angle, s, c);
  std::array<PlanarVector<T>, n> all;
  for (int k = 0; k < n; ++k) all[k] = {length[k] * c[k], length[k] * s[k]};
  return all;
}

/// The angle less whole turns, in (-pi, pi].
inline double principal(double angle) {
  const double x = std::remainder(angle, 2.0 * std::numbers::pi);
  return x <= -std::numbers::pi ? std::numbers::pi : x;
}

/// Direction `angle` of a point that is `r` from the origin and `s` from (x, y): to the right of
/// the line from the origin to (x, y) on branch 0, to the left on branch 1. False if there is none.
inline bool circles_meet(double x, double y, double r, double s, int branch, double& angle) {
  const double d2 = x * x + y * y, d = std::sqrt(d2);
  const double cos = (d2 + r * r - s * s) / (2.0 * d * r);
  if (!(std::abs(cos) <= 1.0)) return false;
  angle = std::atan2(y, x) + (branch == 0 ? -1.0 : 1.0) * std::acos(cos);
  return true;
}

/// The parameter `branch`, from 0 to count - 1; default 0.
inline int branch_of(const PartSpec& spec, int count) {
  const double branch = spec.number("branch", 0.0);
  for (int i = 0; i < count; ++i) {
    if (branch == i) return i;
  }
  spec.refuse("branch", branch, "a whole number from 0 to " + std::to_string(count - 1));
}

/// "'crank' 0.1, 'rod' 0.02, 'offset' 0.05": what decides whether a linkage closes.
inline std::string lengths_of(const PartSpec& spec) {
  std::string all;
  for (const char* key : {"crank", "coupler", "rocker", "rod", "pivot", "offset"}) {
    const auto given = spec.parameters.find(key);
    if (given == spec.parameters.end()) continue;
    all += (all.empty() ? "" : ", ") + text::quoted(key);
    for (const double x : given->second) all += " " + text::number(x);
  }
  return all;
}

/// Where the three positions (crank, and what follows it) of a linkage are zero: as `zeros` says,
/// or at the crank's direction `angle` on `branch`, or where all bars point along x.
template <class Linkage>
void settle_zeros(const Linkage& linkage, const PartSpec& spec, double* zeros) {
  if (!spec.has("angle")) {
    if (spec.has("branch")) spec.refuse("angle", "missing", "the crank's direction on the branch");
    const std::vector<double> given = spec.numbers("zeros", 3, std::vector<double>{0, 0, 0});
    std::copy(given.begin(), given.end(), zeros);
    return;
  }
  if (spec.has("zeros")) spec.refuse("zeros", "given beside 'angle'", "one of the two");
  double q[3] = {spec.number("angle"), 0.0, 0.0};
  if (!linkage.solve(q, branch_of(spec, 2))) {
    spec.refuse("angle", q[0],
                "a direction of the crank in which the loop closes (" + lengths_of(spec) +
                    " do not reach each other there)");
  }
  std::copy(q, q + 3, zeros);
}

}  // namespace espalier
