#pragma once

#include "algorithms/newton_euler.hpp"
#include "espalier/kernel/model/spanning_motion.hpp"
#include "espalier/kernel/problems.hpp"

namespace espalier {

/// Inverse dynamics as it is commonly approximated; not exact where there are rotors or loops.
///
/// Reflected (`approximate-rnea`): folded rotors are welded to their carriers, and each independent
/// rate j they turn with gets the armature j_r rho_rj^2. Lost are the gyroscopic couples of the
/// rotors, what their spin takes of the carriers and the carriers' motion of it, and the inertia
/// that a rotor turned by several rates puts between these. Everything else is exact, bodies that
/// couplings tie included. Nothing is lost for rotors on the ground that one rate turns, nor on a
/// planar robot for rotors whose axes lie in its plane.
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
        motion_(this->model(), SpanningMotion<T>::Rotors::skip),
        newton_euler_(this->model()),
        f_(this->model().body_count() + 1),
        qdd_(this->model().spanning_nv()),
        tau_(this->model().spanning_nv()),
        armature_(reflected ? reflected_inertia(this->model())
                            : std::vector<double>(this->model().nv(), 0.0)) {
    const Model& m = this->model();
    const int rotor_rates = m.rotors().empty() ? m.spanning_nv() : m.rotors().front().v;
    for (const auto& entry : m.armature()) {
      if (entry.first < rotor_rates) joint_armature_.push_back(entry);
    }
  }

  /// Sum of j_r rho_rj^2 over the folded rotors, per independent rate [kg·m²].
  static std::vector<double> reflected_inertia(const Model& model) {
    std::vector<double> sum(model.nv(), 0.0);
    for (const Cluster& c : model.clusters()) {
      if (c.G.empty()) continue;
      for (int r = 0; r < c.rotors; ++r) {
        for (int j = 0; j < c.nv; ++j) {
          const double rho = c.G[(c.spanning_nv + r) * c.nv + j];
          sum[c.v + j] += model.rotors()[c.rotor + r].inertia * rho * rho;
        }
      }
    }
    return sum;
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
    newton_euler_.outward(model, this->gravity(), motion_.joints, motion_.qd(), qdd_.data(),
                          wrenches, f_.data());
    if (wrenches != nullptr) motion_.place_rotors(q);
    f_[0] = Force<T>::zero();
    for (const Rotor& rotor : model.rotors()) {
      tau_[rotor.v] = T(0.0);
      if (wrenches == nullptr) continue;
      const Force<T>& wrench = (*wrenches)[rotor.body];
      tau_[rotor.v] = -wrench.n.z;
      f_[rotor.carrier] -= motion_.joints.X[rotor.body].transpose_times_force(wrench);
    }
    inward();
    if constexpr (reflected) {
      motion_.reduce(tau_.data(), tau);
      for (int j = 0; j < model.nv(); ++j) tau[j] += armature_[j] * vdot[j];
    } else {
      for (int j = 0; j < model.nv(); ++j) tau[j] = tau_[model.independent_rates()[j]];
    }
  }

  void inward() {
    const Model& model = this->model();
    for (std::size_t r = model.active_runs().size(); r-- > 0;) {
      const BodyRun& run = model.runs()[r];
      with_subspace(run, [&](auto ops) {
        using Ops = decltype(ops);
        for (int k = run.count - 1; k >= 0; --k) {
          const int i = run.first + k, at = run.v + k * Ops::n;
          const int parent = model.body(i).parent;
          Ops::project(f_[i], motion_.joints.S.data() + at, tau_.data() + at);
          if (parent != 0) f_[parent] += motion_.joints.X[i].transpose_times_force(f_[i]);
        }
      });
    }
    for (const auto& [rate, inertia] : joint_armature_) tau_[rate] += inertia * qdd_[rate];
  }

  SpanningMotion<T> motion_;
  NewtonEuler<T> newton_euler_;
  std::vector<Force<T>> f_;
  std::vector<T> qdd_, tau_;         ///< spanning
  std::vector<double> armature_;     ///< per independent rate
  std::vector<std::pair<int, double>> joint_armature_;  ///< per spanning rate of a body
};

template <class T>
using ApproximateRnea = LinkTreeRnea<T, true>;
template <class T>
using UnconstrainedRnea = LinkTreeRnea<T, false>;

}  // namespace espalier
