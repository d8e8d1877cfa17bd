#pragma once

#include "algorithms/newton_euler.hpp"
#include "espalier/kernel/problems.hpp"

namespace espalier {

/// Inverse dynamics of a tree by the recursive Newton-Euler algorithm.
/// Frame: body.  Cost: O(n).
/// Source: Luh, Walker, Paul (1980); Featherstone (2008), Table 5.1.
template <class T>
class Rnea final : public InverseDynamics<T> {
 public:
  explicit Rnea(ModelPtr model)
      : InverseDynamics<T>(std::move(model)),
        kinematics_(this->model()),
        newton_euler_(this->model()),
        f_(this->model().body_count() + 1) {}

  /// The same with vdot = nullptr for zero, for algorithms that need the bias.
  void compute(const T* q, const T* v, const T* vdot, T* tau,
               const Wrenches<T>* wrenches) override {
    const Model& model = this->model();
    kinematics_.update(model, q, v);
    newton_euler_.outward(model, this->gravity(), kinematics_, v, vdot, wrenches, f_.data());
    inward(vdot, tau);
  }

  /// What the joints said at the last call.
  const TreeKinematics<T>& kinematics() const { return kinematics_; }

 private:
  /// Tips to base: tau_i = S_i^T f_i, and f_i is handed on to the parent.
  void inward(const T* vdot, T* tau) {
    const Model& model = this->model();
    for (std::size_t r = model.runs().size(); r-- > 0;) {
      const BodyRun& run = model.runs()[r];
      with_subspace(run, [&](auto ops) {
        using Ops = decltype(ops);
        for (int k = run.count - 1; k >= 0; --k) {
          const int i = run.first + k, at = run.v + k * Ops::n;
          const int parent = model.body(i).parent;
          Ops::project(f_[i], kinematics_.S.data() + at, tau + at);
          if (parent != 0) f_[parent] += kinematics_.X[i].transpose_times_force(f_[i]);
        }
      });
    }
    if (vdot != nullptr) {
      for (const auto& [rate, inertia] : model.armature()) tau[rate] += inertia * vdot[rate];
    }
  }

  TreeKinematics<T> kinematics_;
  NewtonEuler<T> newton_euler_;
  std::vector<Force<T>> f_;
};

/// Bias forces: RNEA at vdot = 0.
template <class T>
class RneaBias final : public BiasForce<T> {
 public:
  explicit RneaBias(ModelPtr model) : BiasForce<T>(model), rnea_(std::move(model)) {}

 private:
  void compute(const T* q, const T* v, T* bias, const Wrenches<T>* wrenches) override {
    rnea_.set_gravity(this->gravity());
    rnea_.compute(q, v, nullptr, bias, wrenches);
  }

  Rnea<T> rnea_;
};

}  // namespace espalier
