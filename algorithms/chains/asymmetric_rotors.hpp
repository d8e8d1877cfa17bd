#pragma once

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

/// The inertia of a balanced body about its axis, without what turns, in its own axes.
RigidInertia<double> mean_about_axis(const RigidInertia<double>& b);

/// All such rotors of a model.
std::vector<AsymmetricRotor> asymmetric_rotors(const Model& model);

}  // namespace espalier
