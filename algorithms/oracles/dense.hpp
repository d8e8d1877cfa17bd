#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Dense>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/kernel/problems/dynamics/bias_force.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"
#include "espalier/kernel/problems/dynamics/inverse_dynamics.hpp"
#include "espalier/kernel/problems/dynamics/mass_matrix.hpp"

/// The oracle: explicit body Jacobians, M = sum of J^T I J, dense solve. It shares with the
/// recursive algorithms only what joints and constraints say, takes folded rotors as the bodies
/// that they are, projects with G, and makes no attempt at speed. Jacobians are in each body's own
/// frame: about the world's origin the inertia of a robot far from it drowns in mass times distance
/// squared. Cost: O(n^3). Source: Featherstone (2008), section 3.2; theory/oracles 9.

namespace espalier {

/// H qdd + C = tau over all spanning rates, and projected on the independent ones.
class DenseEquations {
 public:
  explicit DenseEquations(const Model& model)
      : model_(model), motion_(model), zero_(model.nv(), 0.0) {}

  /// @param v  independent rates, or nullptr for zero: then C holds gravity and external wrenches
  void update(const double* q, const double* v, const Vec3<double>& gravity,
              const Wrenches<double>* wrenches) {
    const int n = model_.body_count(), nv = model_.spanning_nv();
    motion_.update(q, v == nullptr ? zero_.data() : v);
    const TreeKinematics<double>& kinematics = motion_.joints;
    const Eigen::Map<const Eigen::VectorXd> qd(motion_.qd(), nv);
    g_ = Eigen::VectorXd::Zero(nv);
    if (motion_.g() != nullptr) g_ = Eigen::Map<const Eigen::VectorXd>(motion_.g(), nv);
    G_ = Eigen::MatrixXd::Zero(nv, model_.nv());
    Eigen::VectorXd unit = Eigen::VectorXd::Zero(model_.nv());
    for (int j = 0; j < model_.nv(); ++j) {
      unit(j) = 1.0;
      motion_.expand(unit.data(), G_.col(j).data());
      unit(j) = 0.0;
    }

    Eigen::MatrixXd H = Eigen::MatrixXd::Zero(nv, nv);
    Eigen::VectorXd C = Eigen::VectorXd::Zero(nv);
    X_.assign(n + 1, Transform<double>::identity());
    J_.assign(n + 1, Matrix6X::Zero(6, nv));
    twist_.assign(n + 1, Vector6::Zero());
    a_.assign(n + 1, Vector6::Zero());
    for (int i = 1; i <= n; ++i) {
      const Body& body = model_.body(i);
      const Transform<double>& X = kinematics.X[i];
      X_[i] = X * X_[body.parent];
      const Matrix6 from_parent = plucker(X);
      J_[i] = from_parent * J_[body.parent];
      for (int k = 0; k < body.nv; ++k) J_[i].col(body.v + k) = vector(column(body, k));
      const Vector6 joint = J_[i].middleCols(body.v, body.nv) * qd.segment(body.v, body.nv);
      twist_[i] = from_parent * twist_[body.parent] + joint;
      a_[i] = from_parent * a_[body.parent] + cross_motion(twist_[i]) * joint;
      if (model_.runs()[body.run].subspace == SubspaceKind::dense) {
        a_[i] += vector(kinematics.bias[i]);
      }
      Vector6 up = Vector6::Zero();  // weight is felt as an acceleration of everything
      up.tail<3>() = -vector(X_[i].E * gravity);
      const Matrix6 I = matrix(body.inertia);
      Vector6 f = I * (a_[i] + up) - cross_motion(twist_[i]).transpose() * (I * twist_[i]);
      if (wrenches != nullptr) f -= vector((*wrenches)[i]);
      H += J_[i].transpose() * (I * J_[i]);
      C += J_[i].transpose() * f;
    }
    for (const auto& [rate, inertia] : model_.armature()) H(rate, rate) += inertia;
    for (const int i : model_.bodies_with_equations()) add_equations(i, q, gravity, H, C);
    H_ = H;
    C_ = C;
    M_ = G_.transpose() * H * G_;
    bias_ = G_.transpose() * (C + H * g_);
  }

  const Eigen::MatrixXd& M() const { return M_; }
  const Eigen::VectorXd& bias() const { return bias_; }
  /// The same over all spanning rates, as if nothing tied them.
  const Eigen::MatrixXd& H() const { return H_; }
  const Eigen::VectorXd& C() const { return C_; }
  const Eigen::MatrixXd& G() const { return G_; }
  SpanningMotion<double>& motion() { return motion_; }

  using Vector6 = Eigen::Matrix<double, 6, 1>;
  using Matrix6X = Eigen::Matrix<double, 6, Eigen::Dynamic>;

  // Of body i, the ground being 0; spatial vectors in the body's frame.
  const Transform<double>& placement(int i) const { return X_[i]; }  ///< world to body
  const Vector6& twist(int i) const { return twist_[i]; }
  const Matrix6X& spanning_jacobian(int i) const { return J_[i]; }  ///< over spanning rates
  /// Spatial acceleration at vdot = 0, without gravity: (dJ/dt) v.
  Vector6 bias_acceleration(int i) const { return a_[i] + J_[i] * g_; }

  static Eigen::Vector3d vector(const Vec3<double>& a) { return {a.x, a.y, a.z}; }
  template <class Six>
  static Vector6 vector(const Six& m) {
    return (Vector6() << m[0], m[1], m[2], m[3], m[4], m[5]).finished();
  }

 private:
  using Matrix6 = Eigen::Matrix<double, 6, 6>;

  static Eigen::Matrix3d skew(const Eigen::Vector3d& a) {
    return (Eigen::Matrix3d() << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0).finished();
  }
  static Matrix6 cross_motion(const Vector6& v) {
    Matrix6 m;
    m << skew(v.head<3>()), Eigen::Matrix3d::Zero(), skew(v.tail<3>()), skew(v.head<3>());
    return m;
  }
  static Matrix6 plucker(const Transform<double>& X) {
    Eigen::Matrix3d E;
    for (int i = 0; i < 3; ++i) E.row(i) = vector(X.E.row[i]).transpose();
    Matrix6 m;
    m << E, Eigen::Matrix3d::Zero(), -E * skew(vector(X.r)), E;
    return m;
  }
  static Matrix6 matrix(const RigidInertia<double>& I) {
    Matrix6 m;
    const Eigen::Matrix3d h = skew({I.h.x, I.h.y, I.h.z});
    m << I.I.xx, I.I.xy, I.I.xz, 0, 0, 0, I.I.xy, I.I.yy, I.I.yz, 0, 0, 0, I.I.xz, I.I.yz, I.I.zz,
        0, 0, 0, 0, 0, 0, I.m, 0, 0, 0, 0, 0, 0, I.m, 0, 0, 0, 0, 0, 0, I.m;
    m.topRightCorner<3, 3>() = h;
    m.bottomLeftCorner<3, 3>() = h.transpose();
    return m;
  }
  /// Column k of a body's motion subspace, body frame.
  Motion<double> column(const Body& body, int k) const {
    Motion<double> m = Motion<double>::zero();
    with_subspace(model_.runs()[body.run], [&](auto ops) {
      m = decltype(ops)::column(motion_.joints.S.data() + body.v, k);
    });
    return m;
  }

  /// What the joint of a body says besides: it speaks of the parent's motion in the parent's frame.
  void add_equations(int i, const double* q, const Vec3<double>& gravity, Eigen::MatrixXd& H,
                     Eigen::VectorXd& C) const {
    const Body& body = model_.body(i);
    const int p = body.parent, size = 6 + body.nv;
    Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(size, model_.spanning_nv());  // y = Z qd
    Z.topRows<6>() = J_[p];
    Z.block(6, body.v, body.nv, body.nv).setIdentity();
    const Eigen::Vector3d w = twist_[p].head<3>();
    Eigen::VectorXd yd = Eigen::VectorXd::Zero(size);
    yd.head<6>() = a_[p];
    // Of the point at the origin, and without its weight.
    yd.segment<3>(3) += w.cross(twist_[p].tail<3>()) - vector(X_[p].E * gravity);
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> M(size, size);
    Eigen::VectorXd h(size);
    model_.equations(i, q, motion_.qd(), Vec3<double>{w(0), w(1), w(2)}, M.data(), h.data());
    const Eigen::MatrixXd full = M.selfadjointView<Eigen::Lower>();
    H += Z.transpose() * full * Z;
    C += Z.transpose() * (full * yd + h);
  }

  const Model& model_;
  SpanningMotion<double> motion_;
  std::vector<double> zero_;
  std::vector<Transform<double>> X_;
  std::vector<Matrix6X> J_;
  std::vector<Vector6> twist_, a_;  ///< a at zero spanning accelerations
  Eigen::MatrixXd G_, M_, H_;
  Eigen::VectorXd g_;  ///< spanning accelerations at vdot = 0
  Eigen::VectorXd bias_, C_;
};

template <class T>
class DenseForwardDynamics final : public ForwardDynamics<T> {
 public:
  explicit DenseForwardDynamics(ModelPtr model)
      : ForwardDynamics<T>(std::move(model)), equations_(this->model()) {}

 private:
  void compute(const double* q, const double* v, const double* tau, double* vdot,
               const Wrenches<double>* wrenches) override {
    equations_.update(q, v, this->gravity(), wrenches);
    const int nv = this->model().nv();
    if (nv == 0) return;
    // Rates are measured by their inertia: beside a link of 1e9 kg pivots of small ones keep their
    // digits. LU, since Eigen's LDLT takes singular and NaN pivots for zeros and answers with
    // numbers.
    const Eigen::MatrixXd& M = equations_.M();
    const Eigen::ArrayXd inertia = M.diagonal().array();
    const Eigen::VectorXd unit = (inertia > 0.0).select(inertia.rsqrt(), 1.0).matrix();
    const Eigen::VectorXd forces = Eigen::Map<const Eigen::VectorXd>(tau, nv) - equations_.bias();
    const Eigen::MatrixXd scaled = unit.asDiagonal() * M * unit.asDiagonal();
    Eigen::Map<Eigen::VectorXd>(vdot, nv) =
        unit.asDiagonal() * scaled.partialPivLu().solve(unit.asDiagonal() * forces).eval();
  }
  DenseEquations equations_;
};

template <class T>
class DenseInverseDynamics final : public InverseDynamics<T> {
 public:
  explicit DenseInverseDynamics(ModelPtr model)
      : InverseDynamics<T>(std::move(model)), equations_(this->model()) {}

 private:
  void compute(const double* q, const double* v, const double* vdot, double* tau,
               const Wrenches<double>* wrenches) override {
    equations_.update(q, v, this->gravity(), wrenches);
    const int nv = this->model().nv();
    Eigen::Map<Eigen::VectorXd>(tau, nv) =
        equations_.M() * Eigen::Map<const Eigen::VectorXd>(vdot, nv) + equations_.bias();
  }
  DenseEquations equations_;
};

template <class T>
class DenseBias final : public BiasForce<T> {
 public:
  explicit DenseBias(ModelPtr model) : BiasForce<T>(std::move(model)), equations_(this->model()) {}

 private:
  void compute(const double* q, const double* v, double* bias,
               const Wrenches<double>* wrenches) override {
    equations_.update(q, v, this->gravity(), wrenches);
    Eigen::Map<Eigen::VectorXd>(bias, this->model().nv()) = equations_.bias();
  }
  DenseEquations equations_;
};

template <class T>
class DenseMassMatrix final : public MassMatrix<T> {
 public:
  explicit DenseMassMatrix(ModelPtr model)
      : MassMatrix<T>(std::move(model)), equations_(this->model()) {}

 private:
  void compute(const double* q, double* M) override {
    equations_.update(q, nullptr, {0, 0, 0}, nullptr);
    const int nv = this->model().nv();
    Eigen::Map<Eigen::MatrixXd>(M, nv, nv) = equations_.M();
  }
  DenseEquations equations_;
};

}  // namespace espalier
