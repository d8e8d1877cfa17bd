#pragma once

#include <Eigen/Dense>
#include <vector>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"

namespace espalier::reference {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Matrix6 = Eigen::Matrix<double, 6, 6>;
using Matrix6X = Eigen::Matrix<double, 6, Eigen::Dynamic>;
using Vector6 = Eigen::Matrix<double, 6, 1>;
using ConstVector = Eigen::Map<const VectorXd>;
using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline Eigen::Vector3d vector(const Vec3<double>& a) { return {a.x, a.y, a.z}; }
template <class Spatial>
Vector6 vector(const Spatial& m) {
  return (Vector6() << m[0], m[1], m[2], m[3], m[4], m[5]).finished();
}
inline Eigen::Matrix3d matrix(const Mat3<double>& E) {
  return (Eigen::Matrix3d() << vector(E.row[0]), vector(E.row[1]), vector(E.row[2]))
      .finished()
      .transpose();
}
/// a×, equation (2.23).
inline Eigen::Matrix3d skew(const Eigen::Vector3d& a) {
  return (Eigen::Matrix3d() << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0).finished();
}
/// X = [E 0; -E r× E], equation (2.24).
inline Matrix6 matrix(const Transform<double>& X) {
  const Eigen::Matrix3d E = matrix(X.E);
  return (Matrix6() << E, Eigen::Matrix3d::Zero(), -E * skew(vector(X.r)), E).finished();
}
/// I = [I h×; -h× m 1] about the frame's origin, equation (2.63).
inline Matrix6 matrix(const RigidInertia<double>& I) {
  const Eigen::Matrix3d h = skew(vector(I.h));
  return (Matrix6() << matrix(I.I.full()), h, -h, I.m * Eigen::Matrix3d::Identity()).finished();
}
/// v×, equation (2.31).
inline Matrix6 cross_motion(const Vector6& v) {
  const Eigen::Matrix3d w = skew(v.head<3>()), l = skew(v.tail<3>());
  return (Matrix6() << w, Eigen::Matrix3d::Zero(), l, w).finished();
}
/// v×* = -(v×)^T, equation (2.32).
inline Matrix6 cross_force(const Vector6& v) { return -cross_motion(v).transpose(); }

/// The bodies of the spanning tree as the reference algorithms read them: all of them, folded
/// rotors too, each in its own coordinates, angular above linear. Body 0 is the ground.
/// Source: Featherstone (2008), chapters 2 to 4.
class Bodies {
 public:
  explicit Bodies(const Model& model)
      : count(model.body_count()), motion(model), armature(VectorXd::Zero(model.spanning_nv())) {
    for (int i = 0; i <= count; ++i) {
      lambda.push_back(model.body(i).parent);
      I.push_back(matrix(model.body(i).inertia));
      S.emplace_back(6, model.body(i).nv);
    }
    for (const auto& [rate, inertia] : model.armature()) armature[rate] = inertia;
    X.resize(count + 1), cJ.resize(count + 1);
  }

  /// @param q  spanning positions
  /// @param v  independent rates, or nullptr for rest
  void update(const Model& model, const double* q, const double* v) {
    motion.update(q, v);
    for (int i = 1; i <= count; ++i) {
      const Body& body = model.body(i);
      const BodyRun& run = model.runs()[body.run];
      X[i] = matrix(motion.joints.X[i]);
      with_subspace(run, [&](auto ops) {
        for (int k = 0; k < body.nv; ++k) {
          S[i].col(k) = vector(ops.column(motion.joints.S.data() + body.v, k));
        }
      });
      cJ[i].setZero();
      if (run.subspace == SubspaceKind::dense && v != nullptr)
        cJ[i] = vector(motion.joints.bias[i]);
    }
  }

  int count;                      ///< N, without the ground
  std::vector<int> lambda;        ///< parents
  std::vector<Matrix6> X;         ///< from the parent's to the body's coordinates
  std::vector<Matrix6> I;         ///< rigid-body inertia
  std::vector<Matrix6X> S;        ///< motion subspace
  std::vector<Vector6> cJ;        ///< (dS/dt) qd in body coordinates
  SpanningMotion<double> motion;  ///< qd, G and g
  VectorXd armature;              ///< per spanning rate
};

/// Acceleration of the ground that stands for gravity.
inline Vector6 ground_acceleration(const Vec3<double>& gravity) {
  return (Vector6() << Eigen::Vector3d::Zero(), -vector(gravity)).finished();
}

}  // namespace espalier::reference
