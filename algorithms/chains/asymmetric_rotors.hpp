#pragma once

#include <cmath>
#include <vector>

#include "algorithms/chains/geared_clusters.hpp"

namespace espalier {

/// A rotor that a chain carries along with the joint that it drives, although its inertia is not
/// the same all around its axis: balanced, on the body that the joint stands on, at a constant
/// ratio. In that body's axes its inertia is
///   mean + Delta,  Delta = cos(2 theta) cosine + sin(2 theta) sine
/// at the rotor's angle theta (theory/clusters 5.4). Its momentum for unit rate is constant.
struct AsymmetricRotor {
  int body = 0;        ///< the rotor
  int joint = 0;       ///< the body whose joint it drives
  double ratio = 0.0;  ///< of its rate to that joint's
  Sym3<double> cosine = Sym3<double>::zero(), sine = Sym3<double>::zero();
};

/// Such rotors of the chains that are passed at once, in the axes of the body before.
/// Scalars: S of the state; C of the robot's constants.
template <class S, class C, int lanes>
struct TurningRotor {
  int body[lanes];       ///< whose sine and cosine
  Sym3<C> cosine, sine;  ///< zero where the lane has none
  C twice_ratio;
  Sym3<S> Delta;

  /// Adds what Delta takes of the body before and of the joint:
  ///   Delta alpha + omega x Delta omega + qd W omega,  -omega^T W omega / 2
  /// where W is the derivative of Delta by the joint's angle (theory/clusters 5.4).
  /// @param c, s          cosine and sine of the rotor's angle
  /// @param omega, alpha  of the body before
  /// @param qd            rate of the joint
  void move(const S& c, const S& s, const Vec3<S>& omega, const Vec3<S>& alpha, const S& qd,
            Vec3<S>& couple, S& force) {
    const S half = s * c, sine_of_twice = half + half, cosine_of_twice = c * c - s * s;
    Delta = sum(cosine, cosine_of_twice, sine, sine_of_twice);
    const Vec3<S> turned =
        sum(sine, twice_ratio * cosine_of_twice, cosine, -(twice_ratio * sine_of_twice)) * omega;
    couple += Delta * alpha + cross(omega, Delta * omega) + scale(qd, turned);
    force -= S(0.5) * dot(omega, turned);
  }

 private:
  /// a x + b y.
  static Sym3<S> sum(const Sym3<C>& a, const S& x, const Sym3<C>& b, const S& y) {
    return {a.xx * x + b.xx * y, a.xy * x + b.xy * y, a.xz * x + b.xz * y,
            a.yy * x + b.yy * y, a.yz * x + b.yz * y, a.zz * x + b.zz * y};
  }
};

namespace detail {

/// Whether a body turns about a principal axis through its centre of mass, and which of both
/// principal moments across is larger depends on where it stands.
inline bool is_balanced_and_asymmetric(const RigidInertia<double>& b) {
  const Sym3<double>& I = b.I;
  const double small = 1e-12 * (std::abs(I.xx) + std::abs(I.yy) + std::abs(I.zz));  // rounding
  const double offset = 1e-12 * (std::abs(b.h.z) + b.m);
  return std::abs(I.xz) <= small && std::abs(I.yz) <= small && std::abs(b.h.x) <= offset &&
         std::abs(b.h.y) <= offset && (std::abs(I.xx - I.yy) > small || std::abs(I.xy) > small);
}

}  // namespace detail

/// The inertia of a balanced body about its axis, without what turns, in its own axes.
inline RigidInertia<double> mean_about_axis(const RigidInertia<double>& b) {
  const double across = 0.5 * (b.I.xx + b.I.yy);
  return {b.m, {0, 0, b.h.z}, {across, 0, 0, across, 0, b.I.zz}};
}

/// All such rotors of a model.
inline std::vector<AsymmetricRotor> asymmetric_rotors(const Model& model) {
  std::vector<AsymmetricRotor> found;
  std::vector<bool> taken(model.active_body_count() + 1, false);  // by others
  for (int i = 1; i <= model.active_body_count(); ++i) taken[model.body(i).parent] = true;
  for (const Rotor& rotor : model.rotors()) taken[rotor.parent] = true;
  for (const int i : model.bodies_with_equations()) taken[i] = true;
  for (const Cluster& c : model.clusters()) {
    if (!c.constrained || c.constraint != nullptr || c.count != 2 || c.nv != 1) continue;
    if (c.spanning_nv != 2) continue;
    const Body &first = model.body(c.first), &second = model.body(c.first + 1);
    if (first.parent != second.parent || !are_revolute(model.runs()[first.run]) ||
        !are_revolute(model.runs()[second.run]) || !drives_rotors_on(model, c, first.parent)) {
      continue;
    }
    for (int rotor = c.first; rotor < c.first + 2; ++rotor) {
      const int joint = 2 * c.first + 1 - rotor;
      const double ratio = c.G[c.row(model.body(rotor).v)];
      const RigidInertia<double>& I = model.body(rotor).inertia;
      if (taken[rotor] || c.G[c.row(model.body(joint).v)] != 1.0 || ratio == 0.0 ||
          !detail::is_balanced_and_asymmetric(I)) {
        continue;
      }
      const double a = 0.5 * (I.I.xx - I.I.yy), b = I.I.xy;
      const Mat3<double>& E = model.body(rotor).placement.E;
      found.push_back({rotor, joint, ratio, congruence(E, Sym3<double>{a, b, 0, -a, 0, 0}),
                       congruence(E, Sym3<double>{-b, a, 0, b, 0, 0})});
      break;
    }
  }
  return found;
}

}  // namespace espalier
