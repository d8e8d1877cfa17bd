#pragma once

#include <Eigen/Core>

#include "espalier/control/task_control.hpp"

namespace espalier {

/// What motors and contacts can give, as rows of a program: lower <= C u <= upper. A row for each
/// motor's input; for each contact one for the normal force and one for each side of its pyramid.
struct ESPALIER_API InputBounds {
  Eigen::MatrixXd C;        ///< rows x inputs
  Eigen::VectorXd lower;    ///< by row
  Eigen::VectorXd upper;    ///< likewise
  Eigen::VectorXd weights;  ///< of the squares of inputs

  /// @throws InvalidModel naming motor or contact; UnknownName
  InputBounds(const Model& model, const TaskControlSetup& setup);

 private:
  void add(const ControlMotor& motor, const Model& model);
  void add(const ControlContact& contact);

  long row_ = 0, column_ = 0;
};

}  // namespace espalier
