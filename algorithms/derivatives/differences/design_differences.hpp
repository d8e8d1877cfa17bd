#pragma once

#include <Eigen/Dense>
#include <memory>
#include <vector>

#include "algorithms/derivatives/differences/differences.hpp"
#include "algorithms/derivatives/variation/design/family_checks.hpp"
#include "espalier/kernel/model/loops/law_parameters.hpp"
#include "espalier/kernel/problems/derivatives/design_derivatives.hpp"
#include "espalier/kernel/problems/derivatives/design_variation.hpp"

/// Derivatives by the design by central differences: of the Newton-Euler equations of other
/// robots, with loops closed anew. References for `compare`. They allocate.

namespace espalier {

/// tau of a model whose numbers are changed: each body's equations in its own axes, over all
/// spanning joints, then what constraints leave of it.
class ChangedRobot {
 public:
  ChangedRobot(const Model& model, const Vec3<double>& gravity, const Wrenches<double>* wrenches)
      : q(model.nq()),
        qd(model.spanning_nv()),
        qdd(model.spanning_nv()),
        lambda(model.spanning_nv()),
        armature(model.spanning_nv(), 0.0),
        inertia(model.body_count() + 1, RigidInertia<double>::zero()),
        moved(model.body_count() + 1, Transform<double>::identity()),
        model_(model),
        gravity_(gravity),
        wrenches_(wrenches),
        joints_(model) {
    for (int i = 1; i <= model.body_count(); ++i) inertia[i] = model.body(i).inertia;
    for (const auto& [rate, x] : model.armature()) armature[rate] = x;
  }

  /// lambda^T tau over spanning rates.
  double force() {
    const int n = model_.body_count();
    joints_.update(model_, q.data(), qd.data());
    std::vector<Transform<double>> X(n + 1);
    std::vector<Motion<double>> v(n + 1, Motion<double>::zero()), a = v;
    std::vector<Force<double>> f(n + 1);
    a[0].v = -gravity_;
    for (int i = 1; i <= n; ++i) {
      const Body& b = model_.body(i);
      X[i] = joints_.X[i] * b.placement.inverse() * moved[i] * b.placement;
      Motion<double> vJ = Motion<double>::zero();
      a[i] = X[i] * a[b.parent];
      for_columns(b, [&](int rate, const Motion<double>& S) {
        vJ += scale(qd[rate], S), a[i] += scale(qdd[rate], S);
      });
      v[i] = X[i] * v[b.parent] + vJ;
      a[i] += cross(v[i], vJ);
      if (model_.runs()[b.run].subspace == SubspaceKind::dense) a[i] += joints_.bias[i];
      f[i] = inertia[i] * a[i] + cross_star(v[i], inertia[i] * v[i]);
      if (wrenches_ != nullptr) f[i] -= (*wrenches_)[i];
    }
    double sum = 0.0;
    for (int i = n; i > 0; --i) {
      const Body& b = model_.body(i);
      for_columns(b, [&](int rate, const Motion<double>& S) {
        sum += lambda[rate] * (dot(S, f[i]) + armature[rate] * qdd[rate]);
      });
      if (b.parent != 0) f[b.parent] += X[i].transpose_times_force(f[i]);
    }
    return sum;
  }

  // The numbers.
  std::vector<double> q, qd, qdd, lambda, armature;  ///< spanning
  std::vector<RigidInertia<double>> inertia;         ///< per body
  std::vector<Transform<double>> moved;              ///< of joints' frames on parents, own axes

 private:
  template <class F>
  void for_columns(const Body& b, F&& f) const {
    with_subspace(model_.runs()[b.run], [&](auto ops) {
      for (int k = 0; k < b.nv; ++k) f(b.v + k, decltype(ops)::column(joints_.S.data() + b.v, k));
    });
  }

  const Model& model_;
  Vec3<double> gravity_;
  const Wrenches<double>* wrenches_;
  TreeKinematics<double> joints_;
};

/// A cluster with one of its laws changed, closed anew from nearby.
class ChangedCluster {
 public:
  ChangedCluster(const Model& model, const LawParameter& p, double by)
      : model_(model),
        c_(model.clusters()[p.cluster]),
        constraint_(*c_.constraint),
        joints_(model) {
    constraint_.laws[p.use].law = changed_law(model, p, by);
    constraint_.allocate(c_, work_);
  }

  /// Positions, rates, accelerations and weights of the cluster's dependent joints.
  void close(ChangedRobot& robot) {
    std::vector<double> phi, step(model_.spanning_nv());
    constexpr int enough = 30;  // of Newton's steps from some per cent away
    for (int k = 0; k < enough; ++k) {
      factor(robot);
      constraint_.residual(model_, c_, view(robot), ClusterConstraint::Rows::kept, work_, phi);
      const Eigen::VectorXd x = -solve(Eigen::Map<Eigen::VectorXd>(phi.data(), K_.rows()));
      if (!x.allFinite() || x.lpNorm<Eigen::Infinity>() < 1e-16) break;
      std::fill(step.begin(), step.end(), 0.0);
      for (long i = 0; i < x.size(); ++i) step[c_.rate(constraint_.dependent[i])] = x[i];
      model_.integrate(robot.q.data(), step.data(), robot.q.data());
    }
    factor(robot);
    const Eigen::VectorXd none = Eigen::VectorXd::Zero(K_.rows());
    follow(robot.qd, none), follow(robot.lambda, none);
    joints_.update(model_, robot.q.data(), robot.qd.data());
    constraint_.jacobian(model_, c_, view(robot), work_);
    constraint_.bias(model_, c_, view(robot), work_);
    follow(robot.qdd, Eigen::Map<Eigen::VectorXd>(work_.k.data(), K_.rows()));
  }

 private:
  SpanningView<double> view(const ChangedRobot& robot) const {
    return {robot.q.data(), robot.qd.data(), joints_.X.data(), joints_.S.data(),
            joints_.bias.data()};
  }
  void factor(const ChangedRobot& robot) {
    joints_.update(model_, robot.q.data(), nullptr);
    constraint_.jacobian(model_, c_, view(robot), work_);
    K_.setZero(constraint_.rows(), constraint_.columns);
    for (int i = 0; i < constraint_.rows(); ++i) {
      constraint_.each_in_row(work_, i, [&](int column, double value) { K_(i, column) += value; });
    }
  }
  Eigen::VectorXd solve(const Eigen::VectorXd& right) const {
    Eigen::MatrixXd Kd(K_.rows(), static_cast<long>(constraint_.dependent.size()));
    for (long i = 0; i < Kd.cols(); ++i) Kd.col(i) = K_.col(constraint_.dependent[i]);
    return Kd.colPivHouseholderQr().solve(right);
  }
  /// K x = right for the dependent entries of x.
  void follow(std::vector<double>& x, Eigen::VectorXd right) const {
    for (const int column : constraint_.independent) right -= K_.col(column) * x[c_.rate(column)];
    const Eigen::VectorXd dependent = solve(right);
    for (long i = 0; i < dependent.size(); ++i) {
      x[c_.rate(constraint_.dependent[i])] = dependent[i];
    }
  }

  const Model& model_;
  const Cluster& c_;
  ClusterConstraint constraint_;
  TreeKinematics<double> joints_;
  ConstraintWorkspace<double> work_;
  Eigen::MatrixXd K_;
};

/// Each parameter changed alone.
template <class T>
class DifferenceDesign final : public DesignDerivatives<T> {
 public:
  explicit DifferenceDesign(ModelPtr model)
      : DesignDerivatives<T>(std::move(model)),
        motion_(this->model()),
        differences_(this->model()) {}

  T margin() override { return differences_.margin(); }

 private:
  using Kind = DesignParameter::Kind;

  void compute(const double* q, const double* v, const double* vdot, const double* lambda,
               double* gradient, const Loads<T>* loads) override {
    const Model& m = this->model();
    ClosedDifferences::expect_plain(loads);
    differences_.start(q);
    ChangedRobot robot(m, this->gravity(), loads == nullptr ? nullptr : loads->wrenches);
    std::copy_n(q, m.nq(), robot.q.begin());
    motion_.update(q, v);
    std::copy_n(motion_.qd(), m.spanning_nv(), robot.qd.begin());
    if (m.is_tree()) {
      std::copy_n(vdot, m.nv(), robot.qdd.begin()),
          std::copy_n(lambda, m.nv(), robot.lambda.begin());
    } else {
      motion_.expand(vdot, robot.qdd.data()), motion_.expand(lambda, robot.lambda.data());
    }
    for (int i = 0; motion_.g() != nullptr && i < m.spanning_nv(); ++i) {
      robot.qdd[i] += motion_.g()[i];
    }
    for (std::size_t k = 0; k < this->parameters().size(); ++k) {
      const DesignParameter& p = this->parameters()[k];
      const auto changed = [&](double t) {
        ChangedRobot other = robot;
        change(p, t, q, v, vdot, lambda, other);
        return other.force();
      };
      if (p.kind == Kind::inertial || p.kind == Kind::rotor) {
        gradient[k] = 0.5 * (changed(1.0) - changed(-1.0));  // linear
      } else if (p.kind == Kind::law) {
        // The law is defined and smooth up to four steps away.
        constexpr double farthest = 4 * 1.6e-2;
        const double size = 4.0 * this->law_parameters()[p.component].step / farthest;
        gradient[k] = ClosedDifferences::along(
                          [&](double t) { return std::vector<double>{changed(t * size)}; })[0] /
                      size;
      } else {
        gradient[k] =
            ClosedDifferences::along([&](double t) { return std::vector<double>{changed(t)}; })[0];
      }
    }
  }

  void change(const DesignParameter& p, double t, const double* q, const double* v,
              const double* vdot, const double* lambda, ChangedRobot& robot) const {
    const Model& m = this->model();
    switch (p.kind) {
      case Kind::inertial: {
        RigidInertia<double>& I = robot.inertia[p.body];
        double* const entries[10] = {&I.m,    &I.h.x,  &I.h.y,  &I.h.z,  &I.I.xx,
                                     &I.I.yy, &I.I.zz, &I.I.xy, &I.I.xz, &I.I.yz};
        *entries[p.component] += t;
        return;
      }
      case Kind::rotor:
        return change_rotor(m.rotors()[p.body], t, robot);
      case Kind::placement:
        return place(p, t, robot.moved[p.body]);
      case Kind::ratio: {
        const Cluster& c = m.clusters()[p.body];
        const int rate = c.rate(p.component / c.nv), j = c.v + p.component % c.nv;
        robot.q[m.joint_of_rate(rate).q] += t * q[m.joint_of_rate(m.independent_rates()[j]).q];
        robot.qd[rate] += t * v[j], robot.qdd[rate] += t * vdot[j];
        robot.lambda[rate] += t * lambda[j];
        return;
      }
      case Kind::law:
        return ChangedCluster(m, this->law_parameters()[p.component], t).close(robot);
    }
  }
  /// Inertia about the axis; the moments of what carries the rotor count it as welded and are held.
  static void change_rotor(const Rotor& rotor, double t, ChangedRobot& robot) {
    const double size = std::sqrt(dot(rotor.momentum, rotor.momentum));
    if (size == 0.0) {
      robot.armature[rotor.v] += t;
      return;
    }
    robot.inertia[rotor.body].I.zz += t;
    if (rotor.parent == 0) return;
    const Vec3<double> z = scale(1.0 / size, rotor.momentum);
    Sym3<double>& I = robot.inertia[rotor.parent].I;
    I.xx -= t * z.x * z.x, I.yy -= t * z.y * z.y, I.zz -= t * z.z * z.z;
    I.xy -= t * z.x * z.y, I.xz -= t * z.x * z.z, I.yz -= t * z.y * z.z;
  }
  /// A turn about, or a shift along, an axis of the joint's frame.
  static void place(const DesignParameter& p, double t, Transform<double>& moved) {
    if (p.component >= 3) {
      moved.r[p.component - 3] = t;
      return;
    }
    const int i = (p.component + 1) % 3, j = (p.component + 2) % 3;
    const double c = std::cos(t), s = std::sin(t);
    moved.E.row[i][i] = moved.E.row[j][j] = c;
    moved.E.row[i][j] = s, moved.E.row[j][i] = -s;
  }

  SpanningMotion<double> motion_;
  ClosedDifferences differences_;
};

/// Each family by the dense dynamics of its two neighbours.
template <class T>
class DifferenceVariation final : public DesignVariation<T> {
 public:
  using typename DesignVariation<T>::Family;
  using typename DesignVariation<T>::Spanning;

  explicit DifferenceVariation(ModelPtr model)
      : DesignVariation<T>(std::move(model)), differences_(this->model()) {}

  void add(Family family) override {
    expect_family<T>(this->model(), families_, family);
    families_.push_back(std::move(family));
    spanning_.emplace_back();
  }
  const std::vector<Family>& families() const override { return families_; }
  const Spanning& spanning(std::size_t family) const override { return spanning_[family]; }
  T margin() override { return differences_.margin(); }

 private:
  void compute(const double* q, const double* v, const double* vdot, const double* lambda,
               double* gradient, const Loads<T>* loads) override {
    const long n = this->model().nv(), all = this->model().spanning_nv();
    ClosedDifferences::expect_plain(loads);
    differences_.start(q);
    for (std::size_t k = 0; k < families_.size(); ++k) {
      const Family& f = families_[k];
      double force[2] = {0.0, 0.0};
      std::vector<double> position[2];
      Spanning motion[2];
      for (int side = 0; side < 2; ++side) {
        const ModelPtr& model = side == 0 ? f.less : f.more;
        std::vector<double>& at = position[side];
        at.assign(q, q + model->nq());
        model->apply_couplings(at.data());
        if (model->has_variable_constraints()) project(*model, at.data(), {.tolerance = 1e-15});
        DenseInverseDynamics<double> dynamics(model);
        dynamics.set_gravity(this->gravity());
        std::vector<double> tau(n);
        dynamics.evaluate(at, {v, n}, {vdot, n}, tau, loads == nullptr ? nullptr : loads->wrenches);
        for (long i = 0; i < n; ++i) force[side] += lambda[i] * tau[i];
        motion[side] = spanning_motion(*model, at, v, vdot);
      }
      const double per = 1.0 / f.apart;
      gradient[k] = per * (force[1] - force[0]);
      spanning_[k].q.resize(all);
      this->model().difference(position[0].data(), position[1].data(), spanning_[k].q.data());
      for (double& x : spanning_[k].q) x *= per;
      spanning_[k].qd = difference(motion[0].qd, motion[1].qd, per);
      spanning_[k].qdd = difference(motion[0].qdd, motion[1].qdd, per);
    }
  }
  static Spanning spanning_motion(const Model& model, const std::vector<double>& q, const double* v,
                                  const double* vdot) {
    Spanning out;
    const int all = model.spanning_nv();
    SpanningMotion<double> motion(model);
    motion.update(q.data(), v);
    out.qd.assign(motion.qd(), motion.qd() + all);
    out.qdd.assign(vdot, vdot + model.nv());
    if (model.is_tree()) return out;
    out.qdd.assign(all, 0.0);
    motion.expand(vdot, out.qdd.data());
    for (int i = 0; motion.g() != nullptr && i < all; ++i) out.qdd[i] += motion.g()[i];
    return out;
  }
  static std::vector<double> difference(const std::vector<double>& a, const std::vector<double>& b,
                                        double per) {
    std::vector<double> out(a.size());
    for (std::size_t i = 0; i < a.size(); ++i) out[i] = per * (b[i] - a[i]);
    return out;
  }

  ClosedDifferences differences_;
  std::vector<Family> families_;
  std::vector<Spanning> spanning_;
};

}  // namespace espalier
