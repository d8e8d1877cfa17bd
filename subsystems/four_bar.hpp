#pragma once

#include <cmath>
#include <espalier/plugin.hpp>

#include "subsystems/planar.hpp"

namespace espalier {

/// Planar four-bar: crank and rocker turn on the base about z, the coupler turns on the tip of the
/// crank, and its tip is pinned to the tip of the rocker. With e(a) = (cos a, sin a),
///   phi = l0 e(q0) + l2 e(q0 + q2) - off - l1 e(q1) = 0
/// between the positions (q0, q1, q2) of crank, rocker and coupler; off is the rocker's pivot.
///
/// Lengths `crank`, `coupler`, `rocker` [m]; `pivot` = (x, y) of the rocker's pivot in the base.
/// Bars point along x of their frames. At zero position they do so along x of the base, too, unless
/// `angle` is given, the direction of the crank at zero position: then the other two are where the
/// four-bar closes on `branch` 0 (rocker to the right of the line from its pivot to the crank's
/// tip, as in a parallelogram) or 1 (to its left), so that the zero position is assembled. `zeros`
/// gives the directions (of crank and rocker in the base, of the coupler in the crank) one by one.
///
/// Input `base`: the crank's pivot, z along the axes. Bodies `crank`, `rocker`, `coupler`; each is
/// an output.
/// Source: theory/clusters 5.5.
class FourBar {
 public:
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"crank", "coupler", "rocker", "pivot", "angle", "branch", "zeros",
       ESPALIER_INERTIA_PARAMETERS("crank"), ESPALIER_INERTIA_PARAMETERS("coupler"),
       ESPALIER_INERTIA_PARAMETERS("rocker")});
  static constexpr auto law_parameters = std::to_array<std::string_view>(
      {"crank", "coupler", "rocker", "pivot", "angle", "branch", "zeros"});
  static constexpr std::array<std::string_view, 1> inputs{"base"};
  static constexpr std::array<std::string_view, 3> outputs{"crank", "coupler", "rocker"};
  static Parameters sample() {
    return {{"crank", {0.1}},
            {"coupler", {0.25}},
            {"rocker", {0.2}},
            {"pivot", {0.22, 0.03}},
            {"angle", {1.2}},
            {"crank_mass", {0.3}},
            {"crank_com", {0.05, 0, 0.01}},
            {"crank_inertia", {1e-4, 4e-4, 4e-4, 0, 0, 0}},
            {"coupler_mass", {0.5}},
            {"coupler_com", {0.12, 0.01, 0}},
            {"coupler_inertia", {2e-4, 3e-3, 3e-3, 0, 0, 1e-4}},
            {"rocker_mass", {0.4}},
            {"rocker_com", {0.1, 0, -0.01}},
            {"rocker_inertia", {1e-4, 2e-3, 2e-3, 0, 0, 0}}};
  }

  explicit FourBar(const PartSpec& spec)
      : spec_(spec),
        crank_(spec.positive("crank")),
        rocker_(spec.positive("rocker")),
        coupler_(spec.positive("coupler")) {
    const std::vector<double> pivot = spec.numbers("pivot", 2);
    x_ = pivot[0], y_ = pivot[1];
    const double base = std::hypot(x_, y_);
    if (!(base > 0.0)) spec.refuse("pivot", "at the crank's own", "another place");
    const double longest = std::max({crank_, rocker_, coupler_, base});
    const double others = crank_ + rocker_ + coupler_ + base - longest;
    if (!(longest < others)) {
      spec.refuse(longest == crank_     ? "crank"
                  : longest == rocker_  ? "rocker"
                  : longest == coupler_ ? "coupler"
                                        : "pivot",
                  std::to_string(longest) + " m long",
                  "less than the other three bars together, " + std::to_string(others) +
                      " m (they cannot reach each other)");
    }
    settle_zeros(*this, spec, zero_);
  }

  void build(Assembly& a) const {
    const auto direction = [](double x, double y, double angle) {
      return Pose{{x, y, 0}, {0, 0, angle}};
    };
    a.body("crank", "continuous", "base", spec_.inertial("crank"), direction(0, 0, zero_[0]))
        .independent = true;
    a.body("rocker", "continuous", "base", spec_.inertial("rocker"), direction(x_, y_, zero_[1]));
    a.body("coupler", "continuous", "crank", spec_.inertial("coupler"),
           direction(crank_, 0, zero_[2]));
    a.law<FourBar>("four_bar", {"crank", "rocker", "coupler"}, spec_.parameters);
    for (const char* link : {"crank", "coupler", "rocker"}) a.output(link);
  }

  static constexpr int positions = 3, equations = 2;
  template <class T>
  void phi(const T* q, T* phi) const {
    const Bars<T> b = terms(q);
    phi[0] = b.crank.x + b.coupler.x - x_ - b.rocker.x;
    phi[1] = b.crank.y + b.coupler.y - y_ - b.rocker.y;
  }
  /// The bars as vectors from pivot to tip, base axes.
  template <class T>
  struct Bars {
    PlanarVector<T> crank, rocker, coupler;
  };
  template <class T>
  Bars<T> terms(const T* q) const {
    const T a0 = q[0] + zero_[0];
    const T angles[] = {a0, T(q[1] + zero_[1]), T(a0 + q[2] + zero_[2])};
    const auto [crank, rocker, coupler] = along({crank_, rocker_, coupler_}, angles);
    return {crank, rocker, coupler};
  }
  template <class T>
  void K(const Bars<T>& b, T* K) const {
    K[0] = -(b.crank.y + b.coupler.y), K[1] = b.rocker.y, K[2] = -b.coupler.y;
    K[3] = b.crank.x + b.coupler.x, K[4] = -b.rocker.x, K[5] = b.coupler.x;
  }
  template <class T>
  void k(const Bars<T>& b, const T* qd, T* k) const {
    const T w2 = qd[0] + qd[2], s0 = qd[0] * qd[0], s1 = qd[1] * qd[1], s2 = w2 * w2;
    k[0] = b.crank.x * s0 + b.coupler.x * s2 - b.rocker.x * s1;
    k[1] = b.crank.y * s0 + b.coupler.y * s2 - b.rocker.y * s1;
  }

  static constexpr int branches = 2;
  /// Rocker and coupler from the crank, in (-pi, pi].
  bool solve(double* q, int branch) const {
    const double a0 = q[0] + zero_[0];
    const double dx = crank_ * std::cos(a0) - x_, dy = crank_ * std::sin(a0) - y_;
    double a1 = 0.0;
    if (!circles_meet(dx, dy, rocker_, coupler_, branch, a1)) return false;
    const double a2 = std::atan2(rocker_ * std::sin(a1) - dy, rocker_ * std::cos(a1) - dx);
    q[1] = principal(a1 - zero_[1]);
    q[2] = principal(a2 - a0 - zero_[2]);
    return true;
  }

 private:
  PartSpec spec_;
  double crank_, rocker_, coupler_, x_ = 0.0, y_ = 0.0;
  double zero_[3] = {0, 0, 0};
};

}  // namespace espalier
