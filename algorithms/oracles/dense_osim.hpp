#pragma once

#include "algorithms/oracles/dense_task.hpp"

namespace espalier {

/// The oracle: J M^-1 J^T from explicit matrices. Allocates. Cost: O(n^3).
/// Source: Khatib (1987); theory/delassus 4.
template <class T>
class DenseInverseOsim final : public InverseOsim<T> {
 public:
  explicit DenseInverseOsim(const Setup& setup)
      : InverseOsim<T>(setup), dense_(this->model(), this->task()) {}

 private:
  void compute(const double* q, double* inverse_osim) override {
    dense_.update(q, nullptr, {0, 0, 0}, nullptr);
    const int m = this->task().size();
    Eigen::Map<Eigen::MatrixXd>(inverse_osim, m, m) = dense_.inverse_osim();
  }
  DenseTask dense_;
};

}  // namespace espalier
