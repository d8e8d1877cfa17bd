#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/chains/plan.hpp"
#include "algorithms/chains/units/unit.hpp"

namespace espalier {

/// Writes the constants of units: those of a group's chains, body by body, each in its lane.
class ChainUnitLayout {
 public:
  /// @param boundary_of  per body: index of its boundary state; -1: none
  ChainUnitLayout(const Model& model, const ChainPlan& plan, const std::vector<int>& boundary_of)
      : model_(model), plan_(plan), boundary_of_(boundary_of) {}

  /// @param group  indices of chains; lanes that are left repeat the first one without inertia
  template <class Unit>
  Unit unit(const std::vector<int>& group) const {
    Unit unit;
    unit.used = static_cast<int>(group.size());
    std::size_t length = 0;
    for (const int l : group) length = std::max(length, plan_.chains[l].bodies.size());
    unit.bodies.resize(length);
    unit.on_ground = true;
    for (int k = 0; k < Unit::lanes; ++k) {
      const bool idle = k >= unit.used;
      const Chain& chain = plan_.chains[group[idle ? 0 : k]];
      unit.parent[k] = boundary_of_[chain.parent];
      unit.on_ground = unit.on_ground && chain.parent == 0;
      for (int a = 0; a < 3; ++a) set(unit.r[a], k, chain.r[a]);
      set(unit.base_frame, k, chain.cos_base, chain.sin_base);
      for (std::size_t i = 0; i < length; ++i) {
        const bool ended = idle || i >= chain.bodies.size();
        put_body(unit.bodies[i], k, chain.bodies[std::min(i, chain.bodies.size() - 1)], ended);
      }
    }
    for (std::size_t i = 0; i < length; ++i) {
      auto& b = unit.bodies[i];
      b.leads_pair = i + 1 < length && unit.bodies[i + 1].coupled;
      b.kind = common_kind(plan_, group, i);
      if (b.leads_pair || b.coupled) b.kind.geared = true;
      if (!b.kind.geared) continue;
      b.gear = static_cast<int>(unit.gears.size());
      put_gear(unit, group, i);
    }
    if constexpr (Unit::Body::paired) {
      for (auto& b : unit.bodies) b.P.make_pairs(), b.moments.make_pairs();
    }
    return unit;
  }

  /// The kind that covers body i of all chains of a group.
  static ChainKind common_kind(const ChainPlan& plan, const std::vector<int>& group,
                               std::size_t i) {
    ChainKind kind{Twist::any, false, false};
    bool parallel = true, right = true;
    for_bodies(plan, group, i, [&](int, const ChainBody& b) {
      parallel = parallel && b.cos_alpha == 1.0 && b.sin_alpha == 0.0;
      right = right && b.sin_alpha == 1.0 && b.cos_alpha == 0.0;
      kind.offset = kind.offset || b.a != 0.0 || b.d != 0.0;
      kind.geared = kind.geared || b.reflected != 0.0 || b.axial != 0.0;
    });
    if (parallel) kind.twist = Twist::parallel;
    if (right) kind.twist = Twist::right;
    return kind;
  }

 private:
  /// Calls f(lane, body i) for the chains of a group that are that long.
  template <class F>
  static void for_bodies(const ChainPlan& plan, const std::vector<int>& group, std::size_t i,
                         F&& f) {
    for (std::size_t k = 0; k < group.size(); ++k) {
      const std::vector<ChainBody>& bodies = plan.chains[group[k]].bodies;
      if (i < bodies.size()) f(static_cast<int>(k), bodies[i]);
    }
  }

  template <class Body>
  void put_body(Body& to, int k, const ChainBody& b, bool ended) const {
    set(to.P.alpha, k, b.cos_alpha, b.sin_alpha);
    set(to.P.a, k, b.a), set(to.P.d, k, b.d);
    set(to.cos_theta, k, b.cos_theta), set(to.sin_theta, k, b.sin_theta);
    const auto moments =
        Moments<double>::from(ended ? RigidInertia<double>::zero() : plan_.inertia[b.body]);
    const Sym3<double>& Sigma = moments.Sigma;
    auto& m = to.moments;
    set(m.x, k, moments.h.x), set(m.y, k, moments.h.y);
    set(m.xx, k, Sigma.xx), set(m.xy, k, Sigma.xy), set(m.xz, k, Sigma.xz);
    set(m.yy, k, Sigma.yy), set(m.yz, k, Sigma.yz);
    set(to.reflected, k, ended ? 1.0 : b.reflected);
    if (!ended) {
      const Vec3<double>& transverse = b.momentum;
      to.transverse = to.transverse || transverse.x != 0.0 || transverse.y != 0.0 ||
                      transverse.z != 0.0 || b.asymmetric >= 0;
      to.coupled = to.coupled || b.coupling != 0.0;
    }
    const auto& body = model_.body(b.body);
    to.body[k] = b.body;
    const Cluster& cluster = model_.clusters()[body.cluster];
    to.rate[k] = cluster.v + (body.v - cluster.spanning_v);
    to.y[k] = ended ? -1 : to.rate[k];
    to.boundary[k] = ended ? -1 : boundary_of_[b.body];
    to.boundaries = to.boundaries || to.boundary[k] >= 0;
    to.F[k] = &plan_.body(b.body).F;
  }

  /// The rotors that body i drives.
  template <class Unit>
  void put_gear(Unit& unit, const std::vector<int>& group, std::size_t i) const {
    auto& to = unit.gears.emplace_back();
    using C = decltype(to.axial);
    to.axial = to.coupling = C(0.0), to.momentum = Vec3<C>::zero();  // of idle and ended lanes
    for_bodies(plan_, group, i, [&](int k, const ChainBody& b) {
      set(to.axial, k, b.axial), set(to.coupling, k, b.coupling);
      for (int a = 0; a < 3; ++a) set(to.momentum[a], k, b.momentum[a]);
      if (b.asymmetric < 0) return;
      if (to.rotor < 0) to.rotor = add_rotor(unit);
      const AsymmetricRotor& rotor = plan_.asymmetric[b.asymmetric];
      auto& turning = unit.rotors[to.rotor];
      turning.body[k] = rotor.body;
      set(turning.cosine, k, rotor.cosine), set(turning.sine, k, rotor.sine);
      set(turning.twice_ratio, k, 2.0 * rotor.ratio);
    });
  }
  /// @return index of an asymmetric rotor that no lane has yet
  template <class Unit>
  static int add_rotor(Unit& unit) {
    auto& none = unit.rotors.emplace_back();
    std::fill_n(none.body, Unit::lanes, 0);
    none.cosine = none.sine = decltype(none.cosine)::zero();
    none.twice_ratio = decltype(none.twice_ratio)(0.0);
    return static_cast<int>(unit.rotors.size()) - 1;
  }

  template <class C>
  static void set(Sym3<C>& to, int k, const Sym3<double>& m) {
    set(to.xx, k, m.xx), set(to.xy, k, m.xy), set(to.xz, k, m.xz);
    set(to.yy, k, m.yy), set(to.yz, k, m.yz), set(to.zz, k, m.zz);
  }
  template <class C>
  static void set(C& x, int k, double value) {
    reinterpret_cast<double*>(&x)[k] = value;
  }
  template <class C>
  static void set(Turn<C>& turn, int k, double c, double s) {
    set(turn.c, k, c), set(turn.s, k, s), set(turn.ss, k, s * s), set(turn.sc, k, s * c);
  }

  const Model& model_;
  const ChainPlan& plan_;
  const std::vector<int>& boundary_of_;
};

}  // namespace espalier
