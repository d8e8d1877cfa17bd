#pragma once

#include "algorithms/chains/units.hpp"

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
  /// Whether a body is eliminated after the rotation. With nothing reflected, before it costs less.
  template <class Unit>
  static constexpr bool turns_first(const ChainKind& kind) {
    return kind.geared || Unit::Body::paired;
  }
  using Base = ChainUnits<T>;
  using Base::cosine_, Base::sine_;
  using Base::for_numbers, Base::for_boundaries, Base::lane_of, Base::of_lane, Base::place_,
      Base::plan_, Base::boundaries_, Base::with_unit;

 private:
  template <class S>
  using CoupledPair = typename Base::template CoupledPair<S>;

  // --- passes -----------------------------------------------------------------------------------

  template <bool accelerated, class Unit>
  void forward_pass(Unit& unit, const T* v, const T* vdot) {
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
    m.Om = Mat3<S>::zero();              // the first body stands at the base_frame
    [[maybe_unused]] S before = S(0.0);  // acceleration of the last rate
    for (auto& b : unit.bodies) {
      this->template turn_body<Unit>(b);
      const S qd = Base::template gather<lanes>(v, b.rate);
      S qdd = S(0.0);
      if constexpr (accelerated) qdd = Base::template gather<lanes>(vdot, b.rate);
      with_kind(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED {
        if constexpr (kind.offset) m.a += swept<kind>(b.P, m.Om);
        if constexpr (kind.geared) {
          auto& gear = unit.gears[b.gear];
          gear.force = S(0.0);
          if (b.transverse) {
            gear.couple = cross(m.omega, scale(qd, gear.momentum));
            gear.force = dot(m.alpha, gear.momentum);
            if constexpr (accelerated) gear.couple += scale(qdd, gear.momentum);
            if (gear.rotor >= 0) move_rotor(unit, b.gear, m.omega, m.alpha, qd);
          }
        }
        const Turn<S> t = Turn<S>::of(b.c, b.s);
        m.omega = rotate_to_child<kind>(b.P, t, m.omega);
        m.alpha = rotate_to_child<kind>(b.P, t, m.alpha);
        m.a = rotate_to_child<kind>(b.P, t, m.a);
        if constexpr (kind.geared) {
          // Rotors' momentum along the axis needs the same couple on this body as on the one
          // before; its part about the axis is no force of the rate.
          auto& gear = unit.gears[b.gear];
          gear.force += gear.axial * m.alpha.z;
          if constexpr (accelerated) {
            gear.force += (b.reflected - gear.axial) * qdd;
            if (b.coupled) {
              gear.force += gear.coupling * before;
              unit.gears[b.gear - 1].force += gear.coupling * qdd;
            }
          }
        }
        const S x = m.omega.x * qd, y = m.omega.y * qd;
        m.alpha.x += y;
        m.alpha.y -= x;
        if constexpr (accelerated) m.alpha.z += qdd, before = qdd;
        m.omega.z += qd;
        m.Om = acceleration_matrix(m.omega, m.alpha);
        Force<S> f = inertial_wrench(b.moments, m);
        if constexpr (kind.geared) {
          const auto& axial = unit.gears[b.gear].axial;
          f.n.x += axial * y, f.n.y -= axial * x;
          if constexpr (accelerated) f.n.z += axial * qdd;
        }
        b.pA = wrench_of<typename Unit::Body>(f);
      });
      if (b.boundaries) show_motion(b, m);
    }
  }

  /// Not inlined: few joints drive asymmetric rotors.
  template <class Unit, class S>
  [[gnu::noinline]] void move_rotor(Unit& unit, int index, Vec3<S> omega, Vec3<S> alpha, S qd) {
    auto& gear = unit.gears[index];
    auto& rotor = unit.rotors[gear.rotor];
    rotor.move(Base::template gather<Unit::lanes>(cosine_.data(), rotor.body),
               Base::template gather<Unit::lanes>(sine_.data(), rotor.body), omega, alpha, qd,
               gear.couple, gear.force);
  }

  template <class Unit>
  void backward_pass(Unit& unit, const T* tau_all) {
    using S = typename Unit::S;
    constexpr int lanes = Unit::lanes;
    auto I = Unit::Body::Inertia::zero();
    auto p = Unit::Body::Wrench::zero();
    for (std::size_t i = unit.bodies.size(); i-- > 0;) {
      auto& b = unit.bodies[i];
      if (b.boundaries) {
        ArticulatedInertia<S> I_sum = plain(I);
        Force<S> p_sum = plain(p);
        add_boundaries(b, I_sum, p_sum);
        I = inertia_of<typename Unit::Body>(I_sum), p = wrench_of<typename Unit::Body>(p_sum);
      }
      const S tau =
          side_by_side<T, lanes>([&](int k) { return b.y[k] < 0 ? T(0.0) : tau_all[b.y[k]]; });
      if (i == 0 && unit.on_ground) return stand(unit, axis_inertia(I), tau - axis_moment(p));
      with_kind(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED {
        if constexpr (turns_first<Unit>(kind)) {
          eliminate_turned<kind>(unit, b, tau, I, p);
        } else {
          eliminate<kind>(b, tau, I, p);
        }
      });
    }
    propagate_to_parents(unit, plain(I), plain(p));
  }
  /// First body of chains on the ground, which does not move: its rate alone. Not inlined, so that
  /// the loop over the other bodies keeps its numbers in registers.
  /// @param D, force  of its rate, without its own inertia and wrench
  template <class Unit, class S>
  [[gnu::noinline]] static void stand(Unit& unit, S D, S force) {
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

  /// Elimination with nothing reflected: U is the axis column of I, D its last entry, and Ia has
  /// zeros about the axis. (Ended lanes have no inertia and D = 1.)
  template <ChainKind kind, class S, class Body>
  ESPALIER_ALWAYS_INLINE static void eliminate(Body& b, const S& tau, ArticulatedInertia<S>& I,
                                               Force<S>& p) {
    const Turn<S> t = Turn<S>::of(b.c, b.s);
    add_body(b.moments, I);
    p += b.pA;
    const S x = I.A.xz, y = I.A.yz, z = I.A.zz;
    const Vec3<S> f = I.B.row[2];
    const S inverse = S(1.0) / (z + b.reflected);
    const S u = (tau - p.n.z) * inverse;
    const Force<S> U{{inverse * x, inverse * y, S(1.0)}, scale(inverse, f)};
    p.n += Vec3<S>{u * x, u * y, u * z};
    p.f += scale(u, f);
    const auto P = b.P;
    to_parent<kind>(P, t, p);
    b.U() = U;
    b.u = u, b.D_inverse = inverse;
    // Part by part, so that few numbers occupy registers.
    I.C.xx -= U.f.x * f.x, I.C.xy -= U.f.x * f.y, I.C.xz -= U.f.x * f.z;
    I.C.yy -= U.f.y * f.y, I.C.yz -= U.f.y * f.z, I.C.zz -= U.f.z * f.z;
    to_parent_C<kind>(P, t, I.C);
    I.B.row[0] -= scale(U.n.x, f);
    I.B.row[1] -= scale(U.n.y, f);
    I.B.row[2] = Vec3<S>::zero();
    const Mat3<S> B = to_parent_B<kind, true>(P, t, I.C, I.B);
    I.A.xx -= U.n.x * x, I.A.xy -= U.n.x * y, I.A.yy -= U.n.y * y;
    I.A.xz = I.A.yz = I.A.zz = S(0.0);
    to_parent_A<kind, true>(P, t, B, I.B, I.A);
  }
  /// Elimination after the rotation to the body before, whose axes rotors' transverse momentum has:
  /// the rotation does not wait for the division.
  template <ChainKind kind, class Unit, class S, class Inertia, class Wrench>
  ESPALIER_ALWAYS_INLINE static void eliminate_turned(Unit& unit, typename Unit::Body& b,
                                                      const S& tau, Inertia& I, Wrench& p) {
    const auto t = Unit::Body::InwardTurn::of(b.c, b.s);
    add_body(b.moments, I);
    p += b.pA;
    Wrench U = axis_column(I);
    S D = axis_inertia(I) + b.reflected, force = tau - axis_moment(p);
    if constexpr (kind.geared) {
      force -= unit.gears[b.gear].force;
      add_axis_moment(U, unit.gears[b.gear].axial);
      if (b.leads_pair) {
        const CoupledPair<S>& pair = unit.pair;
        D += pair.momentum.n.z + pair.momentum.n.z + pair.inertia;
        force += pair.force;
        U += wrench_of<typename Unit::Body>(pair.momentum);
      }
    }
    const S inverse = S(1.0) / D;
    const S u = force * inverse;
    const auto P = b.P;
    to_parent<kind>(P, t, U);
    to_parent<kind>(P, t, I);
    to_parent<kind>(P, t, p);
    if constexpr (kind.geared) {
      if (b.transverse) {
        add_moment(U, unit.gears[b.gear].momentum);
        add_moment(p, unit.gears[b.gear].couple);
        if (const int rotor = unit.gears[b.gear].rotor; rotor >= 0) {
          add_rotation(I, unit.rotors[rotor].Delta);
        }
      }
    }
    subtract_outer(I, inverse, U);
    p += scale(u, U);
    b.U() = scale(inverse, U);
    b.u = u, b.D_inverse = inverse;
    if constexpr (kind.geared) {
      if (b.coupled) {
        auto& gear = unit.gears[b.gear];
        gear.coupling_over_D = inverse * gear.coupling;
        unit.pair = {scale(-gear.coupling_over_D, plain(U)),
                     -(gear.coupling_over_D * gear.coupling), -(gear.coupling * u)};
      }
    }
  }

  template <class Unit>
  void accelerate(Unit& unit, T* ydd_all) {
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
    for (auto& b : unit.bodies) {
      with_kind(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED {
        if constexpr (turns_first<Unit>(kind)) {
          [[maybe_unused]] const S before = ydd;
          ydd = b.u - dot(m, plain(b.U()));
          if constexpr (kind.geared) {
            if (b.coupled) ydd -= unit.gears[b.gear].coupling_over_D * before;
          }
        }
        const Turn<S> t = Turn<S>::of(b.c, b.s);
        m = {rotate_to_child<kind>(b.P, t, m.w),
             rotate_to_child<kind>(b.P, t, shifted_velocity<kind>(b.P, m))};
        if constexpr (turns_first<Unit>(kind)) {
          m.w.z += ydd;
        } else {  // U.n.z is 1
          const Force<S>& U = plain(b.U());
          const S w = b.u - (m.w.x * U.n.x + m.w.y * U.n.y + dot(m.v, U.f));
          ydd = w - m.w.z;
          m.w.z = w;
        }
      });
      Base::template scatter<lanes>(ydd, ydd_all, b.y);
      if (b.boundaries) show_acceleration(b, m);
    }
  }

  template <class Unit>
  void backward_force_pass(Unit& unit, T* tau_all) {
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
      with_kind(b.kind, [&]<ChainKind kind>() ESPALIER_INLINED {
        to_parent<kind>(b.P, Unit::Body::InwardTurn::of(b.c, b.s), f);
        if constexpr (kind.geared) {
          tau += unit.gears[b.gear].force;
          if (b.transverse) add_moment(f, unit.gears[b.gear].couple);
        }
      });
      Base::template scatter<Unit::lanes>(tau, tau_all, b.y);
    }
    propagate_to_parents(unit, plain(f));
  }
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

}  // namespace espalier
