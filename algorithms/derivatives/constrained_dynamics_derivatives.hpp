#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <vector>

#include "algorithms/derivatives/variation/derivative_sweep.hpp"
#include "algorithms/derivatives/variation/mass_factor/branch_solves.hpp"
#include "algorithms/derivatives/variation/task_variation.hpp"
#include "algorithms/linear_algebra/semidefinite_factor.hpp"
#include "espalier/kernel/problems/derivatives/constrained_dynamics_derivatives.hpp"

namespace espalier {

/// Derivatives of constrained dynamics on a cluster tree: those of inverse dynamics at the
/// solution, constraint forces being wrenches in the frames of their rows; M^-1 applied to them;
/// and a small system for the variation of the forces,
///   df = A^+ (J M^-1 D - dA),  dvdot = -M^-1 D + M^-1 J^T df,  A = J M^-1 J^T + c,
/// with dA the variation of the rows' accelerations.
/// Source: theory/derivatives 15, (15.2) and (15.3); Golub, Pereyra (1973) for the pseudo-inverse.
template <class T>
class VariationConstrainedDynamics final : public ConstrainedDynamicsDerivatives<T> {
 public:
  explicit VariationConstrainedDynamics(const Setup& setup)
      : ConstrainedDynamicsDerivatives<T>(setup),
        n_(this->model().nv()),
        m_(this->task().size()),
        state_(this->model()),
        still_(this->model()),
        sweep_(state_),
        factor_(this->model()),
        solves_(this->model()),
        rows_(this->model(), this->task()),
        delassus_(m_),
        constraint_wrenches_(setup.model),
        bias_(n_),
        M_(static_cast<std::size_t>(n_) * n_ + Pack::size),
        Dq_(M_.size()),
        Dv_(M_.size()),
        J_(Matrix::Zero(m_, n_)),
        by_q_(J_),
        by_v_(J_),
        MinvJt_(n_, m_),
        A_(m_, m_),
        lack_(m_),
        free_(m_),
        column_(m_),
        rates_(n_) {
    answer_.vdot.resize(n_), answer_.force.resize(m_);
    for (auto* x : {&answer_.dvdot_dq, &answer_.dvdot_dv, &answer_.dvdot_dtau}) {
      x->resize(static_cast<std::size_t>(n_) * n_);
    }
    for (auto* x : {&answer_.dforce_dq, &answer_.dforce_dv, &answer_.dforce_dtau}) {
      x->resize(static_cast<std::size_t>(m_) * n_);
    }
    state_.wrenches.reserve(this->task().parts().size());
    still_.wrenches.reserve(this->task().parts().size());
    rows_.wrenches(answer_.force.data(), constraint_wrenches_);  // takes its memory
  }

  T margin() override { return state_.motion.margin(); }

 private:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Map = Eigen::Map<Matrix>;
  using Answer = typename ConstrainedDynamicsDerivatives<T>::Answer;

  const Answer& compute(const double* q, const double* v, const double* tau,
                        const double* acceleration, const Loads<double>* loads) override {
    state_.update(q, v, this->gravity(), loads);
    rows_.place(state_);
    rows_.jacobian(state_, J_.data());
    state_.compose();
    state_.accelerate(nullptr);
    sweep_.forces(state_, bias_.data());
    sweep_.mass_matrix(state_, M_.data());
    factor_.factor(M_.data());
    rows_.accelerations(state_, lack_.data());
    for (int i = 0; i < m_; ++i) lack_[i] = acceleration[i] - lack_[i];
    solve_dynamics(tau);

    rows_.wrenches(answer_.force.data(), constraint_wrenches_);
    state_.apply(constraint_wrenches_);
    state_.accelerate(answer_.vdot.data());
    by_q_.setZero(), by_v_.setZero();  // rows write the columns that carry them
    rows_.vary_accelerations(state_, by_q_.data(), by_v_.data());
    sweep_.inverse_dynamics(state_, bias_.data(), Dq_.data(), Dv_.data(), nullptr);
    factor_.invert(answer_.dvdot_dtau.data());
    solves_.solve(factor_, Dq_.data(), Dv_.data(), answer_.dvdot_dq.data(),
                  answer_.dvdot_dv.data());

    Map Xq(answer_.dvdot_dq.data(), n_, n_), Xv(answer_.dvdot_dv.data(), n_, n_),
        Z(answer_.dvdot_dtau.data(), n_, n_);
    Map Fq(answer_.dforce_dq.data(), m_, n_), Fv(answer_.dforce_dv.data(), m_, n_),
        Ft(answer_.dforce_dtau.data(), m_, n_);
    Fq = -by_q_, Fv = -by_v_;
    Ft.setZero();
    add_product(-1.0, J_, Xq, Fq);
    add_product(-1.0, J_, Xv, Fv);
    add_product(-1.0, J_, Z, Ft);
    for (Map* F : {&Fq, &Fv, &Ft}) solve_columns(*F);
    if (delassus_.rank() < m_) vary_inverse(q, Fq);
    add_product(1.0, MinvJt_, Fq, Xq);
    add_product(1.0, MinvJt_, Fv, Xv);
    add_product(1.0, MinvJt_, Ft, Z);
    return answer_;
  }

  /// C += s A B, summed in one order: Eigen's products differ in the last bit with the alignment of
  /// their arrays.
  template <class A, class B, class C>
  static void add_product(double s, const A& a, const B& b, C& c) {
    const long rows = a.rows(), inner = a.cols(), columns = b.cols();
    for (long i = 0; i < rows; ++i) {
      double* out = c.data() + i * columns;
      for (long l = 0; l < inner; ++l) {
        const double x = s * a(i, l);
        const double* row = b.data() + l * columns;
        for (long j = 0; j < columns; ++j) out[j] += x * row[j];
      }
    }
  }

  /// Accelerations and constraint forces from bias forces and lack_.
  void solve_dynamics(const double* tau) {
    for (int i = 0; i < n_; ++i) answer_.vdot[i] = tau[i] - bias_[i];
    factor_.solve(answer_.vdot.data());
    for (int i = 0; i < m_; ++i) {
      std::copy_n(J_.data() + static_cast<long>(i) * n_, n_, rates_.data());
      free_[i] = 0.0;
      for (int k = 0; k < n_; ++k) free_[i] += rates_[k] * answer_.vdot[k];
      factor_.solve(rates_.data());
      for (int k = 0; k < n_; ++k) MinvJt_(k, i) = rates_[k];
    }
    A_.setZero();
    add_product(1.0, J_, MinvJt_, A_);
    delassus_.compute(A_.data(), 0.0);
    answer_.rank = delassus_.rank();
    if (this->compliance() != 0.0) delassus_.compute(A_.data(), this->compliance());
    for (int i = 0; i < m_; ++i) answer_.force[i] = lack_[i] - free_[i];
    delassus_.solve(answer_.force.data());
    answer_.conflict = 0.0;
    for (int i = 0; i < m_; ++i) {
      // What the rows still lack: lack_ becomes a - (dJ/dt) v - J vdot.
      lack_[i] -= free_[i];
      for (int j = 0; j < m_; ++j) lack_[i] -= A_(i, j) * answer_.force[j];
      answer_.conflict = std::max(answer_.conflict, std::abs(lack_[i]));
    }
    for (int k = 0; k < n_; ++k) {
      for (int i = 0; i < m_; ++i) answer_.vdot[k] += MinvJt_(k, i) * answer_.force[i];
    }
  }
  void solve_columns(Map& F) {
    for (long j = 0; j < F.cols(); ++j) {
      for (int i = 0; i < m_; ++i) column_[i] = F(i, j);
      delassus_.solve(column_.data());
      for (int i = 0; i < m_; ++i) F(i, j) = column_[i];
    }
  }

  /// What redundant rows add to df/dq. With f = A^+ r of a symmetric A of constant rank and the
  /// conflict c = r - A f, for which J^T c = 0,
  ///   df = A^+ (dr - dA f) + A^+ A^+ J M^-1 d(J^T c) + (1 - A^+ A) dJ z,  z = M^-1 J^T A^+ f.
  void vary_inverse(const double* q, Map& Fq) {
    column_ = answer_.force;
    delassus_.solve(column_.data());
    for (int k = 0; k < n_; ++k) {
      rates_[k] = 0.0;
      for (int i = 0; i < m_; ++i) rates_[k] += MinvJt_(k, i) * column_[i];
    }
    still_.update(q, rates_.data(), {0, 0, 0}, nullptr);
    by_q_.setZero();
    rows_.vary_velocities(still_, by_q_.data());
    for (long j = 0; j < n_; ++j) {
      // 1 - A^+ A takes out what is in A's range.
      for (int i = 0; i < m_; ++i) column_[i] = by_q_(i, j);
      delassus_.solve(column_.data());
      for (int i = 0; i < m_; ++i) {
        double x = by_q_(i, j);
        for (int k = 0; k < m_; ++k) x -= A_(i, k) * column_[k];
        Fq(i, j) += x;
      }
    }
    if (answer_.conflict == 0.0) return;
    // At rest and without gravity, tau is -J^T c where the wrenches c act.
    std::fill(rates_.begin(), rates_.end(), 0.0);
    still_.update(q, rates_.data(), {0, 0, 0}, nullptr);
    rows_.wrenches(lack_.data(), constraint_wrenches_);
    still_.apply(constraint_wrenches_);
    still_.compose();
    still_.accelerate(nullptr);
    sweep_.inverse_dynamics(still_, bias_.data(), Dq_.data(), Dv_.data(), nullptr);
    by_q_.setZero();
    const Map Dq(Dq_.data(), n_, n_);
    add_product(-1.0, MinvJt_.transpose(), Dq, by_q_);
    for (long j = 0; j < n_; ++j) {
      for (int i = 0; i < m_; ++i) column_[i] = by_q_(i, j);
      delassus_.solve(column_.data());
      delassus_.solve(column_.data());
      for (int i = 0; i < m_; ++i) Fq(i, j) += column_[i];
    }
  }

  int n_, m_;
  VariationState<double> state_;
  VariationState<double> still_;  ///< the same positions at other rates
  DerivativeSweep<double> sweep_;
  BranchFactor factor_;
  BranchSolves solves_;
  TaskVariation<double> rows_;
  SemidefiniteFactor delassus_;
  FramedWrenches<double> constraint_wrenches_;
  std::vector<double> bias_;
  std::vector<double> M_, Dq_, Dv_;  ///< zero where no coordinate carries the other
  Matrix J_, by_q_, by_v_, MinvJt_, A_;
  std::vector<double> lack_, free_, column_, rates_;
  Answer answer_;
};

}  // namespace espalier
