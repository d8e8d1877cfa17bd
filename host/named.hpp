#pragma once

#include <Eigen/Core>
#include <span>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/model.hpp"
#include "espalier/kernel/views.hpp"

/// Results by the names of joints, and as matrices of Eigen.

namespace espalier {

/// Rates, accelerations or forces of the independent coordinates by the names of their joints:
///
///   Named vdot(robot);
///   dynamics->evaluate(state.q(), state.v(), tau, vdot);   // goes where a vector goes
///   vdot["knee"]                                           // a number; vdot.of("hip") several
class ESPALIER_API Named {
 public:
  /// Zeros for a model.
  explicit Named(ModelPtr model);
  /// A copy of what an algorithm has written. @throws SizeMismatch unless it has nv numbers
  Named(ModelPtr model, In<double> values);

  /// The number of a joint of one rate. @throws UnknownName listing the joints; Unsupported for a
  /// joint that depends on others; SizeMismatch for a joint of several rates (use of())
  double& operator[](std::string_view joint) { return values_[index(joint)]; }
  /// The same, to be read.
  double operator[](std::string_view joint) const { return values_[index(joint)]; }
  /// All numbers of a joint: a floating joint's are angular first. @throws as operator[]
  std::span<double> of(std::string_view joint);
  /// The same, to be read.
  std::span<const double> of(std::string_view joint) const;

  /// The numbers, in the order of Model::coordinates().
  double* data() { return values_.data(); }
  /// The same, to be read.
  const double* data() const { return values_.data(); }
  /// nv
  std::size_t size() const { return values_.size(); }
  /// As a vector of Eigen.
  Eigen::Map<Eigen::VectorXd> vector() { return {values_.data(), static_cast<long>(size())}; }
  /// The same, to be read.
  Eigen::Map<const Eigen::VectorXd> vector() const {
    return {values_.data(), static_cast<long>(size())};
  }

 private:
  const Joint& joint(std::string_view name) const;
  int index(std::string_view joint) const;

  ModelPtr model_;
  std::vector<double> values_;
};

/// Row-major matrices as algorithms write them.
using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Numbers that an algorithm has written, as a matrix. @throws SizeMismatch unless there are
/// rows * columns of them
inline Eigen::Map<RowMajorMatrix> as_matrix(Out<double> values, int rows, int columns) {
  expect_size("as_matrix", "values", values.size(), static_cast<long>(rows) * columns);
  return {values.data(), rows, columns};
}
/// The same, to be read.
inline Eigen::Map<const RowMajorMatrix> as_matrix(In<double> values, int rows, int columns) {
  expect_size("as_matrix", "values", values.size(), static_cast<long>(rows) * columns);
  return {values.data(), rows, columns};
}

}  // namespace espalier
