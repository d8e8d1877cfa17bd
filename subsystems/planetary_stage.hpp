#pragma once

#include <cmath>
#include <espalier/plugin.hpp>
#include <numbers>

namespace espalier {

/// Planetary gear stage. With the teeth Zs of the sun, Zr of the ring and Zp = (Zr - Zs) / 2 of the
/// planets,
///   Zs q_sun + Zr q_ring = (Zs + Zr) q_carrier,   q_planet = (Zr / Zp) (q_ring - q_carrier)
/// where the planets' positions are relative to the carrier.
///
/// `sun_teeth`, `ring_teeth` (or pitch diameters: only their ratio counts); `planets`, their number
/// (3); `radius` of the circle that their axes are on [m]; `fixed`: 0 none, 1 the sun, 2 the ring
/// (default), 3 the carrier is welded to the base.
///
/// Input `base`: all turn about its z axis. Bodies `sun`, `ring`, `carrier`, `planet1` ... on the
/// carrier, all planets with the inertia of `planet`; outputs `sun`, `ring`, `carrier`. Where none
/// is fixed, the massless `sun_mesh` and `ring_mesh` turn on the carrier as sun and ring do, seen
/// from it: thus all couplings are between two paths, and G is constant.
/// As a law: positions (carrier, ring, sun).
/// Source: Willis, Principles of Mechanism (1841).
class PlanetaryStage {
 public:
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"sun_teeth", "ring_teeth", "planets", "radius", "fixed", ESPALIER_INERTIA_PARAMETERS("sun"),
       ESPALIER_INERTIA_PARAMETERS("ring"), ESPALIER_INERTIA_PARAMETERS("carrier"),
       ESPALIER_INERTIA_PARAMETERS("planet")});
  static constexpr std::array<std::string_view, 2> law_parameters{"sun_teeth", "ring_teeth"};
  static constexpr std::array<std::string_view, 1> inputs{"base"};
  static constexpr std::array<std::string_view, 3> outputs{"sun", "ring", "carrier"};
  static Parameters sample() {
    return {{"sun_teeth", {24}},
            {"ring_teeth", {72}},
            {"radius", {0.024}},
            {"fixed", {0}},
            {"sun_mass", {0.05}},
            {"sun_inertia", {4e-6, 4e-6, 6e-6, 0, 0, 0}},
            {"ring_mass", {0.2}},
            {"ring_inertia", {2e-4, 2e-4, 4e-4, 0, 0, 0}},
            {"carrier_mass", {0.3}},
            {"carrier_com", {0.05, 0, 0.02}},
            {"carrier_inertia", {2e-4, 9e-4, 9e-4, 0, 0, 0}},
            {"planet_mass", {0.03}},
            {"planet_inertia", {2e-6, 2e-6, 3e-6, 0, 0, 0}}};
  }

  explicit PlanetaryStage(const PartSpec& spec)
      : spec_(spec), sun_(spec.positive("sun_teeth")), ring_(spec.positive("ring_teeth")) {
    if (!(ring_ > sun_)) {
      spec.refuse("ring_teeth", ring_,
                  "more than those of the sun (the planets run between the two)");
    }
    planets_ = whole("planets", 3.0, 1, 100);
    fixed_ = whole("fixed", 2.0, 0, 3);
  }

  void build(Assembly& a) const {
    const auto body = [&](const std::string& name, bool fixed) {
      a.body(name, fixed ? "fixed" : "continuous", "base", spec_.inertial(name));
      a.output(name);
    };
    body("sun", fixed_ == 1);
    body("ring", fixed_ == 2);
    body("carrier", fixed_ == 3);
    const double planet = 0.5 * (ring_ - sun_), both = sun_ + ring_;
    const double radius = spec_.number("radius", 0.0);
    // All that follows: of the path `from` to the base or the carrier, `factor` times to each
    // planet.
    std::string from;
    double factor = 0.0;
    switch (fixed_) {
      case 0:
        for (const std::string gear : {"sun", "ring"}) {
          a.body(gear + "_mesh", "continuous", "carrier", std::nullopt);
          a.couple(gear, gear + "_mesh", 1.0);
        }
        a.couple("ring_mesh", "sun_mesh", -ring_ / sun_);
        from = "ring_mesh", factor = ring_ / planet;
        break;
      case 1:  // planets: q_carrier + q_planet = (1 + Zs / Zp) q_carrier
        a.couple("carrier", "ring", both / ring_);
        from = "ring", factor = (1.0 + sun_ / planet) * ring_ / both;
        break;
      case 2:
        a.couple("carrier", "sun", both / sun_);
        from = "sun", factor = (1.0 - ring_ / planet) * sun_ / both;
        break;
      default:
        a.couple("sun", "ring", -sun_ / ring_);
        from = "sun", factor = -sun_ / planet;
    }
    for (int i = 1; i <= planets_; ++i) {
      const double angle = 2.0 * std::numbers::pi * (i - 1) / planets_;
      const std::string name = "planet" + std::to_string(i);
      a.body(name, "continuous", "carrier", spec_.inertial("planet"),
             {{radius * std::cos(angle), radius * std::sin(angle), 0}, {0, 0, 0}});
      a.couple(from, name, factor);
    }
  }

  static constexpr int independent = 2, dependent = 1;
  template <class T>
  void gamma(const T* y, T* q) const {
    q[0] = ((sun_ + ring_) / sun_) * y[0] - (ring_ / sun_) * y[1];
  }
  template <class T>
  void G(const T* /*y*/, T* G) const {
    G[0] = T((sun_ + ring_) / sun_), G[1] = T(-ring_ / sun_);
  }
  template <class T>
  void g(const T* /*y*/, const T* /*yd*/, T* g) const {
    g[0] = T(0.0);
  }

 private:
  int whole(const char* key, double fallback, int least, int most) const {
    const double value = spec_.number(key, fallback);
    if (!(value >= least && value <= most) || value != std::floor(value)) {
      spec_.refuse(key, value,
                   "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    return static_cast<int>(value);
  }

  PartSpec spec_;
  double sun_, ring_;
  int planets_ = 3, fixed_ = 2;
};

}  // namespace espalier
