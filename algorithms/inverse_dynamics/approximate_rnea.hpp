#pragma once

#include "algorithms/segments/link_tree.hpp"
#include "algorithms/segments/newton_euler_run.hpp"
#include "espalier/kernel/model/spanning_motion.hpp"
#include "espalier/kernel/problems/inverse_dynamics.hpp"

namespace espalier {

/// Inverse dynamics as it is commonly approximated, on the tree of links (link_tree.hpp) to whose
/// parents rotors are welded; not exact where there are rotors or loops.
///
/// Reflected (`approximate-rnea`): each independent rate j gets the armature, sum of j_r rho_rj^2,
/// of the rotors that it turns. Lost are the gyroscopic couples of the rotors, what their spin
/// takes of the parents and the parents' motion of it, and the inertia that a rotor turned by
/// several rates puts between these. Everything else is exact, bodies that couplings tie and that
/// carry others included. Nothing is lost for symmetric rotors on the ground that one rate turns,
/// nor on a planar robot for those whose axes lie in its plane.
///
/// Not reflected (`unconstrained-rnea`): no armature for rotors, and no force through couplings and
/// loops: each independent joint carries what hangs on it, as if the mechanism beside it were not
/// there. The motion is the true one.
///
/// Frame: body.  Cost: O(n).  Source: Chignoli et al. (2023), section II-C.
template <class T, bool reflected>
class LinkTreeRnea final : public InverseDynamics<T> {
 public:
  explicit LinkTreeRnea(ModelPtr model)
      : InverseDynamics<T>(std::move(model)),
        tree_(this->model()),
        motion_(this->model(), SpanningMotion<T>::Rotors::skip),
        segments_(segments_of(tree_.runs)),
        state_(this->model(), tree_.inertia),
        qdd_(this->model().spanning_nv()) {
    const Model& m = this->model();
    state_.tau_spanning.resize(m.spanning_nv());
    for (const auto& [rate, inertia] : m.armature()) {
      const int body = m.joint_of_rate(rate).body;
      if (body <= m.active_body_count() && !tree_.welded[body])
        armature_.emplace_back(rate, inertia);
    }
  }

 private:
  void compute(const T* q, const T* v, const T* vdot, T* tau,
               const Wrenches<T>* wrenches) override {
    const Model& model = this->model();
    motion_.update(q, v);
    motion_.expand(vdot, qdd_.data());
    if (const T* g = motion_.g()) {
      for (std::size_t i = 0; i < qdd_.size(); ++i) qdd_[i] += g[i];
    }
    state_.start(motion_.joints, motion_.qd(), qdd_.data(), this->gravity());
    segments_.outward([&](const PlainRun& s) { forward_motion(s, state_, vdot); });
    if (wrenches != nullptr) apply(*wrenches);
    std::vector<T>& spanning = state_.tau_spanning;
    for (const Rotor& rotor : model.rotors()) spanning[rotor.v] = T(0.0);
    for (const auto& r : tree_.reflected) spanning[model.body(r.body).v] = T(0.0);
    if (wrenches != nullptr) apply_to_welded(q, *wrenches);
    segments_.inward([&](const PlainRun& s) { collect_forces(s, state_, tau); });
    for (const auto& [rate, inertia] : armature_) spanning[rate] += inertia * qdd_[rate];
    if constexpr (reflected) {
      motion_.reduce(spanning.data(), tau);
      for (int j = 0; j < model.nv(); ++j) tau[j] += tree_.armature[j] * vdot[j];
    } else {
      for (int j = 0; j < model.nv(); ++j) tau[j] = spanning[model.independent_rates()[j]];
    }
  }

  /// External wrenches on links.
  void apply(const Wrenches<T>& wrenches) {
    for (const BodyRun& run : tree_.runs) {
      for (int i = run.first; i < run.first + run.count; ++i) state_.apply(i, wrenches[i]);
    }
  }
  /// External wrenches on what is welded: to the parents, and to their rates.
  void apply_to_welded(const T* q, const Wrenches<T>& wrenches) {
    const Model& model = this->model();
    motion_.place_rotors(q);
    const auto apply_to_parent = [&](int body, int parent) {
      state_.apply(parent, motion_.joints.X[body].transpose_times_force(wrenches[body]));
    };
    for (const auto& r : tree_.reflected) {
      const Force<T>& wrench = wrenches[r.body];
      state_.tau_spanning[model.body(r.body).v] = r.slides ? -wrench.f.z : -wrench.n.z;
      apply_to_parent(r.body, r.parent);
    }
    for (const Rotor& rotor : model.rotors()) {  // inside loops
      if (!tree_.is_reflected(rotor.body)) apply_to_parent(rotor.body, rotor.parent);
    }
  }

  LinkTree tree_;
  SpanningMotion<T> motion_;
  Segments<PlainRun> segments_;
  NewtonEulerState<T> state_;
  std::vector<T> qdd_;                            ///< spanning
  std::vector<std::pair<int, double>> armature_;  ///< of the links' joints, per spanning rate
};

template <class T>
using ApproximateRnea = LinkTreeRnea<T, true>;
template <class T>
using UnconstrainedRnea = LinkTreeRnea<T, false>;

}  // namespace espalier
