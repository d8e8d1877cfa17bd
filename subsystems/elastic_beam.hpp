#pragma once

#include <cmath>

#include <espalier/plugin.hpp>

#include "subsystems/elastic_beam_section.hpp"

namespace espalier {

/// A clamped elastic beam along x: the joint type whose six rates are those of its shape, with
/// equations of its own. The body that hangs on it is the tip; the joint's frame is where the tip
/// is while the beam is straight, and the parent carries the clamped end, at x = -length.
///
/// Parameters: `length` [m], `mass_per_length` [kg/m], `EI_y` and `EI_z` (bending about the
/// section's y and z) and `GJ` (torsion) [N·m²], `gyration_y` and `gyration_z` (the section's radii
/// of gyration about y and z) [m], `damping` [s], which multiplies the stiffness.
///
/// Positions: what elastic_beam_section.hpp says. Bending shapes are cubic, so that deflections
/// under loads at the tip are exact and the first eigenfrequency of bending is 0.5 % too high;
/// beams in series (each a subsystem of its own, which turns with its clamped end) converge.
/// Cross-sections stay plane and perpendicular (Euler and Bernoulli; their rotational inertia is
/// kept), the axis keeps its length, and shortens along x as it bends: to second order, which is
/// what stiffens a beam that is pulled by gravity or by turning, and buckles one that is pushed.
/// Everything else follows from this without further approximation, so that energy is conserved.
///
/// h holds stiffness and damping; M and h come from four Gauss points.
/// Source: Bremer, Elastic multibody dynamics (2008), chapters 5 and 6; Przemieniecki, Theory of
/// matrix structural analysis (1968), chapters 11 and 15 for the cubic shapes.
class ElasticBeamJoint {
 public:
  static constexpr int nq = 6, nv = 6;
  using Subspace = Dense<6>;
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"length", "mass_per_length", "EI_y", "EI_z", "GJ", "gyration_y", "gyration_z", "damping"});

  static Parameters sample() {  // a flat bar of aluminium, 3 mm by 30 mm
    return {{"length", {0.5}},
            {"mass_per_length", {0.243}},
            {"EI_y", {4.725}},
            {"EI_z", {472.5}},
            {"GJ", {6.6}},
            {"gyration_y", {8.66e-4}},
            {"gyration_z", {8.66e-3}},
            {"damping", {0}}};
  }

  explicit ElasticBeamJoint(const JointSpec& spec)
      : length_(spec.positive("length", 1.0)),
        line_density_(spec.positive("mass_per_length", 1.0)),
        damping_(spec.number("damping", 0.0)) {
    if (!(damping_ >= 0.0)) spec.refuse("damping", damping_, "at least 0 s");
    const double EI_y = spec.positive("EI_y", 1.0), EI_z = spec.positive("EI_z", 1.0),
                 GJ = spec.positive("GJ", 1.0);
    const double y = spec.positive("gyration_y", 0.01), z = spec.positive("gyration_z", 0.01);
    gyration_ = {y * y + z * z, y * y, z * z};
    const double L = length_, cube = L * L * L;
    for (const auto& [at, EI] : {std::pair{0, EI_z}, std::pair{2, EI_y}}) {
      stiffness_[at] = 12.0 * EI / cube;
      stiffness_[at + 1] = 4.0 * EI / L;
      coupling_[at / 2] = -6.0 * EI / (L * L);
    }
    stiffness_[4] = GJ / L;
    stiffness_[5] = 16.0 / 3.0 * GJ / L;
    // Gauss and Legendre: exact for polynomials of degree seven.
    const double inner = std::sqrt(3.0 / 7.0 - 2.0 / 7.0 * std::sqrt(1.2));
    const double outer = std::sqrt(3.0 / 7.0 + 2.0 / 7.0 * std::sqrt(1.2));
    const double heavy = (18.0 + std::sqrt(30.0)) / 72.0, light = 0.5 - heavy;
    gauss_points_[0] = {BeamSection(L, 0.5 * (1.0 - outer)), light};
    gauss_points_[1] = {BeamSection(L, 0.5 * (1.0 - inner)), heavy};
    gauss_points_[2] = {BeamSection(L, 0.5 * (1.0 + inner)), heavy};
    gauss_points_[3] = {BeamSection(L, 0.5 * (1.0 + outer)), light};
    tip_ = BeamSection(L, 1.0);
  }

  static Mat3<double> alignment(const JointSpec&) { return Mat3<double>::identity(); }

  template <class T>
  Transform<T> position(const T* q) const {
    const auto s = tip_.at<T>(q, nullptr);
    return {s.R.transposed(), s.p};
  }
  template <class T>
  void subspace(const T* q, Motion<T>* S) const {
    const auto s = tip_.at<T>(q, nullptr);
    for (int j = 0; j < nv; ++j)
      S[j] = {transpose_times(s.R, s.Jw[j]), transpose_times(s.R, s.Jp[j])};
  }
  template <class T>
  Motion<T> bias(const T* q, const T* qd) const {
    const auto s = tip_.at<T>(q, qd);
    return {transpose_times(s.R, s.w_bias), transpose_times(s.R, s.p_bias - cross(s.w, s.pd))};
  }

  template <class T>
  void equations(const T* q, const T* qd, const Vec3<T>& w, T* M, T* h) const {
    for (const GaussPoint& point : gauss_points_) {
      const double m = point.weight * line_density_ * length_;
      add(point.section.at(q, qd), m, w, M, h);
    }
    for (int j = 0; j < nv; ++j) h[6 + j] += stiffness_[j] * (q[j] + damping_ * qd[j]);
    for (int plane = 0; plane < 2; ++plane) {
      const int j = 2 * plane;
      h[6 + j] += coupling_[plane] * (q[j + 1] + damping_ * qd[j + 1]);
      h[7 + j] += coupling_[plane] * (q[j] + damping_ * qd[j]);
    }
  }

 private:
  struct GaussPoint {
    BeamSection section;
    double weight = 0.0;
  };

  /// A slice of mass m, as a rigid body that y moves.
  /// @param w  of the frame
  template <class T>
  void add(const BeamSection::Motion<T>& s, double m, const Vec3<T>& w, T* M, T* h) const {
    constexpr int size = 6 + nv;
    // The slice's inertia about its centre, in the frame's axes.
    const Mat3<T> E = s.R.transposed();
    const Sym3<T> I = congruence(
        E, Sym3<double>{m * gyration_.x, 0.0, 0.0, m * gyration_.y, 0.0, m * gyration_.z});
    // v_slice = v + w x p + J qd, w_slice = w + Jw qd.
    Vec3<T> Zv[size], Zw[size];
    for (int k = 0; k < 3; ++k) {
      Vec3<T> e = Vec3<T>::zero();
      e[k] = T(1.0);
      Zw[k] = e, Zv[k] = cross(e, s.p);
      Zw[3 + k] = Vec3<T>::zero(), Zv[3 + k] = e;
    }
    for (int j = 0; j < nv; ++j) Zw[6 + j] = s.Jw[j], Zv[6 + j] = s.Jp[j];
    // What the slice does at yd = 0, and the wrench that this needs.
    const Vec3<T> omega = w + s.w;
    const Vec3<T> a = s.p_bias + cross(w, cross(w, s.p) + s.pd + s.pd);
    const Vec3<T> f = scale(m, a);
    const Vec3<T> n = I * (s.w_bias + cross(w, s.w)) + cross(omega, I * omega);
    for (int i = 0; i < size; ++i) {
      const Vec3<T> fi = scale(m, Zv[i]), ni = I * Zw[i];
      for (int k = 0; k <= i; ++k) M[i * size + k] += dot(Zv[k], fi) + dot(Zw[k], ni);
      h[i] += dot(Zv[i], f) + dot(Zw[i], n);
    }
  }

  double length_, line_density_, damping_;
  Vec3<double> gyration_;  ///< squares of the radii of gyration about x, y, z
  double stiffness_[6];    ///< diagonal
  double coupling_[2];     ///< between deflection and slope of the tip, per plane
  GaussPoint gauss_points_[4];
  BeamSection tip_;
};

/// An elastic beam as a piece of a robot: the beam and a link at its tip.
/// Input `base`: the clamped end, the beam along its x axis. Bodies: `tip`, a link of no mass if
/// none is given, hanging on the joint of the same name; output `tip`.
class ElasticBeam {
 public:
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"length", "mass_per_length", "EI_y", "EI_z", "GJ", "gyration_y", "gyration_z", "damping",
       ESPALIER_INERTIA_PARAMETERS("tip")});
  static constexpr std::array<std::string_view, 1> inputs{"base"}, outputs{"tip"};
  static Parameters sample() {
    Parameters p = ElasticBeamJoint::sample();
    p["tip_mass"] = {0.1};
    return p;
  }

  explicit ElasticBeam(const PartSpec& spec) : spec_(spec) {}

  void build(Assembly& a) const {
    JointDescription& tip = a.body("tip", "elastic_beam", "base", spec_.inertial("tip"),
                                   {{spec_.positive("length"), 0, 0}, {0, 0, 0}});
    for (const char* key :
         {"length", "mass_per_length", "EI_y", "EI_z", "GJ", "gyration_y", "gyration_z"}) {
      tip.parameters[key] = {spec_.positive(key)};
    }
    tip.parameters["damping"] = {spec_.number("damping", 0.0)};
    a.output("tip");
  }

 private:
  PartSpec spec_;
};

}  // namespace espalier
