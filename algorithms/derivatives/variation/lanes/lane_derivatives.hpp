#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/derivatives/variation/lanes/lane_poses.hpp"
#include "algorithms/derivatives/variation/lanes/slot_moves.hpp"
#include "algorithms/derivatives/variation/mass_factor/branch_solves.hpp"
#include "algorithms/derivatives/variation/pairs/pair_rows.hpp"
#include "algorithms/derivatives/variation/variation_terms.hpp"

namespace espalier {

/// VariationState and DerivativeSweep in one, for trees of joints of one rate without loads, with
/// folded rotors or none: four joints in a register, whatever carries them, and joint by joint only
/// what is propagated along the tree. Such joints need no twist of their parents: with their own v
/// and a, v × S is psi1 and a × S + v × psi1 is psi2, since S × S = 0. A rotor adds to what its
/// joint propagates to the parent.
/// Frame: that of VariationState.  Source: theory/derivatives 12, 13.3, 20.
class LaneDerivatives {
 public:
  static bool pays(const Model& model) { return JointLanes::pays(model); }
  /// For a model that pays(), else null.
  static std::unique_ptr<LaneDerivatives> where_they_pay(const Model& model) {
    return pays(model) ? std::make_unique<LaneDerivatives>(model) : nullptr;
  }
  /// @param model  that JointLanes takes
  explicit LaneDerivatives(const Model& model)
      : model_(model),
        plan_(model),
        poses_(model, plan_),
        rows_(model, plan_),
        root_twist_(plan_.roots().size()),
        groups_(plan_.groups().size()),
        twist_(2 * plan_.slots(), Quad(0.0)),
        acceleration_(2 * plan_.slots(), Quad(0.0)),
        composite_(6 * plan_.slots(), Quad(0.0)),
        wrench_(2 * plan_.slots(), Quad(0.0)),
        of_rotors_(plan_.slots(), Quad(0.0)) {
    each([&](const JointLanes::Group& g, GroupState& s) {
      s.numbers = rows_.at(0, g.rate);
      has_rotors_ = has_rotors_ || g.has_rotors;
    });
  }

  /// Poses, twists, composite inertias and their rates, and terms that need no acceleration.
  void update(const double* q, const double* v, const Vec3<double>& gravity) {
    place(q, gravity);
    add_twists(v);
    each([&](const JointLanes::Group& g, GroupState& s) {
      s.v = motion(twist_, g);
      s.psi1 = cross(s.v, s.S);
      const Motion<Quad> ups = s.psi1 + s.psi1;
      PairRows::put<PairRows::psi1>(s.numbers, s.psi1.w);
      PairRows::put<PairRows::ups>(s.numbers, ups);
      const Force<Quad> h = s.I * s.v;
      s.gyroscopic = cross_star(s.v, h);
      give_composite(g, s.I, {inertia_rate(s.I, s.v), h});
      if (g.has_rotors) add_rotor_momenta(g, s);
    });
    start_root_rates();
    slot_moves::inward<6, 6, 4>(plan_.runs(), composite_.data(), momenta_of_rotors());
    each([&](const JointLanes::Group& g, GroupState& s) { add_terms(g, s); });
  }
  /// Poses and composite inertias alone, for mass_rows().
  void update_positions(const double* q) {
    place(q, Vec3<double>{0.0, 0.0, 0.0});
    each([&](const JointLanes::Group& g, GroupState& s) {
      give_inertia(g, s.I, Sym3<Quad>::zero());
      if (g.has_rotors) s.spin = poses_.spin(g);
    });
    for (const JointLanes::Root& r : plan_.roots()) {
      give_root(r.slot, model_.folded_inertia(r.body), {});
    }
    slot_moves::inward<6, 4, 0>(plan_.runs(), composite_.data(), nullptr);
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      take_inertia(plan_.groups()[k], groups_[k].IC);
      add_mass_terms(plan_.groups()[k], groups_[k]);
    }
  }

  /// Accelerations, and the wrenches that bodies need with all that hangs on them, after update().
  /// @param vdot        or nullptr for zero, which is not enough for derivatives
  /// @param[out] tau    forces that give vdot
  void accelerate(const double* vdot, double* tau) {
    start_root_wrenches(vdot);
    each([&](const JointLanes::Group& g, GroupState& s) {
      s.acceleration = vdot != nullptr ? plan_.of_rates(vdot, g) : Quad(0.0);
      give(scale(s.rate, s.psi1) + scale(s.acceleration, s.S), acceleration_, g);
    });
    slot_moves::sum_outward<2>(plan_.runs(), acceleration_.data());
    each([&](const JointLanes::Group& g, GroupState& s) {
      const Motion<Quad> a = motion(acceleration_, g);
      if (vdot != nullptr) {  // pairs ask for it
        s.psi2 = cross(a, s.S) + cross(s.v, s.psi1);
        PairRows::put<PairRows::psi2>(s.numbers, s.psi2);
      }
      const Force<Quad> f = s.I * a + s.gyroscopic;
      give(f.n, f.f, wrench_, g);
      s.force = (g.armature + g.rotor_inertia) * s.acceleration;
      if (!g.has_rotors) return;
      s.force += dot(s.spin, slot_moves::take<2>(acceleration_.data(), g.parent));
      slot_moves::give<1>(scale(s.acceleration, s.spin) + scale(s.rate, s.turned_spin),
                          of_rotors_.data() + g.slot);
    });
    slot_moves::inward<2, 2, 0>(plan_.runs(), wrench_.data(), momenta_of_rotors());
    each([&](const JointLanes::Group& g, GroupState& s) {
      const Motion<Quad> f = motion(wrench_, g);
      s.f = {f.w, f.v};
      const Quad force = dot(s.S, s.f) + s.force;
      plan_.to_rates(force, tau, g);
    });
    for (const JointLanes::Root& r : plan_.roots()) {
      const Quad *n = wrench_.data() + 2 * r.slot, *f = n + 1;
      for (int k = 0; k < 6; ++k) {
        tau[r.rate + k] = k < 3 ? (*n)[k] : (*f)[k - 3];
        if (vdot != nullptr) tau[r.rate + k] += r.armature[k] * vdot[r.rate + k];
      }
    }
  }

  /// Rows of M as a factor takes them, after update() or update_positions().
  void mass_rows(BranchFactor& factor) {
    for (const JointLanes::Root& r : plan_.roots()) {
      const RigidInertia<double> I = root_inertia(r.slot);
      for (int k = 0; k < 6; ++k) {
        Motion<double> e = Motion<double>::zero();
        e[k] = 1.0;
        const Force<double> t1 = I * e;
        double* row = factor.row(r.rate + k);
        for (int j = 0; j < k; ++j) row[j] = t1[j];
        row[k] = t1[k] + r.armature[k];
      }
    }
    for (const JointLanes::Joint& j : plan_.joints()) rows_.mass_row(j.rate, factor.row(j.rate));
  }

  /// Derivatives by q and v, and M, after accelerate(): all entries.
  /// @param M  or nullptr where it is not wanted
  void inverse_dynamics(double* Dq, double* Dv, double* M) {
    add_pairs();
    rows_.write(Dq, Dv, M);
  }
  /// Those by q and v as right-hand sides of solves.
  /// @param root_is_known  leaves out columns that write_root_solution() writes
  void right_sides(bool root_is_known, BranchSolves& solves) {
    add_pairs();
    rows_.write_right_sides(root_is_known ? 6 : 0, solves.A(), solves.B(), solves.stride());
    if (root_is_known) write_turning(solves.B(), solves.stride());
  }
  /// Columns of dvdot/dq and dvdot/dv by a root that floats_alone(), as far as they are known.
  void write_root_solution(double* X, double* Y) const {
    espalier::write_root_solution<double>(poses_.ground(0), model_.nv(), X);
    write_root_rate_solution<double>(root_twist_[0], model_.nv(), Y);
  }

 private:
  struct GroupState {
    double* numbers;             ///< of its joints in the matrices' rows
    Motion<Quad> S, psi1, psi2;  ///< of the joint
    Motion<Quad> v;
    RigidInertia<Quad> I, IC;  ///< of the body; with all that hangs on it
    Force<Quad> gyroscopic, f;
    Force<Quad> turned;              ///< Bhat psi1
    Quad rate, acceleration, force;  ///< of the joint; force: of armature and rotors
    Vec3<Quad> spin, turned_spin;  ///< momentum per rate of the joint; turned by the parent's twist
  };
  using Quads = std::vector<Quad>;

  /// Calls f(group, state) for all groups in turn.
  template <class F>
  void each(F&& f) {
    const JointLanes::Group* g = plan_.groups().data();
    for (GroupState *s = groups_.data(), *end = s + groups_.size(); s != end; ++s, ++g) f(*g, *s);
  }

  static Motion<Quad> motion(const Quads& slots, const JointLanes::Group& g) {
    const Quad* first = slots.data() + 2 * g.slot;
    return {slot_moves::take<2>(first), slot_moves::take<2>(first + 1)};
  }
  static void give(const Vec3<Quad>& angular, const Vec3<Quad>& linear, Quads& slots,
                   const JointLanes::Group& g) {
    Quad* first = slots.data() + 2 * g.slot;
    slot_moves::give<2>(angular, first), slot_moves::give<2>(linear, first + 1);
  }
  static void give(const Motion<Quad>& x, Quads& slots, const JointLanes::Group& g) {
    give(x.w, x.v, slots, g);
  }
  static Motion<double> six(const double* x) { return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; }
  const Quad* momenta_of_rotors() const { return has_rotors_ ? of_rotors_.data() : nullptr; }

  /// Poses, axes of joints and inertias in the common frame.
  void place(const double* q, const Vec3<double>& gravity) {
    poses_.update(q, gravity);
    each([&](const JointLanes::Group& g, GroupState& s) {
      const Transform<Quad> X = poses_.pose(g);
      s.S = LanePoses::axis(g, X);
      s.I = congruence(X, g.inertia);
      PairRows::put<PairRows::S>(s.numbers, s.S);
    });
    std::fill_n(composite_.begin() + 6 * JointLanes::ground_slot, 6, Quad(0.0));
  }

  void add_twists(const double* v) {
    std::fill_n(twist_.begin() + 2 * JointLanes::ground_slot, 2, Quad(0.0));
    each([&](const JointLanes::Group& g, GroupState& s) {
      s.rate = plan_.of_rates(v, g);
      give(scale(s.rate, s.S), twist_, g);
    });
    for (std::size_t r = 0; r < root_twist_.size(); ++r) {
      const JointLanes::Root& root = plan_.roots()[r];
      root_twist_[r] = six(v + root.rate);
      twist_[2 * root.slot] = slot_moves::quad(root_twist_[r].w);
      twist_[2 * root.slot + 1] = slot_moves::quad(root_twist_[r].v);
    }
    slot_moves::sum_outward<2>(plan_.runs(), twist_.data());
  }

  /// Sixteen numbers of an inertia and the rate of its rotational part in a slot's first Quads.
  void give_inertia(const JointLanes::Group& g, const RigidInertia<Quad>& I, const Sym3<Quad>& J) {
    Quad* to = composite_.data() + 6 * g.slot;
    slot_moves::give<6>(I.m, I.h.x, I.h.y, I.h.z, to);
    slot_moves::give<6>(I.I.xx, I.I.xy, I.I.xz, I.I.yy, to + 1);
    slot_moves::give<6>(I.I.yz, I.I.zz, J.yz, J.zz, to + 2);
    slot_moves::give<6>(J.xx, J.xy, J.xz, J.yy, to + 3);
  }
  void give_composite(const JointLanes::Group& g, const RigidInertia<Quad>& I,
                      const InertiaRate<Quad>& B) {
    give_inertia(g, I, B.J);
    slot_moves::give<6>(B.h.n, composite_.data() + 6 * g.slot + 4);
    slot_moves::give<6>(B.h.f, composite_.data() + 6 * g.slot + 5);
  }
  /// @return the rate of the rotational part
  Sym3<Quad> take_inertia(const JointLanes::Group& g, RigidInertia<Quad>& I) const {
    const Quad* from = composite_.data() + 6 * g.slot;
    Sym3<Quad> J;
    slot_moves::take<6>(from, I.m, I.h.x, I.h.y, I.h.z);
    slot_moves::take<6>(from + 1, I.I.xx, I.I.xy, I.I.xz, I.I.yy);
    slot_moves::take<6>(from + 2, I.I.yz, I.I.zz, J.yz, J.zz);
    slot_moves::take<6>(from + 3, J.xx, J.xy, J.xz, J.yy);
    return J;
  }
  void give_root(int slot, const RigidInertia<double>& I, const InertiaRate<double>& B) {
    Quad* to = composite_.data() + 6 * slot;
    to[0] = Quad(I.m, I.h.x, I.h.y, I.h.z);
    to[1] = Quad(I.I.xx, I.I.xy, I.I.xz, I.I.yy);
    to[2] = Quad(I.I.yz, I.I.zz, B.J.yz, B.J.zz);
    to[3] = Quad(B.J.xx, B.J.xy, B.J.xz, B.J.yy);
    to[4] = slot_moves::quad(B.h.n), to[5] = slot_moves::quad(B.h.f);
  }
  RigidInertia<double> root_inertia(int slot) const {
    const Quad* x = composite_.data() + 6 * slot;
    return {x[0][0],
            {x[0][1], x[0][2], x[0][3]},
            {x[1][0], x[1][1], x[1][2], x[1][3], x[2][0], x[2][1]}};
  }
  InertiaRate<double> root_inertia_rate(int slot) const {
    const Quad* x = composite_.data() + 6 * slot;
    return {{x[3][0], x[3][1], x[3][2], x[3][3], x[2][2], x[2][3]},
            {slot_moves::vec3(x[4]), slot_moves::vec3(x[5])}};
  }

  /// Momenta of rotors, which their joints hand to the parents. (13.8)
  void add_rotor_momenta(const JointLanes::Group& g, GroupState& s) {
    s.spin = poses_.spin(g);
    s.turned_spin = cross(slot_moves::take<2>(twist_.data(), g.parent), s.spin);
    slot_moves::give<1>(scale(s.rate, s.spin), of_rotors_.data() + g.slot);
  }
  /// t1, and what a joint has of M with itself.
  void add_mass_terms(const JointLanes::Group& g, const GroupState& s) {
    Force<Quad> t1 = s.IC * s.S;
    PairRows::put<PairRows::own_mass>(s.numbers, dot(s.S, t1) + (g.armature + g.rotor_inertia));
    if (g.has_rotors) t1.n += s.spin;
    PairRows::put<PairRows::t1>(s.numbers, t1);
  }
  /// What of (12.1) needs no acceleration.
  void add_terms(const JointLanes::Group& g, GroupState& s) {
    InertiaRate<Quad> B;
    B.J = take_inertia(g, s.IC);
    B.h.n = slot_moves::take<6>(composite_.data() + 6 * g.slot + 4);
    B.h.f = slot_moves::take<6>(composite_.data() + 6 * g.slot + 5);
    add_mass_terms(g, s);
    Vec3<Quad> t2 = B.transpose_times(s.S);
    Force<Quad> t3 = B.times(s.S.w) + s.IC * (s.psi1 + s.psi1);
    s.turned = B.times(s.psi1.w);
    PairRows::put<PairRows::own_v>(s.numbers, dot(s.S, t3));
    if (g.has_rotors) t2 += s.turned_spin, t3.n += s.turned_spin;
    PairRows::put<PairRows::t2>(s.numbers, t2);
    PairRows::put<PairRows::t3>(s.numbers, t3);
  }

  void start_root_rates() {
    for (std::size_t r = 0; r < root_twist_.size(); ++r) {
      const JointLanes::Root& root = plan_.roots()[r];
      const Motion<double>& twist = root_twist_[r];
      const RigidInertia<double>& I = model_.folded_inertia(root.body);
      give_root(root.slot, I, {inertia_rate(I, twist), I * twist});
      for (int k = 0; k < 6; ++k) {
        Motion<double> e = Motion<double>::zero();
        e[k] = 1.0;
        const Motion<double> ups = cross(twist, e);
        for (int i = 0; i < 6; ++i) *rows_.at(PairRows::ups + i, root.rate + k) = ups[i];
      }
    }
  }
  void start_root_wrenches(const double* vdot) {
    const auto start = [&](int slot, const Motion<double>& a, const Force<double>& f) {
      acceleration_[2 * slot] = slot_moves::quad(a.w);
      acceleration_[2 * slot + 1] = slot_moves::quad(a.v);
      wrench_[2 * slot] = slot_moves::quad(f.n), wrench_[2 * slot + 1] = slot_moves::quad(f.f);
    };
    start(JointLanes::ground_slot, {Vec3<double>::zero(), -poses_.gravity()},
          Force<double>::zero());
    for (std::size_t r = 0; r < root_twist_.size(); ++r) {
      const JointLanes::Root& root = plan_.roots()[r];
      Motion<double> a{Vec3<double>::zero(), poses_.ground(r)};
      if (vdot != nullptr) a += six(vdot + root.rate);
      const RigidInertia<double>& I = model_.folded_inertia(root.body);
      start(root.slot, a, I * a + cross_star(root_twist_[r], I * root_twist_[r]));
    }
  }
  /// What pairs are made of, after accelerate().
  void add_pairs() {
    for (const GroupState& s : groups_) {
      Force<Quad> t4 = s.turned + s.IC * s.psi2;
      PairRows::put<PairRows::own_q>(s.numbers, dot(s.S, t4));
      t4 += cross_star(s.S, s.f);
      PairRows::put<PairRows::t4>(s.numbers, t4);
    }
    for (std::size_t r = 0; r < root_twist_.size(); ++r) add_root_pairs(r);
  }
  /// Entries of dtau/dv in the angular columns of the first root, and a zero. (12.2)
  void write_turning(double* B, long apart) {
    const auto v = Motion<Quad>::from(root_twist_[0]);
    each([&](const JointLanes::Group& g, const GroupState& s) {
      const Vec3<Quad> x = cross(PairRows::get<PairRows::t1>(s.numbers), v.w) +
                           cross(PairRows::get<PairRows::t1 + 3>(s.numbers), v.v) +
                           PairRows::get<PairRows::t2>(s.numbers);
      Quad row[JointLanes::lanes] = {x.x, x.y, x.z, Quad(0.0)};
      slot_moves::transpose(row[0], row[1], row[2], row[3]);
      for (int l = 0; l < g.used; ++l) row[l].store(B + (g.rate + l) * apart);
    });
  }
  /// Columns of a floating root, which needs no twist of the ground, and its pairs with itself.
  void add_root_pairs(std::size_t r) {
    const JointLanes::Root& root = plan_.roots()[r];
    const Vec3<double>& ground = poses_.ground(r);
    for (int k = 0; k < 6; ++k) {
      Vec3<double> e = Vec3<double>::zero();
      if (k < 3) e[k] = 1.0;
      const Vec3<double> turned = cross(ground, e);
      for (int i = 0; i < 3; ++i) {
        *rows_.at(PairRows::psi2 + i, root.rate + k) = 0.0;
        *rows_.at(PairRows::psi2 + 3 + i, root.rate + k) = turned[i];
      }
    }
    rows_.block(r).fill(root_inertia(root.slot), root_inertia_rate(root.slot), root_twist_[r],
                        ground, root.armature);
  }
  const Model& model_;
  JointLanes plan_;
  LanePoses poses_;
  PairRows rows_;
  std::vector<Motion<double>> root_twist_;
  std::vector<GroupState> groups_;
  Quads twist_, acceleration_;  ///< slots of angular and linear part
  Quads composite_;             ///< slots: inertia, rate of its rotational part, momentum
  Quads wrench_;                ///< slots of moment and force
  Quads of_rotors_;             ///< moments of rotors by slot, zero where there are none
  bool has_rotors_ = false;
};

}  // namespace espalier
