#pragma once

#include <span>

#include "algorithms/chains/elimination.hpp"
#include "algorithms/chains/units/units.hpp"

namespace espalier {

/// Passes of the articulated-body and Newton-Euler recursions over serial chains of revolute joints
/// (chains/plan.hpp), by kernels for each class of placements (chains/kernels.hpp). Where T is
/// double, several chains are the lanes of a pack. Joints may drive rotors on the body before, and
/// two in sequence may be a belt pair, whose rates have an inertia between them.
///
/// The caller passes group by group: outward in the order of the groups, with the parents' motion
/// in their boundary states; inward in reverse, with inertias and wrenches of what hangs on
/// attachment bodies in theirs. Frames: ChainBody::F.  Source: Featherstone (2008), Tables 5.1
/// and 7.1; theory/clusters 5.4.
template <class T>
class ChainSweeps : public ChainUnits<T> {
 public:
  using ChainUnits<T>::ChainUnits;

  /// Base to tip: motion, and the wrench that each body needs for it.
  /// @param v, vdot  independent rates and accelerations; vdot may be nullptr for zero
  void outward_motion(int group, const T* v, const T* vdot) {
    with_unit(group, [&](auto& unit) {
      vdot == nullptr ? forward_pass<false>(unit, v, vdot) : forward_pass<true>(unit, v, vdot);
    });
  }
  /// Tip to base: articulated inertias.
  /// @param tau  forces on the independent rates
  void inward_inertia(int group, const T* tau) {
    with_unit(group, [&](auto& unit) { backward_pass(unit, tau); });
  }
  /// Base to tip: accelerations beyond those of outward_motion.
  /// @param[out] ydd  of the independent rates
  void outward_acceleration(int group, T* ydd) {
    with_unit(group, [&](auto& unit) { accelerate(unit, ydd); });
  }
  /// Tip to base: forces of inverse dynamics, with all that is reflected.
  /// @param[out] tau  on the independent rates
  void inward_force(int group, T* tau) {
    with_unit(group, [&](auto& unit) { backward_force_pass(unit, tau); });
  }

  /// Subtracts an external wrench on a body of a chain, after its outward_motion; model's frame.
  void apply_wrench(int body, const Force<T>& wrench) {
    const Force<T> f = plan_.body(body).F.force_to(wrench);
    const auto& place = place_[body];
    with_unit(place.group, [&](auto& unit) {
      auto& pA = unit.bodies[place.index].pA;
      using Here = std::decay_t<decltype(unit)>;
      if constexpr (Here::lanes == 1) {
        pA += wrench_of<typename Here::Body>(Force<T>{-f.n, -f.f});
      } else {
        for (int a = 0; a < 6; ++a) Base::lane_of(pA[a], place.lane) -= f[a];
      }
    });
  }

 protected:
  using Base = ChainUnits<T>;
  using Base::cosine_, Base::sine_;
  using Base::for_numbers, Base::for_boundaries, Base::lane_of, Base::of_lane, Base::place_,
      Base::plan_, Base::boundaries_, Base::with_unit;

 private:
  // --- passes -----------------------------------------------------------------------------------

  template <bool accelerated, class Unit>
  void forward_pass(Unit& unit, const T* v, const T* vdot);

  /// The first body of chains on the ground, which stands still: the motion is that of its rate,
  /// and the wrench has the moment about the axis alone, since the ground asks for no other.
  template <bool accelerated, class Unit, class S>
  ESPALIER_ALWAYS_INLINE void start_on_ground(Unit& unit, const T* v, const T* vdot,
                                              BodyMotion<S>& m) {
    auto& b = unit.bodies[0];
    this->template turn_body<Unit>(b);
    const S qd = Base::template gather<Unit::lanes>(v, b.rate), none = S(0.0);
    S qdd = none;
    if constexpr (accelerated) qdd = Base::template gather<Unit::lanes>(vdot, b.rate);
    m.omega = {none, none, qd}, m.alpha = {none, none, qdd};
    m.a = rotate_to_child<ChainKind{}>(b.P, Turn<S>::of(b.c, b.s), m.a);
    const S inward = -(qd * qd);
    m.Om = {{{inward, -qdd, none}, {qdd, inward, none}, {none, none, none}}};
    S moment = b.moments.x * m.a.y - b.moments.y * m.a.x;
    if constexpr (accelerated) moment += (b.moments.xx + b.moments.yy) * qdd;
    b.pA = Unit::Body::Wrench::zero();
    add_axis_moment(b.pA, moment);
    if (b.boundaries) show_motion(b, m);
  }
  /// Bodies on others that move.
  /// @param m  motion of the body before, of kernels of pairs or of single numbers
  /// @tparam geared  whether joints of the unit drive rotors: chains without them ask no body
  template <bool accelerated, bool geared, class Unit, class Bodies, class Moving>
  ESPALIER_ALWAYS_INLINE void pass_motion(Unit& unit, Bodies bodies, const T* v, const T* vdot,
                                          Moving&& m);
  /// What the rotors of a joint need for the motion of the body before.
  template <bool accelerated, class Unit, class Moving, class S>
  ESPALIER_ALWAYS_INLINE void start_gear(Unit& unit, const typename Unit::Body& b, const Moving& m,
                                         S qd, [[maybe_unused]] S qdd) {
    auto& gear = unit.gears[b.gear];
    gear.force = S(0.0);
    if (!b.transverse) return;
    gear.couple = cross(plain(m.omega), scale(qd, gear.momentum));
    gear.force = dot(plain(m.alpha), gear.momentum);
    if constexpr (accelerated) gear.couple += scale(qdd, gear.momentum);
    if (gear.rotor >= 0) move_rotor(unit, b.gear, plain(m.omega), plain(m.alpha), qd);
  }
  /// Not inlined: few joints drive asymmetric rotors.
  template <class Unit, class S>
  [[gnu::noinline]] void move_rotor(Unit& unit, int index, Vec3<S> omega, Vec3<S> alpha, S qd) {
    auto& gear = unit.gears[index];
    auto& rotor = unit.rotors[gear.rotor];
    rotor.move(Base::template gather<Unit::lanes>(cosine_, rotor.body),
               Base::template gather<Unit::lanes>(sine_, rotor.body), omega, alpha, qd, gear.couple,
               gear.force);
  }

  template <class Unit>
  void backward_pass(Unit& unit, const T* tau_all);
  /// To the parents.
  template <class Unit, class S>
  void propagate_to_parents(const Unit& unit, ArticulatedInertia<S> I, Force<S> p) {
    rotate_to_parent<0, 1, false>(I.A, unit.base_frame);
    rotate_to_parent<0, 1, false>(I.B, unit.base_frame);
    rotate_to_parent<0, 1, false>(I.C, unit.base_frame);
    ArticulatedInertia<S> Ia = shifted(I, unit.r);
    unit.propagate_to_parent(p);
    if constexpr (Unit::lanes == 1) {
      BoundaryState<T>& boundary = boundaries_[unit.parent[0]];
      boundary.IA += Ia, boundary.pA += p;
      return;
    }
    for (int k = 0; k < unit.used; ++k) {
      BoundaryState<T>& boundary = boundaries_[unit.parent[k]];
      const auto add = [&](T& to, S& from) { to += lane_of(from, k); };
      for_numbers(boundary.IA, Ia, add);
      for_numbers(boundary.pA, p, add);
    }
  }
  // Boundary states are exchanged by value and not inlined: numbers with an address would not stay
  // in registers.
  template <class Body, class S>
  [[gnu::noinline]] void show_motion(const Body& b, BodyMotion<S> m) {
    for_boundaries(b, [&](int k, BoundaryState<T>& boundary, const ModelFrame& frame) {
      // The origin of the model's frame stands at (0, 0, -slide) here.
      const Vec3<S> a = m.a + scale(-frame.slide(), m.Om.column(2));
      boundary.omega = frame.to_model(of_lane(m.omega, k));
      boundary.alpha = frame.to_model(of_lane(m.alpha, k));
      boundary.a = frame.to_model(of_lane(a, k));
      boundary.IA = ArticulatedInertia<T>::zero();
      boundary.pA = Force<T>::zero();
    });
  }
  template <class Body, class S>
  [[gnu::noinline]] void add_boundaries(const Body& b, ArticulatedInertia<S>& I, Force<S>& p) {
    for_boundaries(b, [&](int k, BoundaryState<T>& boundary, const ModelFrame& frame) {
      ArticulatedInertia<T> IA = frame.to_chain(boundary.IA);
      for_numbers(I, IA, [&](S& to, T& from) { lane_of(to, k) += from; });
    });
    add_boundaries(b, p);
  }
  template <class Body, class S>
  [[gnu::noinline]] void add_boundaries(const Body& b, Force<S>& p) {
    for_boundaries(b, [&](int k, BoundaryState<T>& boundary, const ModelFrame& frame) {
      Force<T> pA = frame.to_chain(boundary.pA);
      for_numbers(p, pA, [&](S& to, T& from) { lane_of(to, k) += from; });
    });
  }
  template <class Body, class S>
  [[gnu::noinline]] void show_acceleration(const Body& b, Motion<S> m) {
    for_boundaries(b, [&](int k, BoundaryState<T>& boundary, const ModelFrame& frame) {
      boundary.da = frame.to_model(Motion<T>{of_lane(m.w, k), of_lane(m.v, k)});
    });
  }

  template <class Unit>
  void accelerate(Unit& unit, T* ydd_all);

  template <class Unit>
  void backward_force_pass(Unit& unit, T* tau_all);
  template <class Unit, class S>
  void propagate_to_parents(const Unit& unit, Force<S> f) {
    unit.propagate_to_parent(f);
    if constexpr (Unit::lanes == 1) {
      boundaries_[unit.parent[0]].pA += f;
      return;
    }
    for (int k = 0; k < unit.used; ++k) {
      for_numbers(boundaries_[unit.parent[k]].pA, f,
                  [&](T& to, S& from) { to += lane_of(from, k); });
    }
  }
};

// Not in the class, where plugins that link algorithms/instances would compile them once more.

template <class T>
template <bool accelerated, class Unit>
void ChainSweeps<T>::forward_pass(Unit& unit, const T* v, const T* vdot) {
  using S = typename Unit::S;
  constexpr int lanes = Unit::lanes;
  BodyMotion<S> m;
  m.omega = m.alpha = Vec3<S>::zero();
  auto a = this->template gather_vector<lanes>(
      unit.parent, [](auto& s) -> auto& { return s.a; });
  if (!unit.on_ground) {
    const auto omega = this->template gather_vector<lanes>(
        unit.parent, [](auto& s) -> auto& { return s.omega; });
    const auto alpha = this->template gather_vector<lanes>(
        unit.parent, [](auto& s) -> auto& { return s.alpha; });
    a += acceleration_matrix(omega, alpha) * unit.r;
    m.omega = unit.in_base_frame(omega), m.alpha = unit.in_base_frame(alpha);
  }
  m.a = unit.in_base_frame(a);
  m.Om = Mat3<S>::zero();  // the first body stands at the base_frame
  std::span bodies(unit.bodies);
  if (unit.on_ground && !bodies[0].kind.geared) {
    start_on_ground<accelerated>(unit, v, vdot, m);
    bodies = bodies.subspan(1);
  }
  if (unit.gears.empty()) {
    pass_motion<accelerated, false>(unit, bodies, v, vdot, motion_of<typename Unit::Body>(m));
  } else {
    pass_motion<accelerated, true>(unit, bodies, v, vdot, motion_of<typename Unit::Body>(m));
  }
}

template <class T>
template <bool accelerated, bool geared, class Unit, class Bodies, class Moving>
void ChainSweeps<T>::pass_motion(Unit& unit, Bodies bodies, const T* v, const T* vdot, Moving&& m) {
  using S = typename Unit::S;
  [[maybe_unused]] S before = S(0.0);  // acceleration of the last rate
  for (auto& b : bodies) {
    this->template turn_body<Unit>(b);
    const S qd = Base::template gather<Unit::lanes>(v, b.rate);
    S qdd = S(0.0);
    if constexpr (accelerated) qdd = Base::template gather<Unit::lanes>(vdot, b.rate);
    const bool drives = geared && b.kind.geared;
    if (drives) start_gear<accelerated>(unit, b, m, qd, qdd);
    const auto t = outward_turn(b);
    with_placement(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED {
      if constexpr (kind.offset) m.a += swept<kind>(b.P, m.Om);
      m.omega = rotate_to_child<kind>(b.P, t, m.omega, qd);
      m.alpha = rotate_to_child<kind>(b.P, t, m.alpha);
      m.a = rotate_to_child<kind>(b.P, t, m.a);
    });
    if (drives) {
      // Rotors' momentum along the axis needs the same couple on this body as on the one before;
      // its part about the axis is no force of the rate.
      auto& gear = unit.gears[b.gear];
      gear.force += gear.axial * plain(m.alpha).z;
      if constexpr (accelerated) {
        gear.force += (b.reflected - gear.axial) * qdd;
        if (b.coupled) {
          gear.force += gear.coupling * before;
          unit.gears[b.gear - 1].force += gear.coupling * qdd;
        }
      }
    }
    add_turning<accelerated>(m.alpha, m.omega, qd, qdd);
    if constexpr (accelerated) before = qdd;
    if constexpr (Unit::Body::paired) {
      m.Om = turning_matrix(m.omega, m.alpha);
    } else {
      m.Om = acceleration_matrix(m.omega, m.alpha);
    }
    auto f = inertial_wrench(b.moments, m);
    if (drives) {
      const auto& axial = unit.gears[b.gear].axial;
      const S x = plain(m.omega).x * qd, y = plain(m.omega).y * qd;
      Vec3<S> couple{axial * y, -(axial * x), S(0.0)};
      if constexpr (accelerated) couple.z = axial * qdd;
      add_moment(f, couple);
    }
    b.pA = wrench_of<typename Unit::Body>(f);
    if (b.boundaries) show_motion(b, plain(m));
  }
}

template <class T>
template <class Unit>
void ChainSweeps<T>::backward_pass(Unit& unit, const T* tau_all) {
  using S = typename Unit::S;
  constexpr int lanes = Unit::lanes;
  auto I = Unit::Body::Inertia::zero();
  auto w = Unit::Body::Wrenches::zero();
  for (std::size_t i = unit.bodies.size(); i-- > 0;) {
    auto& b = unit.bodies[i];
    if (b.boundaries) {
      ArticulatedInertia<S> I_sum = plain(I);
      Force<S> p_sum = w.wrench();
      add_boundaries(b, I_sum, p_sum);
      I = inertia_of<typename Unit::Body>(I_sum), w.set_wrench(p_sum);
    }
    const S tau =
        side_by_side<T, lanes>([&](int k) { return b.y[k] < 0 ? T(0.0) : tau_all[b.y[k]]; });
    if (i == 0 && unit.on_ground)
      return eliminate_joint_on_ground(unit, axis_inertia(I), tau - w.axis_moment());
    if constexpr (!Unit::Body::paired) {
      if (!b.kind.geared) {
        eliminate_joint(b, tau, I, w);
        continue;
      }
    }
    eliminate_turned_joint(unit, b, tau, I, w);
  }
  propagate_to_parents(unit, plain(I), Force<S>(w.wrench()));
}

template <class T>
template <class Unit>
void ChainSweeps<T>::accelerate(Unit& unit, T* ydd_all) {
  using S = typename Unit::S;
  constexpr int lanes = Unit::lanes;
  Motion<S> m = Motion<S>::zero();
  if (!unit.on_ground) {
    m.w = this->template gather_vector<lanes>(
        unit.parent, [](auto& s) -> auto& { return s.da.w; });
    m.v = this->template gather_vector<lanes>(
        unit.parent, [](auto& s) -> auto& { return s.da.v; });
    m.v += cross(m.w, unit.r);
    m = {unit.in_base_frame(m.w), unit.in_base_frame(m.v)};
  }
  S ydd = S(0.0);
  std::span bodies(unit.bodies);
  if (unit.on_ground) {  // which stands still: the first rate is its own
    auto& b = bodies[0];
    m.w.z = ydd = b.u;
    Base::template scatter<lanes>(ydd, ydd_all, b.y);
    if (b.boundaries) show_acceleration(b, m);
    bodies = bodies.subspan(1);
  }
  for (auto& b : bodies) {
    const bool turned = turns_first<Unit>(b.kind);
    const auto& U = plain(b.U());
    if (turned) {
      const S before = ydd;
      if constexpr (Unit::Body::paired) {  // both sums go on side by side
        ydd = (b.u - m.w.x * U.n.x - m.w.y * U.n.y - m.w.z * U.n.z) - dot(m.v, U.f);
      } else {
        ydd = b.u - dot(m, U);
      }
      if (b.coupled) [[unlikely]]
        ydd -= unit.gears[b.gear].coupling_over_D * before;
    }
    const Turn<S> t = Turn<S>::of(b.c, b.s);
    with_placement(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED {
      m = {rotate_to_child<kind>(b.P, t, m.w),
           rotate_to_child<kind>(b.P, t, shifted_velocity<kind>(b.P, m))};
    });
    if (turned) {
      m.w.z += ydd;
    } else {  // U.n.z is 1
      const S w = b.u - (m.w.x * U.n.x + m.w.y * U.n.y + dot(m.v, U.f));
      ydd = w - m.w.z;
      m.w.z = w;
    }
    Base::template scatter<lanes>(ydd, ydd_all, b.y);
    if (b.boundaries) show_acceleration(b, m);
  }
}

template <class T>
template <class Unit>
void ChainSweeps<T>::backward_force_pass(Unit& unit, T* tau_all) {
  using S = typename Unit::S;
  auto f = Unit::Body::Wrench::zero();
  for (std::size_t i = unit.bodies.size(); i-- > 0;) {
    auto& b = unit.bodies[i];
    f += b.pA;
    if (b.boundaries) {
      Force<S> sum = plain(f);
      add_boundaries(b, sum);
      f = wrench_of<typename Unit::Body>(sum);
    }
    S tau = axis_moment(f);
    if (i == 0 && unit.on_ground) {
      if (b.kind.geared) tau += unit.gears[b.gear].force;
      return Base::template scatter<Unit::lanes>(tau, tau_all, b.y);
    }
    turn_to_parent(Unit::Body::InwardTurn::of(b.c, b.s), f);
    with_placement(b.kind,
                   [&]<ChainKind kind>() ESPALIER_INLINED { place_on_parent<kind>(b.P, f); });
    if (b.kind.geared) [[unlikely]] {
      tau += unit.gears[b.gear].force;
      if (b.transverse) add_moment(f, unit.gears[b.gear].couple);
    }
    Base::template scatter<Unit::lanes>(tau, tau_all, b.y);
  }
  propagate_to_parents(unit, plain(f));
}

}  // namespace espalier
