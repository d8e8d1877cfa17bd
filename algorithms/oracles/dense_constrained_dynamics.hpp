#pragma once

#include "algorithms/oracles/dense_task.hpp"

namespace espalier {

/// The oracle: constraint forces from the dense Delassus matrix by its eigenvalues. Allocates.
/// Cost: O(n^3 + m^3). Source: Featherstone (2008), section 8.5.
template <class T>
class DenseConstrainedDynamics final : public ConstrainedDynamics<T> {
 public:
  explicit DenseConstrainedDynamics(const Setup& setup)
      : ConstrainedDynamics<T>(setup), dense_(this->model(), this->task()) {}

 private:
  using Answer = typename ConstrainedDynamics<T>::Answer;

  const Answer& compute(const double* q, const double* v, const double* tau,
                        const double* acceleration, const Wrenches<double>* wrenches) override {
    dense_.update(q, v, this->gravity(), wrenches);
    const Eigen::VectorXd free = dense_.free_vdot(tau);
    const Eigen::VectorXd lack =
        Eigen::Map<const Eigen::VectorXd>(acceleration, this->task().size()) - dense_.bias();
    const DenseSpectrum spectrum(dense_.inverse_osim());
    const Eigen::VectorXd force =
        spectrum.pseudo_inverse(this->compliance()) * (lack - dense_.J() * free);
    const Eigen::VectorXd vdot = free + dense_.MinvJt() * force;
    answer_.vdot.assign(vdot.begin(), vdot.end());
    answer_.force.assign(force.begin(), force.end());
    answer_.rank = spectrum.rank();
    answer_.conflict = (dense_.J() * vdot - lack).cwiseAbs().maxCoeff();
    return answer_;
  }

  DenseTask dense_;
  Answer answer_;
};

}  // namespace espalier
