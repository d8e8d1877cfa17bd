#pragma once

#include "algorithms/reference/task.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"

namespace espalier::reference {

/// Inverse operational-space inertia J M^-1 J^T of a kinematic tree by PV-OSIMr, as printed, with
/// its misprints put right.
/// Frames: body coordinates; rows as the task says.  Cost: O(n + m^2).
/// Source: Sathya, Decré, Swevers (2023), Algorithm 3; theory/delassus 4, theory/misprints.
///
/// What travels inward from a link d is P (from the present link's twist to the rows of d) and
/// Omega (inverse inertia since d). Links where two of these meet are nodes: there a new one sets
/// out with P = 1. Constrained links that are no nodes set out with P = K.
template <class T>
class PvOsimr final : public InverseOsim<T> {
 public:
  explicit PvOsimr(const Setup& setup) : InverseOsim<T>(setup), bodies_(this->model()) {
    const int N = bodies_.count;
    node_.assign(N + 1, false), up_.assign(N + 1, 0), d_.assign(N + 1, 0);
    constrained_.assign(N + 1, false);
    for (const Task::Part& part : this->task().parts()) constrained_[part.body] = true;
    std::vector<std::vector<int>> arrivals(N + 1);  // the d that reach a link
    for (int i = N; i >= 1; --i) {
      if (constrained_[i]) arrivals[i].push_back(i);
      if (arrivals[i].empty()) continue;
      node_[i] = arrivals[i].size() > 1;
      d_[i] = node_[i] ? i : arrivals[i][0];
      for (const int d : arrivals[i]) up_[d] = node_[i] && d != i ? i : up_[d];
      arrivals[bodies_.lambda[i]].push_back(d_[i]);
    }
  }

 private:
  void compute(const double* q, double* inverse_osim) override {
    const Model& model = this->model();
    bodies_.update(model, q, nullptr);
    const auto& [N, lambda, X, H, S, cJ, motion, armature] = bodies_;
    const std::vector<Eigen::Matrix3d> E = attitudes(bodies_);
    const std::vector<Task::Part>& parts = this->task().parts();
    std::vector<Matrix6> HA = H;
    std::vector<MatrixXd> K(N + 1, MatrixXd(0, 6)), P(N + 1), Omega(N + 1);
    std::vector<std::vector<int>> row(N + 1);  // of the task, per row of K

    for (const Task::Part& part : parts) {  // K of all that is constrained on a link, stacked
      MatrixXd& stack = K[part.body];
      stack.conservativeResize(stack.rows() + part.size(), 6);
      stack.bottomRows(part.size()) = constraint_rows(part, E[part.body]);
      for (int k = 0; k < part.size(); ++k) row[part.body].push_back(part.first + k);
    }
    for (int i = N; i >= 1; --i) {  // lines 1 to 11
      const int d = d_[i];
      if (d == i) {
        P[i] = node_[i] ? MatrixXd(Matrix6::Identity()) : K[i];
        Omega[i] = MatrixXd::Zero(P[i].rows(), P[i].rows());
      }
      const MatrixXd U = HA[i] * S[i];
      const auto diagonal = armature.segment(model.body(i).v, model.body(i).nv).asDiagonal();
      const Eigen::LLT<MatrixXd> D(S[i].transpose() * U + MatrixXd(diagonal));
      const Matrix6 Pi = Matrix6::Identity() - U * D.solve(S[i].transpose());
      HA[lambda[i]] += X[i].transpose() * Pi * HA[i] * X[i];
      if (d == 0) continue;
      const MatrixXd PS = P[d] * S[i];
      Omega[d] += PS * D.solve(PS.transpose());
      P[d] = P[d] * Pi.transpose() * X[i];
    }
    Omega[0] = Matrix6::Zero();
    for (int i = 1; i <= N; ++i) {  // lines 12 and 13, and what a single link ends with
      if (d_[i] == i) Omega[i] += P[i] * Omega[up_[i]] * P[i].transpose();
    }
    Eigen::Map<RowMajor> out(inverse_osim, this->task().size(), this->task().size());
    out.setZero();
    const auto above = [&](int& i, MatrixXd& Ki) {  // lines 14 to 16: one node inward
      Ki = node_[i] ? MatrixXd(Ki * P[i]) : P[i];
      i = up_[i];
    };
    for (int i = 1; i <= N; ++i) {  // lines 17 to 20
      for (int j = 1; constrained_[i] && j <= i; ++j) {
        if (!constrained_[j]) continue;
        int a = i, b = j;
        MatrixXd Ka = K[i], Kb = K[j];
        while (a != b) a > b ? above(a, Ka) : above(b, Kb);
        if (a == 0) continue;  // nothing in common but the ground
        const MatrixXd block = node_[a] ? MatrixXd(Ka * Omega[a] * Kb.transpose()) : Omega[a];
        out(row[i], row[j]) = block;
        out(row[j], row[i]) = block.transpose();
      }
    }
  }

  Bodies bodies_;
  std::vector<bool> constrained_, node_;
  std::vector<int> d_;   ///< per link: what travels inward across its joint; 0: nothing
  std::vector<int> up_;  ///< per d: the node that it ends at; 0: the ground
};

}  // namespace espalier::reference
