#pragma once

#include "algorithms/reference/bodies.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"

namespace espalier::reference {

/// Forward dynamics of a kinematic tree by the articulated-body algorithm, as printed.
/// Frames: body coordinates, angular above linear.  Cost: O(n).
/// Source: Featherstone (2008), Table 7.1; armature is added to D as in section 9.6.
///
///   pass 1:  v_i = X_i v_λ + S_i qd_i,  c_i = cJ_i + v_i × S_i qd_i,  IA_i = I_i,
///            pA_i = v_i ×* I_i v_i - fx_i
///   pass 2:  U_i = IA_i S_i,  D_i = S_i^T U_i,  u_i = tau_i - S_i^T pA_i
///            Ia = IA_i - U_i D_i^-1 U_i^T,  pa = pA_i + Ia c_i + U_i D_i^-1 u_i
///            IA_λ += X_i^T Ia X_i,  pA_λ += X_i^T pa
///   pass 3:  a' = X_i a_λ + c_i,  qdd_i = D_i^-1 (u_i - U_i^T a'),  a_i = a' + S_i qdd_i
template <class T>
class Aba final : public ForwardDynamics<T> {
 public:
  explicit Aba(ModelPtr model) : ForwardDynamics<T>(std::move(model)), bodies_(this->model()) {}

 private:
  void compute(const double* q, const double* qd, const double* tau, double* qdd,
               const Wrenches<double>* wrenches) override {
    const Model& model = this->model();
    bodies_.update(model, q, qd);
    const auto& [N, lambda, X, I, S, cJ, motion, armature] = bodies_;
    std::vector<Vector6> v(N + 1, Vector6::Zero()), c(v), pA(v), a(v);
    std::vector<Matrix6> IA = I;
    std::vector<Matrix6X> U(N + 1);
    std::vector<Eigen::LLT<MatrixXd>> D(N + 1);
    std::vector<VectorXd> u(N + 1);

    for (int i = 1; i <= N; ++i) {
      const Vector6 vJ = S[i] * ConstVector(qd + model.body(i).v, model.body(i).nv);
      v[i] = X[i] * v[lambda[i]] + vJ;
      c[i] = cJ[i] + cross_motion(v[i]) * vJ;
      pA[i] = cross_force(v[i]) * I[i] * v[i];
      if (wrenches != nullptr) pA[i] -= vector((*wrenches)[i]);
    }
    for (int i = N; i >= 1; --i) {
      const int k = model.body(i).v, n = model.body(i).nv;
      U[i] = IA[i] * S[i];
      D[i].compute(S[i].transpose() * U[i] + MatrixXd(armature.segment(k, n).asDiagonal()));
      u[i] = ConstVector(tau + k, n) - S[i].transpose() * pA[i];
      if (lambda[i] == 0) continue;
      const Matrix6 Ia = IA[i] - U[i] * D[i].solve(U[i].transpose());
      const Vector6 pa = pA[i] + Ia * c[i] + U[i] * D[i].solve(u[i]);
      IA[lambda[i]] += X[i].transpose() * Ia * X[i];
      pA[lambda[i]] += X[i].transpose() * pa;
    }
    a[0] = ground_acceleration(this->gravity());
    for (int i = 1; i <= N; ++i) {
      Eigen::Map<VectorXd> qdd_i(qdd + model.body(i).v, model.body(i).nv);
      a[i] = X[i] * a[lambda[i]] + c[i];
      qdd_i = D[i].solve(u[i] - U[i].transpose() * a[i]);
      a[i] += S[i] * qdd_i;
    }
  }

  Bodies bodies_;
};

}  // namespace espalier::reference
