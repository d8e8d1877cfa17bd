#pragma once

#include "algorithms/chains/kernels.hpp"
#include "algorithms/chains/pairs.hpp"
#include "algorithms/chains/units/unit.hpp"

/// The joint of a chain's body is eliminated from the articulated inertia I and the wrench p of
/// what it carries, which go to the body before: ChainSweeps, inward.  Source: Featherstone
/// (2008), Table 7.1; theory/clusters 5.4.

namespace espalier {

/// Whether a body is eliminated after the rotation. With nothing reflected, before it costs less.
template <class Unit>
constexpr bool turns_first(const ChainKind& kind) {
  return kind.geared || Unit::Body::paired;
}

/// Elimination with nothing reflected: U is the axis column of I, D its last entry, and Ia has
/// zeros about the axis. (Ended lanes have no inertia and D = 1.)
template <class S, class Body>
ESPALIER_ALWAYS_INLINE void eliminate_joint(Body& b, const S& tau, ArticulatedInertia<S>& I,
                                            JointWrenches<S>& w) {
  const Turn<S> t = Turn<S>::of(b.c, b.s);
  add_body(b.moments, I);
  Force<S>& p = w.p;
  p += b.pA;
  const S x = I.A.xz, y = I.A.yz, z = I.A.zz;
  const Vec3<S> f = I.B.row[2];
  const S inverse = S(1.0) / (z + b.reflected);
  const S u = (tau - p.n.z) * inverse;
  const Force<S> U{{inverse * x, inverse * y, S(1.0)}, scale(inverse, f)};
  p.n += Vec3<S>{u * x, u * y, u * z};
  p.f += scale(u, f);
  turn_to_parent(t, p);
  b.U() = U;
  b.u = u, b.D_inverse = inverse;
  I.C.xx -= U.f.x * f.x, I.C.xy -= U.f.x * f.y, I.C.xz -= U.f.x * f.z;
  I.C.yy -= U.f.y * f.y, I.C.yz -= U.f.y * f.z, I.C.zz -= U.f.z * f.z;
  I.B.row[0] -= scale(U.n.x, f);
  I.B.row[1] -= scale(U.n.y, f);
  I.B.row[2] = Vec3<S>::zero();
  I.A.xx -= U.n.x * x, I.A.xy -= U.n.x * y, I.A.yy -= U.n.y * y;
  I.A.xz = I.A.yz = I.A.zz = S(0.0);
  turn_to_parent<true>(t, I);
  const auto& P = b.P;
  with_placement(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED {
    place_on_parent<kind>(P, p);
    place_on_parent<kind, true>(P, I);
  });
}
/// Elimination after the rotation to the body before, whose axes rotors' transverse momentum has:
/// the rotation does not wait for the division.
template <class Unit, class S, class Inertia, class Wrenches>
ESPALIER_ALWAYS_INLINE void eliminate_turned_joint(Unit& unit, typename Unit::Body& b, const S& tau,
                                                   Inertia& I, Wrenches& w) {
  const auto t = Unit::Body::InertiaTurn::of(b.c, b.s);
  add_body(b.moments, I);
  w.add_wrench(b.pA);
  w.set_column(I);
  S D = axis_inertia(I) + b.reflected, force = tau - w.axis_moment();
  if (b.kind.geared) [[unlikely]] {
    force -= unit.gears[b.gear].force;
    w.add_axis_moment_to_column(unit.gears[b.gear].axial);
    if (b.leads_pair) {
      const CoupledPair<S>& pair = unit.pair;
      D += pair.momentum.n.z + pair.momentum.n.z + pair.inertia;
      force += pair.force;
      w.add_to_column(pair.momentum);
    }
  }
  const S inverse = S(1.0) / D;
  const S u = force * inverse;
  turn_to_parent(t, w);
  turn_to_parent(t, I);
  with_placement(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED {
    place_on_parent<kind>(b.P, w);
    place_on_parent<kind>(b.P, I);
  });
  if (b.kind.geared) [[unlikely]] {
    auto& gear = unit.gears[b.gear];
    if (b.transverse) {
      w.add_moments(gear.momentum, gear.couple);
      if (gear.rotor >= 0) add_rotation(I, unit.rotors[gear.rotor].Delta);
    }
    if (b.coupled) {
      gear.coupling_over_D = inverse * gear.coupling;
      unit.pair = {scale(-gear.coupling_over_D, plain(w.column())),
                   -(gear.coupling_over_D * gear.coupling), -(gear.coupling * u)};
    }
  }
  b.U() = eliminate(I, w, inverse, u);
  b.u = u, b.D_inverse = inverse;
}

/// First body of chains on the ground, which does not move: its rate alone. Not inlined, so that
/// the loop over the other bodies keeps its numbers in registers.
/// @param D, force  of its rate, without its own inertia and wrench
template <class Unit, class S>
[[gnu::noinline]] void eliminate_joint_on_ground(Unit& unit, S D, S force) {
  auto& b = unit.bodies[0];
  D += (b.moments.xx + b.moments.yy) + b.reflected;
  force -= axis_moment(b.pA);
  if (b.kind.geared) force -= unit.gears[b.gear].force;
  if (b.leads_pair) {
    D += unit.pair.momentum.n.z + unit.pair.momentum.n.z + unit.pair.inertia;
    force += unit.pair.force;
  }
  b.U() = Unit::Body::Wrench::zero();
  b.D_inverse = S(1.0) / D;
  b.u = force * b.D_inverse;
}

}  // namespace espalier
