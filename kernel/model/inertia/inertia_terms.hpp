#pragma once

#include <Eigen/Core>
#include <vector>

#include "espalier/kernel/linear_algebra/decompositions.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"

/// What inertia_groups.cpp and group_inertia.cpp share.

namespace espalier::detail {

/// Column k of a body's S.
template <class T>
inline Motion<T> unit_motion(const Model& model, int body, int k, const Motion<T>* S) {
  Motion<T> out;
  with_subspace(model.runs()[model.body(body).run],
                [&](auto ops) { out = decltype(ops)::column(S + model.body(body).v, k); });
  return out;
}

/// M of a joint with equations of its own, at rest, lower triangle, size 6 + nv.
template <class T>
inline void own_inertia(const Model& model, int body, const T* q, const T* still, std::vector<T>& M,
                        std::vector<T>& h) {
  const std::size_t size = 6 + model.body(body).nv;
  M.assign(size * size, T(0.0)), h.assign(size, T(0.0));
  model.equations(body, q, still, Vec3<T>::zero(), M.data(), h.data());
}

inline bool has_equations(const Model& model, int body) {
  return model.runs()[model.body(body).run].type->has_equations();
}

/// Principal moments about the centre of mass, ascending.
inline Eigen::Vector3d principal_moments(const RigidInertia<double>& I) {
  const double per_mass = I.m > 0.0 ? 1.0 / I.m : 0.0;
  const Eigen::Vector3d c(per_mass * I.h.x, per_mass * I.h.y, per_mass * I.h.z);
  Eigen::Matrix3d about_com;
  about_com << I.I.xx, I.I.xy, I.I.xz, I.I.xy, I.I.yy, I.I.yz, I.I.xz, I.I.yz, I.I.zz;
  about_com -= I.m * (c.squaredNorm() * Eigen::Matrix3d::Identity() - c * c.transpose());
  return eigenvalues_of_symmetric(about_com);
}

/// Smallest eigenvalue of a symmetric matrix, scaled to a unit diagonal where `size` is its
/// diagonal; 0 where one of these is not positive.
inline double least_eigenvalue(const Eigen::MatrixXd& M, const Eigen::VectorXd& size,
                               Eigen::VectorXd* vector = nullptr) {
  if (!(size.minCoeff() > 0.0)) return 0.0;
  if (size.size() == 1 && vector == nullptr) return M(0, 0) / size(0);
  const Eigen::VectorXd s = size.cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd scaled = s.asDiagonal() * M * s.asDiagonal();
  const auto [values, vectors] = eigen_of_symmetric(scaled);
  if (vector != nullptr) *vector = s.cwiseProduct(vectors.col(0));
  return values(0);
}

}  // namespace espalier::detail
