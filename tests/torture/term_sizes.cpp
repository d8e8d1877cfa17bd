#include "tests/torture/term_sizes.hpp"

#include <cmath>

#include "espalier/kernel/model/inertia/inertia_terms.hpp"

namespace espalier::torture {

namespace {

double length(const Vec3<double>& a) { return std::hypot(a.x, a.y, a.z); }
double length(const Sym3<double>& I) {
  return std::hypot(std::hypot(I.xx, I.yy, I.zz), M_SQRT2 * std::hypot(I.xy, I.xz, I.yz));
}

}  // namespace

TermSizes::TermSizes(const Model& model, const double* q, const double* v)
    : model_(model), q_(q, q + model.nq()), motion_(model) {
  motion_.update(q, v);
  const int n = model.spanning_nv();
  qd_ = Eigen::Map<const Eigen::VectorXd>(motion_.qd(), n).cwiseAbs();
  g_ = Eigen::VectorXd::Zero(n);
  if (motion_.g() != nullptr) g_ = Eigen::Map<const Eigen::VectorXd>(motion_.g(), n).cwiseAbs();
  G_ = Eigen::MatrixXd::Zero(n, model.nv());
  Eigen::VectorXd unit = Eigen::VectorXd::Zero(model.nv());
  for (int j = 0; j < model.nv(); ++j) {
    unit(j) = 1.0;
    motion_.expand(unit.data(), G_.col(j).data());
    unit(j) = 0.0;
  }
  G_ = G_.cwiseAbs().eval();
}

Eigen::VectorXd TermSizes::forces(const Eigen::VectorXd& vdot,
                                  const Wrenches<double>* wrenches) const {
  return sum(qd_, G_ * vdot.cwiseAbs() + g_, length(model_.gravity()), wrenches);
}

Eigen::MatrixXd TermSizes::inertia() const {
  Eigen::MatrixXd N(model_.nv(), model_.nv());
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(qd_.size());
  for (int j = 0; j < model_.nv(); ++j) N.col(j) = sum(rest, G_.col(j), 0.0, nullptr);
  return N;
}

Eigen::VectorXd TermSizes::sum(const Eigen::VectorXd& qd, const Eigen::VectorXd& qdd,
                               double gravity, const Wrenches<double>* wrenches) const {
  const int n = model_.body_count();
  using Array = Eigen::ArrayXd;
  // Of each body about its origin: angular and linear velocity and acceleration, moment and force.
  Array w = Array::Zero(n + 1), u = w, wd = w, ud = w, moment = w, force = w;
  ud(0) = gravity;
  const Motion<double>* S = motion_.joints.S.data();
  for (int i = 1; i <= n; ++i) {
    const Body& body = model_.body(i);
    const int p = body.parent;
    const double r = length(motion_.joints.X[i].r);
    w(i) = w(p), u(i) = u(p) + r * w(p), wd(i) = wd(p), ud(i) = ud(p) + r * wd(p);
    for (int k = 0; k < body.nv; ++k) {
      const Motion<double> s = detail::unit_motion(model_, i, k, S);
      w(i) += length(s.w) * qd(body.v + k), u(i) += length(s.v) * qd(body.v + k);
    }
    for (int k = 0; k < body.nv; ++k) {
      const Motion<double> s = detail::unit_motion(model_, i, k, S);
      const double sw = length(s.w), sv = length(s.v), rate = qd(body.v + k);
      wd(i) += sw * (qdd(body.v + k) + w(i) * rate);
      ud(i) += sv * (qdd(body.v + k) + w(i) * rate) + u(i) * sw * rate;
    }
    const RigidInertia<double>& I = body.inertia;
    const double m = std::abs(I.m), h = length(I.h), J = length(I.I);
    force(i) = m * ud(i) + h * wd(i) + w(i) * (m * u(i) + h * w(i));
    moment(i) = h * ud(i) + J * wd(i) + w(i) * (J * w(i) + h * u(i)) + u(i) * (m * u(i) + h * w(i));
    if (wrenches != nullptr)
      force(i) += length((*wrenches)[i].f), moment(i) += length((*wrenches)[i].n);
  }
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(qd.size());
  for (const auto& [rate, inertia] : model_.armature()) tau(rate) += inertia * qdd(rate);
  for (const int i : model_.bodies_with_equations()) {
    const int p = model_.body(i).parent;
    add_equations(i, qdd, wd, ud + w * u, tau, moment(p), force(p));
  }
  for (int i = n; i >= 1; --i) {
    const Body& body = model_.body(i);
    for (int k = 0; k < body.nv; ++k) {
      const Motion<double> s = detail::unit_motion(model_, i, k, S);
      tau(body.v + k) += length(s.w) * moment(i) + length(s.v) * force(i);
    }
    const double r = length(motion_.joints.X[i].r);
    force(body.parent) += force(i), moment(body.parent) += moment(i) + r * force(i);
  }
  return G_.transpose() * tau;
}

/// What a joint brings of its own: it speaks of its parent's motion.
void TermSizes::add_equations(int body, const Eigen::VectorXd& qdd, const Eigen::ArrayXd& turning,
                              const Eigen::ArrayXd& moving, Eigen::VectorXd& tau, double& moment,
                              double& force) const {
  const Body& b = model_.body(body);
  const int size = 6 + b.nv;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> M(size, size);
  Eigen::VectorXd h(size), y(size);
  M.setZero(), h.setZero();
  const double turn = turning(b.parent);
  model_.equations(body, q_.data(), qd_.data(), Vec3<double>{turn, turn, turn}, M.data(), h.data());
  y << Eigen::Vector3d::Constant(turn), Eigen::Vector3d::Constant(moving(b.parent)),
      qdd.segment(b.v, b.nv);
  const Eigen::MatrixXd full = M.selfadjointView<Eigen::Lower>();
  const Eigen::VectorXd terms = full.cwiseAbs() * y + h.cwiseAbs();
  moment += terms.head<3>().sum(), force += terms.segment<3>(3).sum();
  tau.segment(b.v, b.nv) += terms.tail(b.nv);
}

}  // namespace espalier::torture
