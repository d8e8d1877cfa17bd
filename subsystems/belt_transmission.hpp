#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// Parallel belt transmission: a chain of n links with parallel axes whose motors all sit on the
/// base. Motor i drives link i through its gear and belts that run along the links before it:
///   q_rotor_i = gear_ratio_i (b_i1 q_1 + ... + b_ii q_i).
///
/// `gear_ratios`: n numbers. `belt_products`: rows of b, lower triangular (b11, b21, b22, ...);
/// b_ij is the product of the belt ratios that bring a turn of joint j to the gear of motor i.
/// `axis`: of all joints and rotors, z by default. link<i>_xyz places joint i in link i-1 (in the
/// base for i = 1), rotor<i>_xyz and rotor<i>_rpy rotor i in the base.
/// Input `base`; bodies link1, rotor1, ...; outputs the links.
///
/// The belts of motor i turn on massless pulleys, one on each of the axes 1 ... i-1: pulley<i>_<j>
/// turns on link j. Thus all couplings are between two paths, and G is constant.
/// As a law: positions (link 1, ..., link n, rotor 1, ..., rotor n).
/// Source: theory/clusters 5.5; Chignoli et al. (2023), section IX.
template <int n>
class BeltTransmission {
 public:
  static_assert(n == 2 || n == 3);
  static constexpr auto parameters = [] {
    if constexpr (n == 2) {
      return std::to_array<std::string_view>(
          {"gear_ratios", "belt_products", "axis", ESPALIER_POSE_PARAMETERS("rotor1"),
           ESPALIER_POSE_PARAMETERS("rotor2"), "link1_xyz", "link2_xyz",
           ESPALIER_INERTIA_PARAMETERS("link1"), ESPALIER_INERTIA_PARAMETERS("link2"),
           ESPALIER_INERTIA_PARAMETERS("rotor1"), ESPALIER_INERTIA_PARAMETERS("rotor2")});
    } else {
      return std::to_array<std::string_view>(
          {"gear_ratios", "belt_products", "axis", ESPALIER_POSE_PARAMETERS("rotor1"),
           ESPALIER_POSE_PARAMETERS("rotor2"), ESPALIER_POSE_PARAMETERS("rotor3"), "link1_xyz",
           "link2_xyz", "link3_xyz", ESPALIER_INERTIA_PARAMETERS("link1"),
           ESPALIER_INERTIA_PARAMETERS("link2"), ESPALIER_INERTIA_PARAMETERS("link3"),
           ESPALIER_INERTIA_PARAMETERS("rotor1"), ESPALIER_INERTIA_PARAMETERS("rotor2"),
           ESPALIER_INERTIA_PARAMETERS("rotor3")});
    }
  }();
  static constexpr std::array<std::string_view, 2> law_parameters{"gear_ratios", "belt_products"};
  static constexpr std::array<std::string_view, 1> inputs{"base"};
  static constexpr auto outputs = [] {
    if constexpr (n == 2) {
      return std::to_array<std::string_view>({"link1", "link2"});
    } else {
      return std::to_array<std::string_view>({"link1", "link2", "link3"});
    }
  }();
  static Parameters sample() {
    Parameters p{{"gear_ratios", {6, 7.5}}, {"belt_products", {2, 1.5, 3}}, {"axis", {0, 1, 0}}};
    if constexpr (n == 3) {
      p["gear_ratios"] = {6, 7.5, 9};
      p["belt_products"] = {2, 1.5, 3, 1.2, -1.8, 2.4};
    }
    for (int i = 1; i <= n; ++i) {
      const std::string link = name("link", i), rotor = name("rotor", i);
      if (i > 1) p[link + "_xyz"] = {0.01, 0, -0.2};
      p[rotor + "_xyz"] = {0, 0.03 * i, 0.02};
      p[link + "_mass"] = {1.0 / i};
      p[link + "_com"] = {0, 0.01, -0.1};
      p[link + "_inertia"] = {4e-3, 4e-3, 5e-4, 0, 0, 1e-4};
      p[rotor + "_mass"] = {0.06};
      p[rotor + "_inertia"] = {3e-5, 6e-5, 3e-5, 0, 0, 0};
    }
    return p;
  }

  explicit BeltTransmission(const PartSpec& spec) : spec_(spec) {
    const std::vector<double> gears = spec.numbers("gear_ratios", n);
    const std::vector<double> belts = spec.numbers("belt_products", n * (n + 1) / 2);
    for (int i = 0, next = 0; i < n; ++i) {
      if (gears[i] == 0.0) spec.refuse("gear_ratios", 0.0, "numbers other than zero");
      gear_[i] = gears[i];
      for (int j = 0; j <= i; ++j, ++next) {
        if (belts[next] == 0.0) {
          spec.refuse("belt_products", 0.0,
                      "numbers other than zero (a belt of ratio zero transmits nothing)");
        }
        b_[i][j] = belts[next];
      }
    }
  }

  void build(Assembly& a) const {
    const Vec3<double> axis = spec_.direction("axis", Vec3<double>{0, 0, 1});
    std::string parent = "base";
    for (int i = 1; i <= n; ++i) {
      const std::string link = name("link", i), rotor = name("rotor", i);
      const Pose joint{spec_.vector(link + "_xyz", Vec3<double>{0, 0, 0}), {0, 0, 0}};
      a.body(link, "revolute", parent, spec_.inertial(link), joint).axis = axis;
      a.body(rotor, "continuous", "base", spec_.inertial(rotor), spec_.pose(rotor)).axis = axis;
      parent = link;
      a.output(link);
    }
    // From the driven link inwards: what one belt turns is a pulley on the axis before.
    for (int i = 1; i <= n; ++i) {
      std::string driven = name("link", i);
      for (int j = i - 1; j >= 1; --j) {
        const std::string pulley = name("pulley", i) + "_" + std::to_string(j);
        a.body(pulley, "continuous", name("link", j), std::nullopt).axis = axis;
        a.couple(driven, pulley, b_[i - 1][j] / b_[i - 1][j - 1]);
        driven = pulley;
      }
      a.couple(driven, name("rotor", i), gear_[i - 1] * b_[i - 1][0]);
    }
  }

  static constexpr int independent = n, dependent = n;
  template <class T>
  void gamma(const T* y, T* q) const {
    for (int i = 0; i < n; ++i) {
      T sum = b_[i][0] * y[0];
      for (int j = 1; j <= i; ++j) sum += b_[i][j] * y[j];
      q[i] = gear_[i] * sum;
    }
  }
  template <class T>
  void G(const T* /*y*/, T* G) const {
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) G[i * n + j] = T(gear_[i] * b_[i][j]);
    }
  }
  template <class T>
  void g(const T* /*y*/, const T* /*yd*/, T* g) const {
    for (int i = 0; i < n; ++i) g[i] = T(0.0);
  }

 private:
  static std::string name(const char* what, int i) { return what + std::to_string(i); }

  PartSpec spec_;
  double gear_[n] = {}, b_[n][n] = {};
};

using BeltPair = BeltTransmission<2>;
using BeltTriple = BeltTransmission<3>;

}  // namespace espalier
