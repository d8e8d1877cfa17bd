#pragma once

#include <vector>

#include "algorithms/segments/newton_euler/newton_euler_run.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/dynamics/inverse_dynamics.hpp"

namespace espalier {

/// Forces on all rates of the spanning tree as if nothing coupled them, folded rotors being bodies.
/// Frame: body.  Cost: O(n).  Source: Featherstone (2008), Table 5.1.
template <class T>
class SpanningRnea {
 public:
  explicit SpanningRnea(const Model& model)
      : segments_(segments_of(model.runs())), state_(model, spanning_inertias(model)) {}

  /// @param motion  updated at positions and rates, rotors placed
  /// @param qdd     spanning accelerations, or nullptr for zero
  /// @param[out] tau  size spanning_nv
  void compute(const SpanningMotion<T>& motion, const Vec3<double>& gravity, const T* qdd,
               const Wrenches<T>* wrenches, T* tau) {
    state_.start(motion.joints, motion.qd(), qdd, gravity);
    segments_.outward([&](const PlainRun& s) { forward_motion(s, state_, qdd); });
    if (wrenches != nullptr) {
      for (int i = 1; i <= state_.model.body_count(); ++i) state_.apply(i, (*wrenches)[i]);
    }
    segments_.inward([&](const PlainRun& s) { collect_forces(s, state_, tau); });
    if (qdd == nullptr) return;
    for (const auto& [rate, inertia] : state_.model.armature()) tau[rate] += inertia * qdd[rate];
  }

 private:
  Segments<PlainRun> segments_;
  NewtonEulerState<T> state_;
};

/// Inverse dynamics of robots with loops as it is done without a cluster tree: RNEA on the whole
/// spanning tree, rotors included, and one matrix G of all rates, stored and multiplied in full.
/// Exact, and kept as the method that C-RNEA is measured against.
/// Frame: body.  Cost: O(n^2) for the product with G.
/// Source: Featherstone (2008), section 8.12; Chignoli et al. (2023), section II-C.
template <class T>
class ProjectedRnea final : public InverseDynamics<T> {
 public:
  explicit ProjectedRnea(ModelPtr model)
      : InverseDynamics<T>(std::move(model)),
        motion_(this->model()),
        rnea_(this->model()),
        qdd_(this->model().spanning_nv()),
        tau_(this->model().spanning_nv()),
        G_(static_cast<std::size_t>(this->model().spanning_nv()) * this->model().nv(), T(0.0)) {}

 private:
  void compute(const T* q, const T* v, const T* vdot, T* tau,
               const Wrenches<T>* wrenches) override {
    const Model& model = this->model();
    const long n = model.spanning_nv(), nv = model.nv();
    motion_.update(q, v);
    fill_G();
    const T* g = motion_.g();
    for (long i = 0; i < n; ++i) {
      T sum = g == nullptr ? T(0.0) : g[i];
      for (long j = 0; j < nv; ++j) sum += G_[i * nv + j] * vdot[j];
      qdd_[i] = sum;
    }
    rnea_.compute(motion_, this->gravity(), qdd_.data(), wrenches, tau_.data());
    for (long j = 0; j < nv; ++j) tau[j] = T(0.0);
    for (long i = 0; i < n; ++i) {
      for (long j = 0; j < nv; ++j) tau[j] += G_[i * nv + j] * tau_[i];
    }
  }

  /// Blocks of the clusters; what lies outside of them stays zero.
  void fill_G() {
    const long nv = this->model().nv();
    for (const Cluster& c : this->model().clusters()) {
      for (int i = 0; i < c.rows(); ++i) {
        T* row = G_.data() + c.rate(i) * nv + c.v;
        for (int j = 0; j < c.nv; ++j) {
          row[j] = c.constrained ? motion_.G(c)[i * c.nv + j] : T(i == j ? 1.0 : 0.0);
        }
      }
    }
  }

  SpanningMotion<T> motion_;
  SpanningRnea<T> rnea_;
  std::vector<T> qdd_, tau_;
  std::vector<T> G_;  ///< spanning_nv x nv, row-major
};

}  // namespace espalier
