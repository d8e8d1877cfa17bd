#pragma once

#include "algorithms/oracles/dense_task.hpp"

namespace espalier {

/// The oracle: all matrices of operational space, dense. Allocates. Cost: O(n^3 + m^3).
/// Source: Khatib (1987).
template <class T>
class DenseOperationalSpace final : public OperationalSpace<T> {
 public:
  explicit DenseOperationalSpace(const Setup& setup)
      : OperationalSpace<T>(setup), dense_(this->model(), this->task()) {}

 private:
  using Answer = typename OperationalSpace<T>::Answer;

  const Answer& compute(const double* q, const double* v, const double* tau,
                        const Wrenches<double>* wrenches) override {
    dense_.update(q, v, this->gravity(), wrenches);
    const int nv = this->model().nv();
    const DenseSpectrum spectrum(dense_.inverse_osim());
    const Eigen::MatrixXd osim = spectrum.pseudo_inverse(), Jbar = dense_.MinvJt() * osim;
    put(dense_.J(), answer_.jacobian);
    put(dense_.inverse_osim(), answer_.inverse_osim);
    put(osim, answer_.osim);
    put(Jbar, answer_.consistent_inverse);
    put(Eigen::MatrixXd::Identity(nv, nv) - dense_.J().transpose() * Jbar.transpose(),
        answer_.null_projector);
    put(dense_.MinvJt().transpose(), answer_.task_input);
    put(dense_.bias(), answer_.task_bias);
    put(dense_.J() * dense_.free_vdot(tau) + dense_.bias(), answer_.free_acceleration);
    put(osim * (dense_.J() * dense_.Minv_bias() - dense_.bias()), answer_.bias_force);
    answer_.rank = spectrum.rank();
    return answer_;
  }
  /// Row-major.
  static void put(const Eigen::MatrixXd& A, std::vector<double>& out) {
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    out.resize(A.size());
    Eigen::Map<RowMajor>(out.data(), A.rows(), A.cols()) = A;
  }

  DenseTask dense_;
  Answer answer_;
};

}  // namespace espalier
