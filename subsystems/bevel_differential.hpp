#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// Bevel differential: two side gears that face each other on one axis, and between them a carrier
/// with the output gear, which meshes with both:
///   q_carrier = (q_left + q_right) / 2,   q_output = ratio (q_right - q_left) / 2
/// with ratio = teeth of a side gear / teeth of the output gear, where the left side gear is at
/// positive y and the output gear at positive x; negative turns the output round.
///
/// Input `base`: side gears and carrier turn about its y axis; the output turns about x of the
/// carrier. left_xyz, right_xyz place the side gears in the base, output_xyz the output in the
/// carrier. Bodies `left`, `right`, `carrier`, `output`; each is an output. The massless
/// `left_mesh` and `right_mesh` turn on the carrier as the side gears do, seen from it: thus all
/// couplings are between two paths, and G is constant.
/// As a law: positions (left, right, carrier, output).
/// Source: Willis' equation of a bevel gear train.
class BevelDifferential {
 public:
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"ratio", "left_xyz", "right_xyz", "output_xyz", ESPALIER_INERTIA_PARAMETERS("left"),
       ESPALIER_INERTIA_PARAMETERS("right"), ESPALIER_INERTIA_PARAMETERS("carrier"),
       ESPALIER_INERTIA_PARAMETERS("output")});
  static constexpr std::array<std::string_view, 1> law_parameters{"ratio"};
  static constexpr std::array<std::string_view, 1> inputs{"base"};
  static constexpr std::array<std::string_view, 4> outputs{"left", "right", "carrier", "output"};
  static Parameters sample() {
    return {{"ratio", {1.5}},
            {"left_xyz", {0, 0.03, 0}},
            {"right_xyz", {0, -0.03, 0}},
            {"output_xyz", {0.02, 0, 0}},
            {"left_mass", {0.1}},
            {"left_inertia", {2e-5, 4e-5, 2e-5, 0, 0, 0}},
            {"right_mass", {0.1}},
            {"right_inertia", {2e-5, 4e-5, 2e-5, 0, 0, 0}},
            {"carrier_mass", {0.2}},
            {"carrier_com", {0.01, 0, 0}},
            {"carrier_inertia", {1e-4, 2e-4, 2e-4, 0, 0, 0}},
            {"output_mass", {0.5}},
            {"output_com", {0.08, 0.01, 0}},
            {"output_inertia", {2e-4, 1e-3, 1e-3, 0, 0, 1e-4}}};
  }

  explicit BevelDifferential(const PartSpec& spec)
      : spec_(spec), half_ratio_(0.5 * spec.nonzero("ratio", 1.0)) {}

  void build(Assembly& a) const {
    const Vec3<double> x{1, 0, 0}, y{0, 1, 0};
    const auto at = [&](const char* key) {
      return Pose{spec_.vector(key, Vec3<double>{0, 0, 0}), {0, 0, 0}};
    };
    a.body("carrier", "continuous", "base", spec_.inertial("carrier")).axis = y;
    a.body("output", "continuous", "carrier", spec_.inertial("output"), at("output_xyz")).axis = x;
    for (const std::string side : {"left", "right"}) {
      const std::string mesh = side + "_mesh";
      JointDescription& gear = a.body(side, "continuous", "base", spec_.inertial(side),
                                      at(side == "left" ? "left_xyz" : "right_xyz"));
      gear.axis = y;
      gear.independent = true;
      a.body(mesh, "continuous", "carrier", std::nullopt).axis = y;
      a.couple(side, mesh, 1.0);
      a.couple(mesh, "output", side == "left" ? -2.0 * half_ratio_ : 2.0 * half_ratio_);
    }
    for (const char* link : {"left", "right", "carrier", "output"}) a.output(link);
  }

  static constexpr int independent = 2, dependent = 2;
  template <class T>
  void gamma(const T* y, T* q) const {
    q[0] = 0.5 * (y[0] + y[1]);
    q[1] = half_ratio_ * (y[1] - y[0]);
  }
  template <class T>
  void G(const T* /*y*/, T* G) const {
    G[0] = G[1] = T(0.5);
    G[2] = T(-half_ratio_), G[3] = T(half_ratio_);
  }
  template <class T>
  void g(const T* /*y*/, const T* /*yd*/, T* g) const {
    g[0] = g[1] = T(0.0);
  }

 private:
  PartSpec spec_;
  double half_ratio_;
};

}  // namespace espalier
