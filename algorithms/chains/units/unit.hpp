#pragma once

#include <type_traits>
#include <vector>

#include "algorithms/chains/asymmetric_rotors.hpp"
#include "algorithms/chains/units/paired_motion.hpp"

/// Chains of a group side by side, as ChainUnits keeps them: constants and states body by body.

namespace espalier {

/// A body of each chain of a group: S and C as in chains/kernels.hpp.
template <class S, class C, int lanes>
struct ChainUnitBody {
  static constexpr bool paired = std::is_same_v<S, double>;  ///< chains/pairs.hpp
  using Wrench = std::conditional_t<paired, PairedForce, Force<S>>;
  using Inertia = std::conditional_t<paired, QuadInertia, ArticulatedInertia<S>>;
  using Wrenches = std::conditional_t<paired, QuadWrenches, JointWrenches<S>>;
  using InwardTurn = Turn<std::conditional_t<paired, Pair, S>>;
  using InertiaTurn = Turn<std::conditional_t<paired, Quad, S>>;
  // In the order of lines of the caches: what all passes read, then constants, then states.
  ChainKind kind;
  bool boundaries = false;
  bool transverse = false;  ///< rotors have axes other than the joint's, or are asymmetric
  bool coupled = false;     ///< by the coupling to the body before, in one of the lanes
  bool leads_pair = false;  ///< the next one is coupled
  int gear = -1;            ///< in ChainUnit::gears
  int body[lanes];          ///< lanes whose chain has ended repeat its last one
  int rate[lanes];          ///< independent, which is that of its joint
  int y[lanes];             ///< the same; -1: ended
  int boundary[lanes];      ///< -1: none
  C cos_theta, sin_theta;
  std::conditional_t<paired, PairedPlacement, ChainPlacement<C>> P;
  std::conditional_t<paired, PairedMoments, ChainMoments<C>> moments;
  C reflected;
  S c, s;  ///< of q + theta
  S u;     ///< (tau - S^T pA) / D
  S D_inverse;
  /// Wrench that the motion needs; once the joint is eliminated, U in the same place, so that
  /// states stay in the nearest cache.
  Wrench pA;
  /// IA S / D; geared or paired: about the origin of the body before, in its axes.
  Wrench& U() { return pA; }
  /// And in composite bodies: of a unit acceleration of its rate, at the body it has reached.
  Wrench& column() { return pA; }
  const Transform<double>* F[lanes];
};
/// Geared rotors of a joint.
template <class S, class C>
struct ChainGear {
  C axial;            ///< momentum for unit rate along the axis
  Vec3<C> momentum;   ///< and transverse of it, in the axes of the body before
  C coupling;         ///< ChainBody::coupling
  Vec3<S> couple;     ///< that the body before needs for the transverse momentum
  S force;            ///< that their own rate needs
  S coupling_over_D;  ///< coupling / D: of the rate of the body before in that of a coupled one
  int rotor = -1;     ///< asymmetric one, in ChainUnit::rotors
};
/// What the elimination of a coupled rate adds to the system of the rate before.
template <class S>
struct CoupledPair {
  Force<S> momentum;  ///< for unit rate, of the body before, in its axes
  S inertia, force;
};
template <class S_, class C, int lanes_>
struct ChainUnit {
  using S = S_;
  using Body = ChainUnitBody<S_, C, lanes_>;
  static constexpr int lanes = lanes_;
  std::vector<Body> bodies;
  std::vector<ChainGear<S_, C>> gears;
  std::vector<TurningRotor<S_, C, lanes_>> rotors;
  CoupledPair<S_> pair;  ///< of the body that was passed last
  Vec3<C> r;
  Turn<C> base_frame;
  int parent[lanes_];      ///< boundaries
  bool on_ground = false;  ///< the parent does not move, and takes no inertia and wrench
  int used = 0;            ///< lanes

  /// From the parent's axes to those of the base_frame.
  template <class V>
  Vec3<V> in_base_frame(const Vec3<V>& v) const {
    return {base_frame.c * v.x + base_frame.s * v.y, base_frame.c * v.y - base_frame.s * v.x, v.z};
  }
  /// A wrench at the base_frame, in the parent's axes, about its origin.
  ESPALIER_ALWAYS_INLINE void propagate_to_parent(Force<S_>& f) const {
    rotate_to_parent<0, 1>(f, base_frame);
    f.n += cross(r, f.f);
  }
};

}  // namespace espalier
