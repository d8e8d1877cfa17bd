#pragma once

#include <algorithm>

#include "algorithms/oracles/dense_task.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

namespace espalier {

/// The oracle: B from G and explicit Jacobians, dense solve. Allocates.
/// Cost: O(n^3 + nv^2 m).  Source: theory/oracles 9, oracle 4.
template <class T>
class DenseInputMatrix final : public InputMatrix<T> {
 public:
  explicit DenseInputMatrix(const Setup& setup)
      : InputMatrix<T>(setup),
        rows_(this->model(), rows(setup)),
        dense_(this->model(), rows_),
        B_(this->model().nv(), this->inputs().size()) {}

 private:
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// Of contacts, then of the task.
  static std::vector<EndEffector> rows(const Setup& setup) {
    std::vector<EndEffector> all;
    for (const Input& input : setup.inputs) {
      if (input.joint.empty()) all.push_back(input.contact);
    }
    all.insert(all.end(), setup.end_effectors.begin(), setup.end_effectors.end());
    if (all.empty()) {  // motors alone: any row will do
      all.push_back(EndEffector::weld(setup.model->links().front().name));
    }
    return all;
  }

  void compute(const double* q, const double* v, const double* tau,
               const Wrenches<double>* wrenches, typename InputMatrix<T>::Answer& answer) override {
    dense_.update(q, v, this->gravity(), wrenches);
    const DenseEquations& e = dense_.equations();
    const long nv = this->model().nv(), m = this->inputs().size(), t = this->task_size();
    if (nv == 0) {  // nothing moves, and matrices without columns have no rows to take
      std::fill(answer.task_input_matrix.begin(), answer.task_input_matrix.end(), 0.0);
      std::copy_n(dense_.bias().data() + dense_.bias().size() - t, t,
                  answer.task_free_acceleration.begin());
      return;
    }
    for (const InputColumns::Motor& motor : this->inputs().motors()) B_.col(motor.column).setZero();
    for (const InputColumns::Motor& motor : this->inputs().motors()) {
      B_.col(motor.column) += motor.gain * e.G().row(motor.rate).transpose();
    }
    long row = 0;
    for (const Task::Part& part : this->inputs().contacts()) {
      for (int k = 0; k < part.size(); ++k) {
        B_.col(part.first + k) = dense_.J().row(row++).transpose();
      }
    }
    Eigen::Map<RowMajor> Bhat(answer.input_matrix.data(), nv, m);
    Eigen::Map<Eigen::VectorXd> free(answer.free_acceleration.data(), nv);
    // LU, since Eigen's LDLT takes singular and NaN pivots for zeros and answers with numbers.
    const Eigen::PartialPivLU<Eigen::MatrixXd> M(e.M());
    Bhat = M.solve(B_);
    free = M.solve(Eigen::Map<const Eigen::VectorXd>(tau, nv) - e.bias());
    if (t == 0) return;
    Eigen::Map<RowMajor>(answer.task_input_matrix.data(), t, m) = dense_.J().bottomRows(t) * Bhat;
    Eigen::Map<Eigen::VectorXd>(answer.task_free_acceleration.data(), t) =
        dense_.J().bottomRows(t) * free + dense_.bias().tail(t);
  }

  Task rows_;
  DenseTask dense_;
  Eigen::MatrixXd B_;
};

}  // namespace espalier
