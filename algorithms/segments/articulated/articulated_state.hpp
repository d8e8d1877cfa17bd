#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/chains/sweeps.hpp"
#include "algorithms/segments/articulated/world_body.hpp"
#include "algorithms/segments/schedule.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/algorithm.hpp"

namespace espalier {

/// State of the articulated-body recursion on a tree: what segments write and read.
///
/// Frames: world axes, origin of each body's frame. Inertias then pass from body to parent by a
/// shift alone, and only the ten numbers of each rigid inertia are ever rotated. The axes of a
/// floating base stand for the world's, and those of a body of a chain for what hangs on it, unless
/// a cluster meets the axes of several.
template <class T>
struct ArticulatedState {
  static constexpr int max_rates = 6;

  /// @param layout  whose chains become those of the state
  ArticulatedState(const Model& m, ScheduleLayout& layout)
      : ArticulatedState(m, layout, std::vector<RigidInertia<double>>(layout.chains->inertia)) {}

  /// @param inertia  per body
  ArticulatedState(const Model& m, ScheduleLayout& layout,
                   const std::vector<RigidInertia<double>>& inertia)
      : model(m),
        motion(m, SpanningMotion<T>::Rotors::skip),
        chains(m, std::move(*layout.chains), layout.watched),
        base(layout.floating_base) {
    layout.chains.reset();
    make_bodies(layout, inertia);
    motion.leave_out(chains.whole_runs(), chains.whole_clusters());
    align();
    if (!layout.needs_poses) evaluate_turns_only();
  }

  /// Evaluates the joints, and sets the ground's acceleration against gravity.
  void update(const T* positions, const T* rates, const Vec3<double>& gravity) {
    q = positions, v = rates;
    motion.update(q, v);
    chains.turn(q);
    body[0].motion.a = Vec3<T>::from(-gravity);
    chains.set_ground(body[0].motion.a);
  }
  /// Subtracts external wrenches, each in its body's frame, from those that the bodies need.
  void apply(const Wrenches<T>& wrenches) {
    for (int i = 1; i <= model.active_body_count(); ++i) apply(i, wrenches[i]);
    apply_to_rotors_of_chains(wrenches);
  }
  void apply(int i, const Force<T>& w) {
    if (chains.contains(i)) return chains.apply_wrench(i, w);
    if (chains.passes(i)) return;  // a rotor: above
    WorldBody<T>& b = body[i];
    b.pA -= Force<T>{transpose_times(b.E, w.n), transpose_times(b.E, w.f)};
  }
  /// Factor of D of a body with several rates.
  template <int n>
  Ldlt<T, n>& factor_of(int first_rate) {
    static_assert(sizeof(Ldlt<T, n>) <= sizeof(T) * max_rates * n);
    return *reinterpret_cast<Ldlt<T, n>*>(D.data() + first_rate * max_rates);
  }

  const Model& model;
  const T *q = nullptr, *v = nullptr;  ///< spanning positions, independent rates
  SpanningMotion<T> motion;
  std::vector<WorldBody<T>> body;
  std::vector<WorldRate<T>> rate;
  std::vector<T> D;  ///< factors of bodies with several rates, up to the last of these
  ChainSweeps<T> chains;
  int base;  ///< FloatingBase; 0: none

 private:
  /// External wrenches on rotors that chains carry: to the bodies that these stand on.
  void apply_to_rotors_of_chains(const Wrenches<T>& wrenches) {
    chains.for_each_rotor(model, [&](const AsymmetricRotor& rotor, const Transform<T>& X) {
      apply(model.body(rotor.body).parent, X.transpose_times_force(wrenches[rotor.body]));
    });
  }
  /// The ground, and all bodies and rates up to the last ones outside of chains.
  void make_bodies(const ScheduleLayout& layout, const std::vector<RigidInertia<double>>& inertia) {
    const Model& m = model;
    int last = 0, rates = 0, factored = 0;
    for (int i = 1; i <= m.active_body_count(); ++i) {
      if (chains.passes(i)) continue;
      last = i;
      const int end = m.body(i).v + m.body(i).nv;
      rates = std::max(rates, end);
      if (m.body(i).nv > 1) factored = std::max(factored, end);
    }
    for (const int attachment : chains.attachments().all) last = std::max(last, attachment);
    body.resize(last + 1);
    rate.resize(rates);
    D.resize(factored * max_rates);
    body[0].motion = {Vec3<T>::zero(), Vec3<T>::zero(), Vec3<T>::zero()};
    body[0].da = Motion<T>::zero();
    for (int i = 1; i <= last; ++i) {
      body[i].parent = m.body(i).parent;
      const bool turns = m.runs()[m.body(i).run].subspace == SubspaceKind::revolute_z;
      if (turns && m.body(i).v < rates) rate[m.body(i).v].turns = true;
      body[i].moments = Moments<double>::from(inertia[i]);
      const Mat3<double>& E = m.body(i).placement.E;
      body[i].coaxial = E(0, 0) == 1.0 && E(1, 1) == 1.0;
    }
    for (int i = 1; i <= m.active_body_count(); ++i) {
      const int p = m.body(i).parent;
      if (p <= last) body[p].seen = true;
    }
    for (const int i : layout.watched) body[i].seen = true;
    find_followed(last);
    for (const auto& [r, armature] : m.armature()) {
      if (r < rates) rate[r].armature = armature;
    }
    for (int j = 0; base > 0 && j < 6; ++j) {
      rate[j].S = SubspaceOps<FreeAxes>::column<T>(nullptr, j);
    }
  }

  /// Whose accelerations leave their clusters, and whose these are computed from.
  void find_followed(int last) {
    for (int i = model.active_body_count(); i > 0; --i) {
      const int p = model.body(i).parent;
      const bool leaves = model.body(i).cluster != model.body(p).cluster;
      if (p > 0 && p <= last && (leaves || (i <= last && body[i].followed))) {
        body[p].followed = true;
      }
    }
  }
  /// Chooses whose axes stand for the world's.
  void align() {
    const Model& m = model;
    const ChainPlan& plan = chains.plan();
    std::vector<int> axes(m.active_body_count() + 1, 0);  // per body: of a chain's, or 0: the world
    for (int i = 1; i <= m.active_body_count(); ++i) {
      axes[i] = chains.contains(i) ? i : axes[m.body(i).parent];
    }
    for (const int attachment : chains.attachments().all) body[attachment].aligned = true;
    for (const Cluster& c : m.clusters()) {
      if (chains.passes(c.first)) continue;
      std::vector<int> met;
      for (int i = c.first; i < c.first + c.count; ++i) met.push_back(axes[i]);
      for (const int support : c.supports) met.push_back(axes[support]);
      for (int r = c.rotor; r < c.rotor + c.rotors; ++r) met.push_back(axes[m.rotors()[r].parent]);
      if (std::equal(met.begin() + 1, met.end(), met.begin())) continue;
      for (int i : met) {  // and all on the way to it have the world's
        for (; i != 0; i = axes[plan.parent(i)]) body[i].aligned = false;
      }
    }
    body[0].aligned = body[base].aligned = true;
    for (WorldBody<T>& b : body) {
      if (b.aligned) b.E = Mat3<T>::identity();
    }
  }

  /// Evaluates only sine and cosine of revolute joints, unless loop joints need poses of bodies.
  void evaluate_turns_only() {
    const Model& m = model;
    std::vector<bool> left_out = chains.whole_runs();
    for (std::size_t r = 0; r < left_out.size(); ++r) {
      const BodyRun& run = m.runs()[r];
      if (left_out[r] || !are_revolute(run)) continue;
      const int end = run.first + run.count;
      bool asked = false;
      for (int i = run.first; i < end; ++i) {
        const ClusterConstraint* constraint = m.clusters()[m.body(i).cluster].constraint.get();
        asked = asked || (constraint != nullptr && !constraint->loops.empty());
      }
      if (asked) continue;
      left_out[r] = true;
      chains.turn_too(run);
      for (int i = run.first; i < end && i < static_cast<int>(body.size()); ++i) {
        body[i].turned = true;
      }
    }
    motion.leave_out(std::move(left_out), chains.whole_clusters());
  }
};

}  // namespace espalier
