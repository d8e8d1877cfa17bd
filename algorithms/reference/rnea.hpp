#pragma once

#include "algorithms/reference/bodies.hpp"
#include "espalier/kernel/problems/dynamics/inverse_dynamics.hpp"

namespace espalier::reference {

/// Inverse dynamics of a kinematic tree by the recursive Newton-Euler algorithm, as printed.
/// Frames: body coordinates, angular above linear.  Cost: O(n).
/// Source: Featherstone (2008), Table 5.1; armature adds its own moment as in section 9.6.
///
///   outward:  v_i = X_i v_λ + S_i qd_i
///             a_i = X_i a_λ + S_i qdd_i + cJ_i + v_i × S_i qd_i,  a_0 = -gravity
///             f_i = I_i a_i + v_i ×* I_i v_i - fx_i
///   inward:   tau_i = S_i^T f_i,  f_λ += X_i^T f_i
template <class T>
class Rnea final : public InverseDynamics<T> {
 public:
  explicit Rnea(ModelPtr model) : InverseDynamics<T>(std::move(model)), bodies_(this->model()) {}

 private:
  void compute(const double* q, const double* qd, const double* qdd, double* tau,
               const Wrenches<double>* wrenches) override {
    const Model& model = this->model();
    bodies_.update(model, q, qd);
    const auto& [N, lambda, X, I, S, cJ, motion, armature] = bodies_;
    std::vector<Vector6> v(N + 1, Vector6::Zero()), a(v), f(v);

    a[0] = ground_acceleration(this->gravity());
    for (int i = 1; i <= N; ++i) {
      const int k = model.body(i).v, n = model.body(i).nv;
      const Vector6 vJ = S[i] * ConstVector(qd + k, n);
      v[i] = X[i] * v[lambda[i]] + vJ;
      a[i] = X[i] * a[lambda[i]] + S[i] * ConstVector(qdd + k, n) + cJ[i] + cross_motion(v[i]) * vJ;
      f[i] = I[i] * a[i] + cross_force(v[i]) * I[i] * v[i];
      if (wrenches != nullptr) f[i] -= vector((*wrenches)[i]);
    }
    for (int i = N; i >= 1; --i) {
      const int k = model.body(i).v, n = model.body(i).nv;
      Eigen::Map<VectorXd>(tau + k, n) =
          S[i].transpose() * f[i] + armature.segment(k, n).cwiseProduct(ConstVector(qdd + k, n));
      f[lambda[i]] += X[i].transpose() * f[i];
    }
  }

  Bodies bodies_;
};

}  // namespace espalier::reference
