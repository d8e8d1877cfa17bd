#pragma once

#include <cmath>
#include <espalier/plugin.hpp>

#include "subsystems/planar.hpp"

namespace espalier {

/// Slider-crank: the crank turns on the base about z, the rod turns on the tip of the crank, and
/// its tip is pinned to a slider that moves along x at the distance `offset` from the crank's
/// pivot. With e(a) = (cos a, sin a),
///   phi = r e(q0) + l e(q0 + q2) - (q1, offset) = 0
/// between the positions (q0, q1, q2) of crank, slider and rod.
///
/// Lengths `crank`, `rod` [m]. Zero positions as those of the four-bar: crank and rod along x and
/// the slider's pin at x = 0; or where the crank points along `angle` and the loop closes on
/// `branch` 0 (slider beyond the crank's tip) or 1 (before it); or by `zeros` (direction of the
/// crank, place of the slider, direction of the rod in the crank).
///
/// Input `base`: the crank's pivot, z along the axes. Bodies `crank`, `rod`, `slider`; each is an
/// output, the slider's origin is its pin.
/// Source: theory/clusters 5.5 with a prismatic joint for the rocker.
class SliderCrank {
 public:
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"crank", "rod", "offset", "angle", "branch", "zeros", ESPALIER_INERTIA_PARAMETERS("crank"),
       ESPALIER_INERTIA_PARAMETERS("rod"), ESPALIER_INERTIA_PARAMETERS("slider")});
  static constexpr auto law_parameters =
      std::to_array<std::string_view>({"crank", "rod", "offset", "angle", "branch", "zeros"});
  static constexpr std::array<std::string_view, 1> inputs{"base"};
  static constexpr std::array<std::string_view, 3> outputs{"crank", "rod", "slider"};
  static Parameters sample() {
    return {{"crank", {0.08}},
            {"rod", {0.2}},
            {"offset", {0.02}},
            {"angle", {0.7}},
            {"crank_mass", {0.3}},
            {"crank_com", {0.03, 0, 0}},
            {"crank_inertia", {1e-4, 3e-4, 3e-4, 0, 0, 0}},
            {"rod_mass", {0.2}},
            {"rod_com", {0.1, 0, 0.01}},
            {"rod_inertia", {1e-5, 8e-4, 8e-4, 0, 0, 0}},
            {"slider_mass", {0.6}},
            {"slider_inertia", {1e-4, 1e-4, 1e-4, 0, 0, 0}}};
  }

  explicit SliderCrank(const PartSpec& spec)
      : spec_(spec),
        crank_(spec.positive("crank")),
        rod_(spec.positive("rod")),
        offset_(spec.number("offset", 0.0)) {
    if (!(std::abs(offset_) < crank_ + rod_)) {
      spec.refuse("offset", offset_, "less than crank and rod together (they cannot reach it)");
    }
    settle_zeros(*this, spec, zero_);
  }

  void build(Assembly& a) const {
    a.body("crank", "continuous", "base", spec_.inertial("crank"), {{0, 0, 0}, {0, 0, zero_[0]}})
        .independent = true;
    a.body("slider", "prismatic", "base", spec_.inertial("slider"), {{zero_[1], offset_, 0}, {}})
        .axis = {1, 0, 0};
    a.body("rod", "continuous", "crank", spec_.inertial("rod"), {{crank_, 0, 0}, {0, 0, zero_[2]}});
    a.law<SliderCrank>("slider_crank", {"crank", "slider", "rod"}, spec_.parameters);
    for (const char* link : {"crank", "rod", "slider"}) a.output(link);
  }

  static constexpr int positions = 3, equations = 2;
  template <class T>
  void phi(const T* q, T* phi) const {
    const auto [crank, rod] = terms(q);
    phi[0] = crank.x + rod.x - q[1] - zero_[1];
    phi[1] = crank.y + rod.y - offset_;
  }
  /// The bars as vectors from pivot to tip, base axes.
  template <class T>
  struct Bars {
    PlanarVector<T> crank, rod;
  };
  template <class T>
  Bars<T> terms(const T* q) const {
    const T a0 = q[0] + zero_[0];
    const T angles[] = {a0, T(a0 + q[2] + zero_[2])};
    const auto [crank, rod] = along({crank_, rod_}, angles);
    return {crank, rod};
  }
  template <class T>
  void K(const Bars<T>& bars, T* K) const {
    const auto& [crank, rod] = bars;
    K[0] = -(crank.y + rod.y), K[1] = T(-1.0), K[2] = -rod.y;
    K[3] = crank.x + rod.x, K[4] = T(0.0), K[5] = rod.x;
  }
  template <class T>
  void k(const Bars<T>& bars, const T* qd, T* k) const {
    const auto& [crank, rod] = bars;
    const T w = qd[0] + qd[2], s0 = qd[0] * qd[0], s2 = w * w;
    k[0] = crank.x * s0 + rod.x * s2;
    k[1] = crank.y * s0 + rod.y * s2;
  }

  static constexpr int branches = 2;
  bool solve(double* q, int branch) const {
    const double a0 = q[0] + zero_[0];
    const double sine = (offset_ - crank_ * std::sin(a0)) / rod_;
    if (!(std::abs(sine) <= 1.0)) return false;
    const double a = branch == 0 ? std::asin(sine) : std::numbers::pi - std::asin(sine);
    q[1] = crank_ * std::cos(a0) + rod_ * std::cos(a) - zero_[1];
    q[2] = principal(a - a0 - zero_[2]);
    return true;
  }

 private:
  PartSpec spec_;
  double crank_, rod_, offset_;
  double zero_[3] = {0, 0, 0};
};

}  // namespace espalier
