#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// A driven link and the rotor of its motor, both on the base: q_rotor = ratio q_link. Ratios may
/// be negative (the rotor then turns the other way).
///
/// Input `base`: the joint frame of the link, which turns about `axis` in it. The rotor's frame is
/// rotor_xyz, rotor_rpy in the base; it turns about `rotor_axis` in its own frame (default: axis).
/// Bodies `link` and `rotor`, on joints of the same names; output `link`.
///
/// As a law: positions (link, rotor) of any two joints, also where the rotor sits on the link.
/// Source: theory/clusters 5.5; Featherstone (2008), section 9.6; Chignoli et al. (2023), section
/// II-B.
class GearedJoint {
 public:
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"ratio", "axis", ESPALIER_POSE_PARAMETERS("rotor"), "rotor_axis",
       ESPALIER_INERTIA_PARAMETERS("link"), ESPALIER_INERTIA_PARAMETERS("rotor"), "damping",
       "friction", "rotor_damping", "rotor_friction", "lower", "upper", "velocity", "effort"});
  static constexpr std::array<std::string_view, 1> law_parameters{"ratio"};
  static constexpr std::array<std::string_view, 1> inputs{"base"}, outputs{"link"};
  static Parameters sample() {
    return {{"ratio", {6}},
            {"axis", {0, 1, 0}},
            {"rotor_xyz", {0, 0.04, 0}},
            {"link_mass", {0.6}},
            {"link_com", {0, 0.02, -0.1}},
            {"link_inertia", {2e-3, 2e-3, 4e-4, 0, 0, 1e-4}},
            {"rotor_mass", {0.05}},
            {"rotor_inertia", {3e-5, 6e-5, 3e-5, 0, 0, 0}}};
  }

  explicit GearedJoint(const PartSpec& spec) : spec_(spec), ratio_(spec.nonzero("ratio")) {}

  void build(Assembly& a) const {
    const Vec3<double> axis = spec_.direction("axis", Vec3<double>{0, 0, 1});
    JointDescription& link = a.body("link", "revolute", "base", spec_.inertial("link"));
    link.axis = axis;
    link.passive.damping = spec_.number("damping", 0.0);
    link.passive.friction = spec_.number("friction", 0.0);
    if (spec_.has("lower")) link.limits.lower = spec_.number("lower");
    if (spec_.has("upper")) link.limits.upper = spec_.number("upper");
    if (spec_.has("velocity")) link.limits.velocity = spec_.number("velocity");
    if (spec_.has("effort")) link.limits.effort = spec_.number("effort");
    JointDescription& rotor =
        a.body("rotor", "continuous", "base", spec_.inertial("rotor"), spec_.pose("rotor"));
    rotor.axis = spec_.direction("rotor_axis", axis);
    rotor.passive.damping = spec_.number("rotor_damping", 0.0);
    rotor.passive.friction = spec_.number("rotor_friction", 0.0);
    a.couple("link", "rotor", ratio_);
    a.output("link");
  }

  static constexpr int independent = 1, dependent = 1;
  template <class T>
  void gamma(const T* y, T* q) const {
    q[0] = ratio_ * y[0];
  }
  template <class T>
  void G(const T* /*y*/, T* G) const {
    G[0] = T(ratio_);
  }
  template <class T>
  void g(const T* /*y*/, const T* /*yd*/, T* g) const {
    g[0] = T(0.0);
  }

 private:
  PartSpec spec_;
  double ratio_;
};

}  // namespace espalier
