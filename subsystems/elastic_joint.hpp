#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// A link that its motor drives through a gear and a spring: link and rotor move independently, and
/// `stiffness` [N·m/rad] and `damping` [N·m·s/rad] act on the deflection q_rotor / ratio - q_link.
///
/// The deflection is the position of a joint of its own: a massless `stage`, the gear's output
/// side, turns on the link, and the gear says q_link + q_stage = q_rotor / ratio. Spring and damper
/// sit in that joint, so that link and rotor feel (k, -k / ratio) times the deflection, as in
/// theory/clusters 5.5; like all passive forces they act only where they are asked for.
///
/// Input `base`: the joint frame of the link, which turns about `axis`; rotor as in geared_joint.
/// Bodies `link`, `rotor`, `stage`; output `link`. No law: nothing ties link and rotor.
/// Source: theory/clusters 5.5; Spong, Modeling and control of elastic joint robots (1987), with
/// the rotor's full motion.
class ElasticJoint {
 public:
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"ratio", "stiffness", "damping", "axis", ESPALIER_POSE_PARAMETERS("rotor"), "rotor_axis",
       "rotor_damping", "rotor_friction", ESPALIER_INERTIA_PARAMETERS("link"),
       ESPALIER_INERTIA_PARAMETERS("rotor")});
  static constexpr std::array<std::string_view, 1> inputs{"base"}, outputs{"link"};
  static Parameters sample() {
    return {{"ratio", {50}},
            {"stiffness", {300}},
            {"damping", {0.5}},
            {"rotor_xyz", {0, 0, -0.05}},
            {"link_mass", {1}},
            {"link_com", {0.15, 0, 0.01}},
            {"link_inertia", {1e-3, 8e-3, 8e-3, 0, 0, 0}},
            {"rotor_mass", {0.1}},
            {"rotor_inertia", {1e-5, 1e-5, 2e-5, 0, 0, 0}}};
  }

  explicit ElasticJoint(const PartSpec& spec) : spec_(spec) {}

  void build(Assembly& a) const {
    const double ratio = spec_.nonzero("ratio");
    const Vec3<double> axis = spec_.direction("axis", Vec3<double>{0, 0, 1});
    JointDescription& link = a.body("link", "continuous", "base", spec_.inertial("link"));
    link.axis = axis;
    link.independent = true;
    JointDescription& rotor =
        a.body("rotor", "continuous", "base", spec_.inertial("rotor"), spec_.pose("rotor"));
    rotor.axis = spec_.direction("rotor_axis", axis);
    rotor.independent = true;
    rotor.passive.damping = spec_.number("rotor_damping", 0.0);
    rotor.passive.friction = spec_.number("rotor_friction", 0.0);
    JointDescription& stage = a.body("stage", "continuous", "link", std::nullopt);
    stage.axis = axis;
    stage.passive.stiffness = spec_.positive("stiffness");
    stage.passive.damping = spec_.number("damping", 0.0);
    a.couple("rotor", "stage", 1.0 / ratio);
    a.output("link");
  }

 private:
  PartSpec spec_;
};

}  // namespace espalier
