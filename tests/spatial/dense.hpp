#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "espalier/kernel/scalar/scalar.hpp"
#include "espalier/kernel/spatial/inertia.hpp"

/// The same things as full matrices, straight from Featherstone (2008), chapter 2: the oracle.

namespace espalier::test {

using Eigen::Matrix3d;
using Eigen::Vector3d;
using Matrix6d = Eigen::Matrix<double, 6, 6>;
using Vector6d = Eigen::Matrix<double, 6, 1>;

/// A dozen operations on numbers of order one, in another order than the oracle's.
constexpr double rounding = 1e-14;

inline Vector3d dense(const Vec3<double>& a) { return {a.x, a.y, a.z}; }
inline Matrix3d dense(const Mat3<double>& m) {
  Matrix3d out;
  out << m.row[0].x, m.row[0].y, m.row[0].z, m.row[1].x, m.row[1].y, m.row[1].z, m.row[2].x,
      m.row[2].y, m.row[2].z;
  return out;
}
inline Matrix3d dense(const Sym3<double>& m) {
  Matrix3d out;
  out << m.xx, m.xy, m.xz, m.xy, m.yy, m.yz, m.xz, m.yz, m.zz;
  return out;
}
inline Vector6d dense(const Motion<double>& m) {
  return (Vector6d() << dense(m.w), dense(m.v)).finished();
}
inline Vector6d dense(const Force<double>& f) {
  return (Vector6d() << dense(f.n), dense(f.f)).finished();
}

/// [a×].
inline Matrix3d skew(const Vector3d& a) {
  Matrix3d out;
  out << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return out;
}
inline Matrix6d blocks(const Matrix3d& A, const Matrix3d& B, const Matrix3d& C, const Matrix3d& D) {
  Matrix6d out;
  out << A, B, C, D;
  return out;
}
/// Motion transform from A to B, equation (2.24).
inline Matrix6d dense(const Transform<double>& X) {
  const Matrix3d E = dense(X.E);
  return blocks(E, Matrix3d::Zero(), -E * skew(dense(X.r)), E);
}
/// [v×] on motions, equation (2.31); on forces it is -[v×]^T.
inline Matrix6d crm(const Vector6d& v) {
  return blocks(skew(v.head<3>()), Matrix3d::Zero(), skew(v.tail<3>()), skew(v.head<3>()));
}
/// Equation (2.63), with the inertia already about the origin.
inline Matrix6d dense(const RigidInertia<double>& I) {
  const Matrix3d h = skew(dense(I.h));
  return blocks(dense(I.I), h, h.transpose(), I.m * Matrix3d::Identity());
}
inline Matrix6d dense(const ArticulatedInertia<double>& I) {
  return blocks(dense(I.A), dense(I.B), dense(I.B).transpose(), dense(I.C));
}

template <class A, class B>
void expect_near(const A& a, const B& b, double tolerance = rounding) {
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), tolerance) << a << "\nexpected\n" << b;
}

class Random {
 public:
  double number() { return uniform_(generator_); }
  Vec3<double> vec() { return {number(), number(), number()}; }
  Motion<double> motion() { return {vec(), vec()}; }
  Force<double> force() { return {vec(), vec()}; }
  Mat3<double> mat() { return {{vec(), vec(), vec()}}; }
  Sym3<double> sym() { return {number(), number(), number(), number(), number(), number()}; }
  Mat3<double> rotation() { return rpy_to_E({3 * number(), 1.5 * number(), 3 * number()}); }
  Transform<double> transform() { return {rotation(), vec()}; }
  /// Any ten numbers; they need not belong to a body.
  RigidInertia<double> rigid() { return {number(), vec(), sym()}; }
  /// Any 21 numbers.
  ArticulatedInertia<double> articulated() { return {sym(), mat(), sym()}; }

 private:
  std::mt19937 generator_{11};
  std::uniform_real_distribution<double> uniform_{-1.0, 1.0};
};

/// General transforms and those that have a zero or a one somewhere.
inline std::vector<Transform<double>> transforms(Random& random) {
  std::vector<Transform<double>> all{Transform<double>::identity()};
  all.push_back({Mat3<double>::identity(), random.vec()});
  all.push_back({Mat3<double>::identity(), {0, 0, random.number()}});
  all.push_back({random.rotation(), Vec3<double>::zero()});
  all.push_back({{{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}}, random.vec()});
  all.push_back({{{{0, -1, 0}, {0, 0, 1}, {-1, 0, 0}}}, {random.number(), 0, 0}});
  for (int i = 0; i < 10; ++i) all.push_back(random.transform());
  return all;
}

}  // namespace espalier::test
