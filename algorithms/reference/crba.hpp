#pragma once

#include "algorithms/reference/bodies.hpp"
#include "espalier/kernel/problems/dynamics/mass_matrix.hpp"

namespace espalier::reference {

/// Joint-space inertia matrix of a kinematic tree by the composite-rigid-body algorithm, as
/// printed.
/// Frames: body coordinates, angular above linear.  Cost: O(n d).
/// Source: Featherstone (2008), Table 6.2; armature is added to the diagonal as in section 9.6.
///
///   Ic_i = I_i;  for i = N..1:  Ic_λ += X_i^T Ic_i X_i,  F = Ic_i S_i,  H_ii = S_i^T F
///   and for j = λ(i), λ(λ(i)), ... above the ground:  F = X^T F,  H_ij = F^T S_j,  H_ji = H_ij^T
template <class T>
class Crba final : public MassMatrix<T> {
 public:
  explicit Crba(ModelPtr model) : MassMatrix<T>(std::move(model)), bodies_(this->model()) {}

 private:
  void compute(const double* q, double* M) override {
    const Model& model = this->model();
    bodies_.update(model, q, nullptr);
    const auto& [N, lambda, X, I, S, cJ, motion, armature] = bodies_;
    std::vector<Matrix6> Ic = I;
    MatrixXd H = armature.asDiagonal();

    for (int i = N; i >= 1; --i) {
      const int vi = model.body(i).v, ni = model.body(i).nv;
      Ic[lambda[i]] += X[i].transpose() * Ic[i] * X[i];
      Matrix6X F = Ic[i] * S[i];
      H.block(vi, vi, ni, ni) += S[i].transpose() * F;
      for (int j = i; lambda[j] != 0;) {
        F = X[j].transpose() * F;
        j = lambda[j];
        const int vj = model.body(j).v, nj = model.body(j).nv;
        H.block(vi, vj, ni, nj) = F.transpose() * S[j];
        H.block(vj, vi, nj, ni) = H.block(vi, vj, ni, nj).transpose();
      }
    }
    Eigen::Map<MatrixXd>(M, model.nv(), model.nv()) = H;
  }

  Bodies bodies_;
};

}  // namespace espalier::reference
