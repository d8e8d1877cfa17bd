#pragma once

#include "algorithms/limb_units.hpp"

namespace espalier {

/// The limbs of a robot in a recursive algorithm: chains of bodies on revolute joints
/// (limb_plan.hpp), written out by the kind of their placements (limb_kernels.hpp); where T is a
/// double, several limbs are the lanes of a pack. Joints may drive rotors on the body before, and
/// two that follow each other may be a belt pair, whose rates have an inertia between them.
///
/// The owner calls the passes group by group: outward, in the order of the groups, with the motion
/// of the carriers in their stations; inward, backwards, with all that hangs on stations added up.
/// Frames: LimbBody::F.  Source: Featherstone (2008), Tables 5.1 and 7.1; SPEC section 5.4.
template <class T>
class LimbSweeps : public LimbUnits<T> {
 public:
  using LimbUnits<T>::LimbUnits;

  /// Base to tip: motion, and the wrench that each body needs for it.
  /// @param v, vdot  independent rates and accelerations; vdot may be nullptr for zero
  void outward_motion(int group, const T* v, const T* vdot) {
    with_unit(group, [&](auto& unit) {
      vdot == nullptr ? move<false>(unit, v, vdot) : move<true>(unit, v, vdot);
    });
  }
  /// Tip to base: articulated inertias.
  /// @param tau  forces on the independent rates
  void inward_inertia(int group, const T* tau) {
    with_unit(group, [&](auto& unit) { take_in(unit, tau); });
  }
  /// Base to tip: accelerations beyond those of outward_motion.
  /// @param[out] ydd  of the independent rates
  void outward_acceleration(int group, T* ydd) {
    with_unit(group, [&](auto& unit) { accelerate(unit, ydd); });
  }
  /// Tip to base: forces of inverse dynamics, with all that is reflected.
  /// @param[out] tau  on the independent rates
  void inward_force(int group, T* tau) {
    with_unit(group, [&](auto& unit) { add_up(unit, tau); });
  }

  /// Takes off the wrench that a body of a limb needs, after its outward_motion; model's frame.
  void push(int body, const Force<T>& wrench) {
    const Force<T> f = plan_.body(body).F.force_to(wrench);
    const auto& place = place_[body];
    with_unit(place.group, [&](auto& unit) {
      auto& pA = unit.bodies[place.index].pA;
      for (int a = 0; a < 6; ++a) lane_of(pA[a], place.lane) -= f[a];
    });
  }

 private:
  using Base = LimbUnits<T>;
  template <class S>
  using Gear = typename Base::template Gear<S>;
  template <class S>
  using Tie = typename Base::template Tie<S>;
  using Base::cosine_, Base::for_numbers, Base::for_stations, Base::lane_of, Base::of_lane,
      Base::place_, Base::plan_, Base::sine_, Base::stations_, Base::with_unit;

  /// Calls f with the kind as a constant. Geared joints have kernels for any offset only.
  template <class F>
  ESPALIER_ALWAYS_INLINE static void with_kind(const LimbKind& kind, F&& f) {
    switch (kind.twist) {
      case Twist::parallel:
        return with_kind_of<Twist::parallel>(kind, f);
      case Twist::right:
        return with_kind_of<Twist::right>(kind, f);
      case Twist::any:
        return with_kind_of<Twist::any>(kind, f);
    }
  }
  template <Twist twist, class F>
  ESPALIER_ALWAYS_INLINE static void with_kind_of(const LimbKind& kind, F&& f) {
    if (kind.geared) return f.template operator()<LimbKind{twist, true, true}>();
    if (kind.offset) return f.template operator()<LimbKind{twist, true, false}>();
    f.template operator()<LimbKind{twist, false, false}>();
  }

  // --- passes -----------------------------------------------------------------------------------

  template <bool accelerated, class Unit>
  void move(Unit& unit, const T* v, const T* vdot) {
    using S = typename Unit::S;
    constexpr int lanes = Unit::lanes;
    BodyMotion<S> m;
    {
      const auto omega = this->template gather_vector<lanes>(
          unit.carrier, [](auto& s) -> auto& { return s.omega; });
      const auto alpha = this->template gather_vector<lanes>(
          unit.carrier, [](auto& s) -> auto& { return s.alpha; });
      auto a = this->template gather_vector<lanes>(
          unit.carrier, [](auto& s) -> auto& { return s.a; });
      a += acceleration_matrix(omega, alpha) * unit.r;
      m.omega = unit.mounted(omega), m.alpha = unit.mounted(alpha), m.a = unit.mounted(a);
      m.Om = Mat3<S>::zero();  // the first body stands at the mount
    }
    [[maybe_unused]] S before = S(0.0);  // acceleration of the last rate
    for (auto& b : unit.bodies) {
      const S c = Base::template gather<lanes>(cosine_.data(), b.body),
              s = Base::template gather<lanes>(sine_.data(), b.body);
      b.c = c * b.cos_theta - s * b.sin_theta;
      b.s = s * b.cos_theta + c * b.sin_theta;
      const S qd = Base::template gather<lanes>(v, b.rate);
      S qdd = S(0.0);
      if constexpr (accelerated) qdd = Base::template gather<lanes>(vdot, b.rate);
      with_kind(b.kind, [&]<LimbKind kind>() ESPALIER_INLINED {
        if constexpr (kind.offset) m.a += swept<kind>(b.P, m.Om);
        if constexpr (kind.geared) {
          Gear<S>& gear = unit.gears[b.gear];
          gear.couple = cross(m.omega, scale(qd, b.momentum));
          gear.force = dot(m.alpha, b.momentum);
          if constexpr (accelerated) {
            gear.couple += scale(qdd, b.momentum);
            gear.force += b.reflected * qdd;
            if (b.tied) {
              gear.force += b.coupling * before;
              unit.gears[b.gear - 1].force += b.coupling * qdd;
            }
          }
        }
        const Turn<S> t = Turn<S>::of(b.c, b.s);
        m.omega = turn_on<kind>(b.P, t, m.omega);
        m.alpha = turn_on<kind>(b.P, t, m.alpha);
        m.a = turn_on<kind>(b.P, t, m.a);
      });
      m.alpha.x += m.omega.y * qd;
      m.alpha.y -= m.omega.x * qd;
      if constexpr (accelerated) m.alpha.z += qdd, before = qdd;
      m.omega.z += qd;
      m.Om = acceleration_matrix(m.omega, m.alpha);
      b.pA = inertial_wrench(b.moments, m);
      if (b.stations) show_motion(b, m);
    }
  }

  template <class Unit>
  void take_in(Unit& unit, const T* tau_all) {
    using S = typename Unit::S;
    constexpr int lanes = Unit::lanes;
    ArticulatedInertia<S> I = ArticulatedInertia<S>::zero();
    Force<S> p = Force<S>::zero();
    for (std::size_t i = unit.bodies.size(); i-- > 0;) {
      auto& b = unit.bodies[i];
      if (b.stations) {
        ArticulatedInertia<S> I_sum = I;
        Force<S> p_sum = p;
        add_stations(b, I_sum, p_sum);
        I = I_sum, p = p_sum;
      }
      const S tau =
          side_by_side<T, lanes>([&](int k) { return b.y[k] < 0 ? T(0.0) : tau_all[b.y[k]]; });
      with_kind(b.kind, [&]<LimbKind kind>() ESPALIER_INLINED {
        if constexpr (kind.geared) {
          eliminate_geared<kind>(b, unit.gears[b.gear], unit.tie, tau, I, p);
        } else {
          eliminate<kind>(b, tau, I, p);
        }
      });
    }
    if (unit.on_ground) return;
    turn_back<0, 1, false>(I.A, unit.mount);
    turn_back<0, 1, false>(I.B, unit.mount);
    turn_back<0, 1, false>(I.C, unit.mount);
    turn_back<0, 1>(p, unit.mount);
    ArticulatedInertia<S> Ia = shifted(I, unit.r);
    p.n += cross(unit.r, p.f);
    for (int k = 0; k < unit.used; ++k) {
      Station<T>& station = stations_[unit.carrier[k]];
      const auto add = [&](T& to, S& from) { to += lane_of(from, k); };
      for_numbers(station.IA, Ia, add);
      for_numbers(station.pA, p, add);
    }
  }
  // What stations get and give is passed by copies and not inlined: numbers that anything points at
  // would not stay in registers.
  template <class Body, class S>
  [[gnu::noinline]] void show_motion(const Body& b, BodyMotion<S> m) {
    for_stations(b, [&](int k, Station<T>& station, const Transform<double>& F) {
      // The origin of the model's frame stands at -F.r here.
      const Vec3<S> a = m.a + scale(-F.r.z, m.Om.column(2));
      station.omega = transpose_times(F.E, of_lane(m.omega, k));
      station.alpha = transpose_times(F.E, of_lane(m.alpha, k));
      station.a = transpose_times(F.E, of_lane(a, k));
      station.IA = ArticulatedInertia<T>::zero();
      station.pA = Force<T>::zero();
    });
  }
  template <class Body, class S>
  [[gnu::noinline]] void add_stations(const Body& b, ArticulatedInertia<S>& I, Force<S>& p) {
    for_stations(b, [&](int k, Station<T>& station, const Transform<double>& F) {
      ArticulatedInertia<T> IA = congruence(F.inverse(), station.IA);
      for_numbers(I, IA, [&](S& to, T& from) { lane_of(to, k) += from; });
    });
    add_stations(b, p);
  }
  template <class Body, class S>
  [[gnu::noinline]] void add_stations(const Body& b, Force<S>& p) {
    for_stations(b, [&](int k, Station<T>& station, const Transform<double>& F) {
      Force<T> pA = F.force_to(station.pA);
      for_numbers(p, pA, [&](S& to, T& from) { lane_of(to, k) += from; });
    });
  }
  template <class Body, class S>
  [[gnu::noinline]] void show_acceleration(const Body& b, Motion<S> m) {
    for_stations(b, [&](int k, Station<T>& station, const Transform<double>& F) {
      station.da = F.inverse_times(Motion<T>{of_lane(m.w, k), of_lane(m.v, k)});
    });
  }

  template <class S, class C>
  ESPALIER_ALWAYS_INLINE static void add_body(const Moments<C, C>& b, ArticulatedInertia<S>& I) {
    const Sym3<C>& M = b.Sigma;
    I.A += Sym3<C>{M.yy + M.zz, -M.xy, -M.xz, M.xx + M.zz, -M.yz, M.xx + M.yy};
    I.B(0, 1) -= b.h.z, I.B(0, 2) += b.h.y;
    I.B(1, 0) += b.h.z, I.B(1, 2) -= b.h.x;
    I.B(2, 0) -= b.h.y, I.B(2, 1) += b.h.x;
    I.C.xx += b.m, I.C.yy += b.m, I.C.zz += b.m;
  }
  /// U is a column of I, and what the body before feels has no moment of inertia about the axis:
  /// with nothing reflected, D is the last number of U. (Ended lanes have no inertia, and 1 added.)
  template <LimbKind kind, class S, class Body>
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
    hand_back<kind>(P, t, p);
    b.U() = U;
    b.u = u;
    // Part by part, so that few numbers wait in registers.
    I.C.xx -= U.f.x * f.x, I.C.xy -= U.f.x * f.y, I.C.xz -= U.f.x * f.z;
    I.C.yy -= U.f.y * f.y, I.C.yz -= U.f.y * f.z, I.C.zz -= U.f.z * f.z;
    hand_back_C<kind>(P, t, I.C);
    I.B.row[0] -= scale(U.n.x, f);
    I.B.row[1] -= scale(U.n.y, f);
    I.B.row[2] = Vec3<S>::zero();
    const Mat3<S> B = hand_back_B<kind, true>(P, t, I.C, I.B);
    I.A.xx -= U.n.x * x, I.A.xy -= U.n.x * y, I.A.yy -= U.n.y * y;
    I.A.xz = I.A.yz = I.A.zz = S(0.0);
    hand_back_A<kind, true>(P, t, B, I.B, I.A);
  }
  /// U gets the momentum of the rotors, which lives in the body before: all is done there.
  template <LimbKind kind, class S, class Body>
  ESPALIER_ALWAYS_INLINE static void eliminate_geared(Body& b, Gear<S>& gear, Tie<S>& tie,
                                                      const S& tau, ArticulatedInertia<S>& I,
                                                      Force<S>& p) {
    const Turn<S> t = Turn<S>::of(b.c, b.s);
    add_body(b.moments, I);
    p += b.pA;
    Force<S> U = I.column(2);
    S D = I.A.zz + b.reflected, force = tau - gear.force - p.n.z;
    if (b.leads) {
      D += tie.momentum.n.z + tie.momentum.n.z + tie.inertia;
      force += tie.force;
      U += tie.momentum;
    }
    const S inverse = S(1.0) / D;
    const S u = force * inverse;
    const auto P = b.P;
    hand_back_C<kind>(P, t, I.C);
    const Mat3<S> B = hand_back_B<kind, false>(P, t, I.C, I.B);
    hand_back_A<kind, false>(P, t, B, I.B, I.A);
    hand_back<kind>(P, t, p);
    hand_back<kind>(P, t, U);
    U.n += b.momentum;
    I.subtract_outer(inverse, U);
    p += scale(u, U);
    p.n += gear.couple;
    b.U() = scale(inverse, U);
    b.u = u;
    if (b.tied) {
      gear.share = inverse * b.coupling;
      tie = {scale(-gear.share, U), -(gear.share * b.coupling), -(b.coupling * u)};
    }
  }

  template <class Unit>
  void accelerate(Unit& unit, T* ydd_all) {
    using S = typename Unit::S;
    constexpr int lanes = Unit::lanes;
    Motion<S> m;
    m.w = this->template gather_vector<lanes>(
        unit.carrier, [](auto& s) -> auto& { return s.da.w; });
    m.v = this->template gather_vector<lanes>(
        unit.carrier, [](auto& s) -> auto& { return s.da.v; });
    m.v += cross(m.w, unit.r);
    m = {unit.mounted(m.w), unit.mounted(m.v)};
    S ydd = S(0.0);
    for (auto& b : unit.bodies) {
      with_kind(b.kind, [&]<LimbKind kind>() ESPALIER_INLINED {
        if constexpr (kind.geared) {
          const S before = ydd;
          ydd = b.u - dot(m, b.U());
          if (b.tied) ydd -= unit.gears[b.gear].share * before;
        }
        const Turn<S> t = Turn<S>::of(b.c, b.s);
        m = {turn_on<kind>(b.P, t, m.w), turn_on<kind>(b.P, t, shifted_velocity<kind>(b.P, m))};
        if constexpr (kind.geared) {
          m.w.z += ydd;
        } else {  // U.n.z is 1
          const Force<S>& U = b.U();
          const S w = b.u - (m.w.x * U.n.x + m.w.y * U.n.y + dot(m.v, U.f));
          ydd = w - m.w.z;
          m.w.z = w;
        }
      });
      Base::template scatter<lanes>(ydd, ydd_all, b.y);
      if (b.stations) show_acceleration(b, m);
    }
  }

  template <class Unit>
  void add_up(Unit& unit, T* tau_all) {
    using S = typename Unit::S;
    Force<S> f = Force<S>::zero();
    for (std::size_t i = unit.bodies.size(); i-- > 0;) {
      auto& b = unit.bodies[i];
      f += b.pA;
      if (b.stations) {
        Force<S> sum = f;
        add_stations(b, sum);
        f = sum;
      }
      S tau = f.n.z;
      with_kind(b.kind, [&]<LimbKind kind>() ESPALIER_INLINED {
        hand_back<kind>(b.P, Turn<S>::of(b.c, b.s), f);
        if constexpr (kind.geared) {
          tau += unit.gears[b.gear].force;
          f.n += unit.gears[b.gear].couple;
        }
      });
      Base::template scatter<Unit::lanes>(tau, tau_all, b.y);
    }
    if (unit.on_ground) return;
    turn_back<0, 1>(f, unit.mount);
    f.n += cross(unit.r, f.f);
    for (int k = 0; k < unit.used; ++k) {
      for_numbers(stations_[unit.carrier[k]].pA, f,
                  [&](T& to, S& from) { to += lane_of(from, k); });
    }
  }
};

}  // namespace espalier
