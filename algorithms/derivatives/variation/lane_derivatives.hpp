#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "algorithms/derivatives/variation/base_pairs.hpp"
#include "algorithms/derivatives/variation/independent_ltl.hpp"
#include "algorithms/derivatives/variation/lane_moves.hpp"
#include "algorithms/derivatives/variation/path_lanes.hpp"

namespace espalier {

/// VariationState and DerivativeSweep in one, for trees of joints of one rate without loads, with
/// folded rotors or none, limbs as lanes: what is computed of each body, of four at once; pairs
/// with the way to the ground as in PlainDerivatives. A rotor adds to what its joint hands to the
/// parent. Frame: that of VariationState.  Source: theory/derivatives 12, 13.3 and 20.
class LaneDerivatives {
 public:
  /// Whether a model is a tree of such joints that fills half of the lanes: a lone arm does not.
  static bool pays(const Model& model) {
    return LaneTree::fits_geared(model) && half_full(LaneTree(model));
  }
  /// For a model that pays(), else null.
  static std::unique_ptr<LaneDerivatives> where_they_pay(const Model& model,
                                                         const WaysToGround& ways) {
    if (!LaneTree::fits_geared(model)) return nullptr;
    LaneTree tree(model);
    if (!half_full(tree)) return nullptr;
    return std::make_unique<LaneDerivatives>(model, ways, std::move(tree));
  }
  /// @param tree  of this model
  LaneDerivatives(const Model& model, const WaysToGround& ways, LaneTree tree)
      : model_(model),
        tree_(std::move(tree)),
        joints_(model),
        roots_(tree_.roots().size()),
        groups_(tree_.groups().size()),
        lane_of_rate_(model.nv()) {
    for (const Cluster& c : model.clusters()) {
      for (int k = 0; k < c.nv; ++k) rate_of_column_.push_back(c.v + k);
    }
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      const LaneTree::Group& g = tree_.groups()[k];
      for (int l = 0; l < LaneTree::lanes; ++l) {
        if (g.body[l] != 0) lane_of_rate_[g.rate[l]] = {static_cast<int>(k), l};
      }
    }
    std::vector<int> visited;
    for (const int k : ways.order()) {
      const Cluster& c = model.clusters()[k];
      if (c.nv > 1) continue;  // a root
      const int place = static_cast<int>(visited.size()), support = model.body(c.first).parent;
      coordinates_.push_back({place, c.v, support, root_of(ways.base(support))});
      visited.push_back(support);
    }
    paths_.plan(ways.paths(), visited);
  }

  /// Poses, twists, composite inertias and their rates.
  void update(const double* q, const double* v, const Vec3<double>& gravity) {
    start_roots(q, v, gravity);
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      const LaneTree::Group& g = tree_.groups()[k];
      GroupState& s = groups_[k];
      const Moving<Quad>& p = parents(g);
      lane_moves::place(g, p.X, lane_moves::taken(q, g.q), s.moving.X, s.S);
      s.psi1 = cross(p.v, s.S);
      s.ups = s.psi1 + s.psi1;
      s.twice_turned = cross(p.v, s.psi1);
      const Quad qd = lane_moves::taken(v, g.rate);
      s.turning = scale(qd, s.psi1);
      s.moving.v = p.v + scale(qd, s.S);
      s.I = congruence(s.moving.X, g.inertia);
      const Force<Quad> h = s.I * s.moving.v;
      s.gyroscopic = cross_star(s.moving.v, h);
      s.composite = {s.I, {inertia_rate(s.I, s.moving.v), h}};
      if (!g.has_rotors) continue;
      s.spin = transpose_times(p.X.E, g.rotor_momentum);
      s.turned_spin = cross(p.v.w, s.spin);
      s.rate = qd;
    }
    for (std::size_t k = groups_.size(); k-- > 0;) hand_on_composites(k);
  }
  /// Poses and composite inertias alone, for mass_rows().
  void update_positions(const double* q) {
    start_roots(q, nullptr, Vec3<double>{});
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      const LaneTree::Group& g = tree_.groups()[k];
      GroupState& s = groups_[k];
      const Transform<Quad>& parent = parents(g).X;
      if (g.has_rotors) s.spin = transpose_times(parent.E, g.rotor_momentum);
      lane_moves::place(g, parent, lane_moves::taken(q, g.q), s.moving.X, s.S);
      s.composite = {congruence(s.moving.X, g.inertia), {}};
      s.rate = Quad(0.0);
    }
    for (std::size_t k = groups_.size(); k-- > 0;) hand_on_composites(k);
  }

  /// Accelerations, and the wrenches that bodies need with all that hangs on them, after update().
  /// @param vdot        or nullptr for zero
  /// @param[out] tau    forces that give vdot
  void accelerate(const double* vdot, double* tau) {
    for (std::size_t r = 0; r < roots_.size(); ++r) {
      RootState& s = roots_[r];
      const LaneTree::Root& root = tree_.roots()[r];
      s.carried.a = {Vec3<double>::zero(), s.ground};
      if (root.body == 0) continue;
      if (vdot != nullptr) s.carried.a += six(vdot + root.rate);
      s.f = s.I * s.carried.a + cross_star(s.moving.v, s.I * s.moving.v);
    }
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      const LaneTree::Group& g = tree_.groups()[k];
      GroupState& s = groups_[k];
      const Carried<Quad>& p = parents_carried(g);
      s.psi2 = cross(p.a, s.S) + s.twice_turned;
      s.carried.a = p.a + s.turning;
      s.acceleration = vdot != nullptr ? lane_moves::taken(vdot, g.rate) : Quad(0.0);
      s.carried.a += scale(s.acceleration, s.S);
      s.f = s.I * s.carried.a + s.gyroscopic;
      s.force = g.armature * s.acceleration;
      if (g.has_rotors) s.force += g.rotor_inertia * s.acceleration + dot(s.spin, p.a.w);
    }
    for (std::size_t k = groups_.size(); k-- > 0;) {
      const LaneTree::Group& g = tree_.groups()[k];
      GroupState& s = groups_[k];
      put(dot(s.S, s.f) + s.force, g, tau, 1);
      Force<Quad> f = s.f;
      if (g.has_rotors) f.n += scale(s.acceleration, s.spin) + scale(s.rate, s.turned_spin);
      if (g.parent >= 0) {
        groups_[g.parent].f += f;
      } else {
        lane_moves::add_to_parents<Force<double>>(
            g, f, [&](int r) -> auto& { return roots_[r].f; },
            [&](int i) -> auto& { return groups_[i].f; });
      }
    }
    for (std::size_t r = 1; r < roots_.size(); ++r) {
      const int rate = tree_.roots()[r].rate;
      for (int k = 0; k < 6; ++k) {
        tau[rate + k] = roots_[r].f[k];
        if (vdot != nullptr) tau[rate + k] += armature_of(r, k) * vdot[rate + k];
      }
    }
  }

  /// Rows of M as a factor takes them, after update() or update_positions().
  void mass_rows(IndependentLtl<double>& factor) {
    factor.clear_rows();
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      GroupState& s = groups_[k];
      s.terms.t1 = s.composite.I * s.S;
      const LaneTree::Group& g = tree_.groups()[k];
      s.own_mass = dot(s.S, s.terms.t1) + (g.armature + g.rotor_inertia);
      if (g.has_rotors) s.terms.t1.n += s.spin;
    }
    for (std::size_t r = 1; r < roots_.size(); ++r) {
      const int rate = tree_.roots()[r].rate;
      for (int k = 0; k < 6; ++k) {
        Motion<double> S = Motion<double>::zero();
        S[k] = 1.0;
        const Force<double> t1 = roots_[r].composite.I * S;
        double* row = factor.row(rate + k);
        for (int j = 0; j < k; ++j) row[j] = t1[j];
        row[k] = t1[k] + armature_of(r, k);
      }
    }
    for (const Coordinate& c : coordinates_) {
      const auto [group, lane] = lane_of_rate_[c.rate];
      const GroupState& s = groups_[group];
      double* row = factor.row(c.rate);
      if (c.support != 0) {
        const auto t1 = lane_moves::one_of<Force<double>>(s.terms.t1, lane);
        if (c.root != 0) {
          for (int j = 0; j < 6; ++j) *row++ = t1[j];
        }
        paths_.visit_twists(c.place, [&](int column) {
          const auto [of, at] = lane_of_rate_[rate_of_column_[column]];
          return lane_moves::one_of<Motion<double>>(groups_[of].S, at);
        });
        row = std::copy_n(paths_.multiply_mass(t1), paths_.size(), row);
      }
      *row = s.own_mass[lane];
    }
  }

  /// Derivatives by q and v, and M, after accelerate(). Entries of coordinates of which none
  /// carries the other are zero and are not written.
  /// @param M  or nullptr where it is not wanted
  void inverse_dynamics(double* Dq, double* Dv, double* M) {
    const long n = model_.nv();
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      const LaneTree::Group& g = tree_.groups()[k];
      GroupState& s = groups_[k];
      PairTerms<Quad>& t = s.terms;
      const RigidInertia<Quad>& IC = s.composite.I;
      const InertiaRate<Quad>& B = s.composite.B;
      t.t1 = IC * s.S;
      t.t2 = B.transpose_times(s.S);
      t.t3 = B.times(s.S.w) + IC * s.ups;
      t.t4 = B.times(s.psi1.w) + IC * s.psi2;
      put(dot(s.S, t.t4), g, Dq, n + 1);
      put(dot(s.S, t.t3), g, Dv, n + 1);
      if (M != nullptr) put(dot(s.S, t.t1) + (g.armature + g.rotor_inertia), g, M, n + 1);
      t.t4 += cross_star(s.S, s.f);
      if (!g.has_rotors) continue;
      t.t1.n += s.spin, t.t2 += s.turned_spin, t.t3.n += s.turned_spin;
    }
    for (std::size_t r = 1; r < roots_.size(); ++r) {
      const RootState& s = roots_[r];
      const int rate = tree_.roots()[r].rate;
      std::array<double, 6> armature;
      for (int k = 0; k < 6; ++k) armature[k] = armature_of(r, k);
      base_with_itself<double>(s.composite.I, s.composite.B, s.moving.v, s.ground, nullptr,
                               armature, n, rate, Dq, Dv, M);
    }
    for (const Coordinate& c : coordinates_) {
      if (c.support != 0) pairs(c, Dq, Dv, M);
    }
  }

 private:
  struct Coordinate {
    int place;    ///< in the order of visits
    int rate;     ///< its own
    int support;  ///< body that carries its body
    int root;     ///< floating body that does, 0 for none: among those of the tree
  };
  struct Lane {
    int group = 0, lane = 0;
  };
  /// What bodies hand to their children, with positions and with accelerations.
  template <class T>
  struct Moving {
    Transform<T> X;  ///< common frame to body
    Motion<T> v;
  };
  template <class T>
  struct Carried {
    Motion<T> a;
  };
  /// What bodies hand to their parents.
  template <class T>
  struct Composite {
    RigidInertia<T> I;
    InertiaRate<T> B;
  };
  struct GroupState {
    Moving<Quad> moving;
    Carried<Quad> carried;
    Motion<Quad> S, psi1, psi2, ups;     ///< of the joint
    Motion<Quad> turning, twice_turned;  ///< psi1 times the joint's rate; turned by the parent
    RigidInertia<Quad> I;
    Force<Quad> gyroscopic, f;
    Composite<Quad> composite;
    PairTerms<Quad> terms;
    Quad own_mass, acceleration, force;  ///< force: of armature and rotors
    // Of rotors, where the group has some:
    Vec3<Quad> spin, turned_spin;  ///< momentum per rate of the joint; turned by the parent's twist
    Quad rate;                     ///< of the joint
  };
  struct RootState {
    Moving<double> moving;
    Carried<double> carried;
    RigidInertia<double> I;
    Force<double> f;
    Composite<double> composite;
    Vec3<double> ground;  ///< acceleration that stands for gravity
  };

  double armature_of(std::size_t root, int k) const {
    return tree_.armature(tree_.roots()[root], k);
  }
  static bool half_full(const LaneTree& tree) {
    std::size_t used = 0;
    for (const LaneTree::Group& g : tree.groups()) used += g.used;
    return 2 * used >= LaneTree::lanes * tree.groups().size();
  }
  static Motion<double> six(const double* x) { return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; }
  /// Entry (rate, rate) of a matrix of which `stride` numbers lie between such entries.
  static void put(const Quad& x, const LaneTree::Group& g, double* out, long stride) {
    for (int l = 0; l < LaneTree::lanes; ++l) {
      if (g.body[l] != 0) out[stride * g.rate[l]] = x[l];
    }
  }

  void start_roots(const double* q, const double* v, const Vec3<double>& gravity) {
    for (std::size_t r = 0; r < roots_.size(); ++r) {
      const LaneTree::Root& root = tree_.roots()[r];
      RootState& s = roots_[r];
      s.moving = {Transform<double>::identity(), Motion<double>::zero()};
      s.ground = -gravity;
      s.composite = {};
      s.f = Force<double>::zero();
      if (root.body == 0) continue;
      joints_.update(model_.runs()[root.run], q, nullptr);
      s.ground = joints_.X[root.body].E * -gravity;
      s.I = s.composite.I = model_.folded_inertia(root.body);
      if (v == nullptr) continue;
      s.moving.v = six(v + root.rate);
      s.composite.B = {inertia_rate(s.I, s.moving.v), s.I * s.moving.v};
    }
  }
  const Moving<Quad>& parents(const LaneTree::Group& g) {
    if (g.parent >= 0) return groups_[g.parent].moving;
    lane_moves::gather_parents<Moving<double>>(
        g, [&](int r) -> const auto& { return roots_[r].moving; },
        [&](int k) -> const auto& { return groups_[k].moving; }, moving_);
    return moving_;
  }
  const Carried<Quad>& parents_carried(const LaneTree::Group& g) {
    if (g.parent >= 0) return groups_[g.parent].carried;
    lane_moves::gather_parents<Carried<double>>(
        g, [&](int r) -> const auto& { return roots_[r].carried; },
        [&](int k) -> const auto& { return groups_[k].carried; }, carried_);
    return carried_;
  }
  void hand_on_composites(std::size_t k) {
    const LaneTree::Group& g = tree_.groups()[k];
    const GroupState& s = groups_[k];
    Composite<Quad> from = s.composite;
    if (g.has_rotors) from.B.h.n += scale(s.rate, s.spin);
    if (g.parent >= 0) {
      Composite<Quad>& to = groups_[g.parent].composite;
      to.I += from.I, to.B += from.B;
      return;
    }
    lane_moves::add_to_parents<Composite<double>>(
        g, from, [&](int r) -> auto& { return roots_[r].composite; },
        [&](int i) -> auto& { return groups_[i].composite; });
  }

  /// (12.1) of one coordinate with those that carry it.
  void pairs(const Coordinate& c, double* Dq, double* Dv, double* M) {
    const long n = model_.nv(), row = c.rate;
    const auto [group, lane] = lane_of_rate_[c.rate];
    const PairTerms<Quad>& four = groups_[group].terms;
    PairTerms<double> t;
    t.t1 = lane_moves::one_of<Force<double>>(four.t1, lane);
    t.t2 = lane_moves::one_of<Vec3<double>>(four.t2, lane);
    t.t3 = lane_moves::one_of<Force<double>>(four.t3, lane);
    t.t4 = lane_moves::one_of<Force<double>>(four.t4, lane);
    paths_.visit(c.place, [&](int column) {
      const auto [of, at] = lane_of_rate_[rate_of_column_[column]];
      const GroupState& s = groups_[of];
      return VariationColumn<double>{lane_moves::one_of<Motion<double>>(s.S, at),
                                     lane_moves::one_of<Motion<double>>(s.psi1, at),
                                     lane_moves::one_of<Motion<double>>(s.psi2, at),
                                     lane_moves::one_of<Motion<double>>(s.ups, at)};
    });
    paths_.multiply(t.t1, t.t2, t.t3, t.t4, nullptr);
    paths_.write(row, n, Dq, Dv, M);
    if (c.root == 0) return;
    const RootState& root = roots_[c.root];
    base_with_coordinate<double>(t, false, root.moving.v, root.ground, n, row,
                                 tree_.roots()[c.root].rate, Dq, Dv, M);
  }
  /// The floating root whose first rate this is; 0 for none.
  int root_of(int base) const {
    for (std::size_t r = 1; r < tree_.roots().size(); ++r) {
      if (tree_.roots()[r].rate == base) return static_cast<int>(r);
    }
    return 0;
  }

  const Model& model_;
  LaneTree tree_;
  TreeKinematics<double> joints_;
  std::vector<RootState> roots_;
  std::vector<GroupState> groups_;
  std::vector<Lane> lane_of_rate_;   ///< of its body
  std::vector<int> rate_of_column_;  ///< of those that ways speak of
  PathLanes paths_;
  std::vector<Coordinate> coordinates_;  ///< in the order of visits
  Moving<Quad> moving_;
  Carried<Quad> carried_;
};

}  // namespace espalier
