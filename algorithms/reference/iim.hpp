#pragma once

#include "algorithms/reference/subsystems.hpp"

namespace espalier::reference {

/// Inertia-weighted input matrix M^-1 B and free accelerations by the Implicit Inversion Method, as
/// printed: block matrices of pairs of subsystems.
/// Frames: each body's own, angular above linear.  Cost: O(n^2 m).
/// Source: Krög, Gattringer, Müller, equations (8) to (12), (17), (25) and (27); theory/template 2,
/// instance C, and theory/input-matrix 3.2.
///
///   inward (10), (11):  MR = F^T M* F,  T* = (1 - M* F MR^-1 F^T)^T T
///                       M*_p += T*^T M* T,  h*_p += T*^T (M* c + h*)
///   outward (12):       qdd = -MR^-1 F^T (M* (T yd_p + c) + h*),  yd = T yd_p + c + F qdd
///   B* (17):            block row j is the sum of T*_ij^T B_i over the subtree of j
///   B^ (27):            diag(MR^-1 F^T) [1 - diag(M* T) T^ diag(F MR^-1 F^T)] B*, where block row
///   i
///                       of T^ (25) is that of T* for the parent of i
template <class T>
class Iim final : public InputMatrix<T> {
 public:
  explicit Iim(const Setup& setup) : InputMatrix<T>(setup), subsystems_(this->model()) {}

 private:
  void compute(const double* q, const double* v, const double* tau,
               const Wrenches<double>* wrenches, typename InputMatrix<T>::Answer& answer) override {
    subsystems_.update(this->model(), this->inputs(), q, v, tau, wrenches);
    std::vector<Subsystem>& s = subsystems_.all;  // M and h become M* and h*
    const int N = static_cast<int>(s.size()), m = this->inputs().size();
    const long size = s.back().first + s.back().size;
    std::vector<Eigen::LLT<MatrixXd>> MR(N);
    std::vector<VectorXd> yd(N);

    // T* of all pairs: row block i holds T*_ij for all j that carry i, and 1 for i itself.
    MatrixXd T_star = MatrixXd::Identity(size, size);
    for (int i = N; --i >= 1;) {
      MR[i].compute(s[i].F.transpose() * s[i].M * s[i].F);
      const MatrixXd T_i = s[i].T - s[i].F * MR[i].solve(s[i].F.transpose() * s[i].M * s[i].T);
      Subsystem& p = s[s[i].parent];
      p.M += T_i.transpose() * s[i].M * s[i].T;
      p.h += T_i.transpose() * (s[i].M * s[i].c + s[i].h);
      if (s[i].parent != 0) T_star.block(s[i].first, p.first, s[i].size, p.size) = T_i;
    }
    for (int i = 1; i < N; ++i) {  // T*_ac = T*_ab T*_bc
      const Subsystem& p = s[s[i].parent];
      if (s[i].parent == 0) continue;
      T_star.block(s[i].first, 0, s[i].size, p.first) =
          T_star.block(s[i].first, p.first, s[i].size, p.size) *
          T_star.block(p.first, 0, p.size, p.first);
    }
    MatrixXd B(size, m), B_star(size, m), FMRFB(size, m);
    for (int i = 1; i < N; ++i) B.middleRows(s[i].first, s[i].size) = s[i].B;
    B_star = T_star.transpose() * B;
    for (int i = 1; i < N; ++i) {
      FMRFB.middleRows(s[i].first, s[i].size) =
          s[i].F * MR[i].solve(s[i].F.transpose() * B_star.middleRows(s[i].first, s[i].size));
    }

    Eigen::Map<RowMajor> B_hat(answer.input_matrix.data(), this->model().nv(), m);
    Eigen::Map<VectorXd> qdd(answer.free_acceleration.data(), this->model().nv());
    std::vector<MatrixXd> Y(N, MatrixXd::Zero(6, m));  // accelerations of y per input (9)
    yd[0] = ground_acceleration(this->gravity());
    for (int i = 1; i < N; ++i) {
      const Subsystem& p = s[s[i].parent];
      MatrixXd sum = B_star.middleRows(s[i].first, s[i].size);
      if (s[i].parent != 0) {
        sum -= s[i].M * s[i].T * T_star.middleRows(p.first, p.size) * FMRFB;
      }
      B_hat.middleRows(s[i].v, s[i].nv) = MR[i].solve(s[i].F.transpose() * sum);
      Y[i] = s[i].T * Y[s[i].parent] + s[i].F * B_hat.middleRows(s[i].v, s[i].nv);
      yd[i] = s[i].T * yd[s[i].parent] + s[i].c;
      qdd.segment(s[i].v, s[i].nv) = -MR[i].solve(s[i].F.transpose() * (s[i].M * yd[i] + s[i].h));
      yd[i] += s[i].F * qdd.segment(s[i].v, s[i].nv);
    }
    if (this->task() == nullptr) return;
    Eigen::Map<RowMajor> JB(answer.task_input_matrix.data(), this->task_size(), m);
    Eigen::Map<VectorXd> free(answer.task_free_acceleration.data(), this->task_size());
    for (const Task::Part& part : this->task()->parts()) {
      const int i = subsystems_.tree.node_of[part.body];
      JB.middleRows(part.first, part.size()) = subsystems_.rows(part) * Y[i];
      free.segment(part.first, part.size()) =
          subsystems_.acceleration(part, yd[i], this->gravity());
    }
  }

  Subsystems subsystems_;
};

}  // namespace espalier::reference
