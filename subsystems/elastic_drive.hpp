#pragma once

#include <cmath>

#include <espalier/plugin.hpp>

namespace espalier {

/// A joint with its drive: motor, gear and spring, as equations of its own. Rates: those of the
/// link, which turns about z, and of the motor's rotor, which turns about an axis of the base and
/// is the same at every angle. Where elastic_joint has a body for the rotor, this has none.
///
/// With I the rotor's inertia as if welded to the base, k = I s its momentum for unit rate, s its
/// axis and J = s . k,
///   M = [I 0 k; 0 0 0; k^T 0 J],  h = (w x (I w + k qd_m), -t, t / ratio),  B = (0, 0, 1)
/// and t = stiffness (q_m / ratio - q_l) + damping (its rate).
///
/// Parameters: `ratio`, `stiffness` [N·m/rad], `damping` [N·m·s/rad], `rotor_axis` and frame of the
/// rotor, its mass, centre and inertia (`rotor_mass` ...). Input: `motor`.
/// Source: theory/clusters 5.4 and 5.5; Spong (1987); Bremer (2008), motor-gear-arm unit.
class ElasticDriveJoint {
 public:
  static constexpr int nq = 2, nv = 2;
  using Subspace = Dense<2>;
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"ratio", "stiffness", "damping", ESPALIER_POSE_PARAMETERS("rotor"), "rotor_axis",
       ESPALIER_INERTIA_PARAMETERS("rotor")});
  static constexpr std::array<std::string_view, 1> inputs{"motor"};
  /// Force on the rates for unit inputs, nv x inputs.
  static constexpr std::array<double, 2> B{0.0, 1.0};

  explicit ElasticDriveJoint(const JointSpec& spec)
      : ratio_(spec.nonzero("ratio", 1.0)),
        stiffness_(spec.positive("stiffness", 1.0)),
        damping_(spec.number("damping", 0.0)) {
    if (!(damping_ >= 0.0)) spec.refuse("damping", damping_, "at least 0 N·m·s/rad");
    const Vec3<double> axis = spec.direction("rotor_axis", spec.axis);
    const Inertial rotor = spec.inertial("rotor").value_or(sample_rotor());
    expect_symmetry(spec, rotor.about_link(), axis);
    // The joint computes with its axis on z.
    const Transform<double> X = spec.pose("rotor").transform() *
                                Transform<double>{turn_onto_z(spec.axis).transposed(), {0, 0, 0}};
    rotor_ = congruence(X, rotor.about_link());
    const Motion<double> s = X.inverse_times(Motion<double>{axis, {0, 0, 0}});
    momentum_ = (rotor_ * s).n;
    inertia_ = dot(s, rotor_ * s);
  }
  static Parameters sample() {
    return {{"ratio", {50}},
            {"stiffness", {300}},
            {"damping", {0.5}},
            {"rotor_xyz", {0, 0, -0.05}},
            {"rotor_axis", {0, 0, 1}},
            {"rotor_mass", {0.1}},
            {"rotor_inertia", {1e-5, 1e-5, 2e-5, 0, 0, 0}}};
  }

  template <class T>
  RotationZ<T> position(const T* q) const {
    return RotationZ<T>::by(q[0]);
  }
  template <class T>
  void subspace(const T*, Motion<T>* S) const {
    S[0] = S[1] = Motion<T>::zero();
    S[0].w.z = T(1.0);
  }

  template <class T>
  void equations(const T* q, const T* qd, const Vec3<T>& w, T* M, T* h) const {
    const auto I = ArticulatedInertia<double>::from(rotor_);
    for (int i = 0; i < 6; ++i) {
      const Force<double> column = I.column(i);
      for (int k = 0; k <= i; ++k) M[8 * i + k] = T(column[k]);
    }
    for (int k = 0; k < 3; ++k) M[8 * 7 + k] = T(momentum_[k]);
    M[8 * 7 + 7] = T(inertia_);
    const Vec3<T> n = cross(w, rotor_.I * w + scale(qd[1], momentum_));
    const Vec3<T> f = cross(w, cross(w, rotor_.h));
    for (int i = 0; i < 3; ++i) h[i] = n[i], h[3 + i] = f[i];
    const double gear = 1.0 / ratio_;
    const T t = stiffness_ * (gear * q[1] - q[0]) + damping_ * (gear * qd[1] - qd[0]);
    h[6] = -t;
    h[7] = gear * t;
  }

 private:
  static Inertial sample_rotor() {
    Inertial rotor;
    rotor.mass = 0.1;
    rotor.I = {1e-5, 0, 0, 1e-5, 0, 2e-5};
    return rotor;
  }
  /// The same at every angle: centre of mass on the axis, and equal moments across it.
  static void expect_symmetry(const JointSpec& spec, const RigidInertia<double>& I,
                              const Vec3<double>& axis) {
    const auto [x, y] = across(axis);
    const double small = 1e-9 * (I.I.xx + I.I.yy + I.I.zz);
    const Vec3<double> off = cross(axis, I.h);
    const bool centred = std::sqrt(dot(off, off)) <= 1e-9 * I.m;
    const bool even = std::abs(dot(x, I.I * x) - dot(y, I.I * y)) <= small &&
                      std::abs(dot(x, I.I * y)) <= small && std::abs(dot(axis, I.I * x)) <= small &&
                      std::abs(dot(axis, I.I * y)) <= small;
    if (!centred || !even) {
      spec.refuse("rotor_inertia", "not the same at every angle about rotor_axis",
                  "equal moments across the axis and the centre of mass on it (elastic_joint takes "
                  "any rotor)");
    }
    if (!(dot(axis, I.I * axis) > 0.0)) {
      spec.refuse("rotor_inertia", dot(axis, I.I * axis),
                  "a moment about rotor_axis that is greater than zero [kg·m²]");
    }
  }

  double ratio_, stiffness_, damping_;
  RigidInertia<double> rotor_;  ///< about the joint's origin, joint axes
  Vec3<double> momentum_;
  double inertia_;
};

/// The drive and its link as a piece of a robot; parameters and frames are those of elastic_joint.
/// Input `base`: the joint frame of the link, which turns about `axis`. Body `link`, hanging on the
/// joint of the same name; output `link`.
class ElasticDrive {
 public:
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"ratio", "stiffness", "damping", "axis", ESPALIER_POSE_PARAMETERS("rotor"), "rotor_axis",
       ESPALIER_INERTIA_PARAMETERS("link"), ESPALIER_INERTIA_PARAMETERS("rotor")});
  static constexpr std::array<std::string_view, 1> inputs{"base"}, outputs{"link"};
  static Parameters sample() {
    Parameters p = ElasticDriveJoint::sample();
    p["link_mass"] = {1}, p["link_com"] = {0.15, 0, 0.01};
    p["link_inertia"] = {1e-3, 8e-3, 8e-3, 0, 0, 0};
    return p;
  }

  explicit ElasticDrive(const PartSpec& spec) : spec_(spec) {}

  void build(Assembly& a) const {
    JointDescription& link = a.body("link", "elastic_drive", "base", spec_.inertial("link"));
    link.axis = spec_.direction("axis", Vec3<double>{0, 0, 1});
    link.parameters["ratio"] = {spec_.nonzero("ratio")};
    link.parameters["stiffness"] = {spec_.positive("stiffness")};
    if (!spec_.inertial("rotor")) spec_.refuse("rotor_mass", "missing", "the mass of the rotor");
    const Vec3<double> axis = spec_.direction("rotor_axis", link.axis);
    link.parameters["rotor_axis"] = {axis.x, axis.y, axis.z};
    for (const std::string_view key : ElasticDriveJoint::parameters) {
      const auto given = spec_.parameters.find(std::string(key));
      if (given != spec_.parameters.end()) link.parameters.insert(*given);
    }
    a.output("link");
  }

 private:
  PartSpec spec_;
};

}  // namespace espalier
