#pragma once

#include "algorithms/reference/bodies.hpp"
#include "espalier/kernel/problems/task.hpp"

namespace espalier::reference {

/// Rows K of the constraints on a body, in its coordinates: J v = K v_body. Rows that are fixed in
/// world axes speak of a point of the body.
/// @param E  from world to body axes
inline RowMajor constraint_rows(const Task::Part& part, const Eigen::Matrix3d& E) {
  RowMajor K(part.size(), 6);
  for (int k = 0; k < part.size(); ++k) {
    Vector6 row = vector(part.rows[k]);
    if (part.world) {
      row << E * row.head<3>(), E * row.tail<3>();
      row.head<3>() += vector(part.point).cross(row.tail<3>());
    }
    K.row(k) = row.transpose();
  }
  return K;
}

/// From world axes to those of every body.
inline std::vector<Eigen::Matrix3d> attitudes(const Bodies& bodies) {
  std::vector<Eigen::Matrix3d> E(bodies.count + 1, Eigen::Matrix3d::Identity());
  for (int i = 1; i <= bodies.count; ++i) {
    E[i] = bodies.X[i].topLeftCorner<3, 3>() * E[bodies.lambda[i]];
  }
  return E;
}

}  // namespace espalier::reference
