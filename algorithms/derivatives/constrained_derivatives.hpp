#pragma once

#include <Eigen/Dense>

#include "algorithms/derivatives/c_aba_derivatives.hpp"

namespace espalier {

/// Derivatives of forward dynamics with held end-effectors, through loops: (15.2) and (15.3). The
/// constraint wrench acts as one that is constant in the link's axes, or in world axes at its
/// point. Source: Carpentier, Mansard (2018) for contacts; theory/derivatives 15.
template <class T>
class ConstrainedAbaDerivatives final : public ConstrainedDynamicsDerivatives<T> {
 public:
  explicit ConstrainedAbaDerivatives(const Setup& setup)
      : ConstrainedDynamicsDerivatives<T>(setup),
        state_(this->model()),
        sweep_(state_),
        factor_(this->model()),
        held_(setup.model) {
    const long n = this->model().nv(), m = this->task().size();
    for (Matrix* x : {&Dq_, &Dv_, &M_, &M_inverse_}) x->resize(n, n);
    J_.resize(m, n), Aq_.resize(m, n), Av_.resize(m, n), Z_.resize(n, m);
    bias_.resize(n), vdot0_.resize(n), a_.resize(m), force_.resize(m);
    Answer& a = answer_;
    for (auto* x : {&a.dvdot_dq, &a.dvdot_dv, &a.dvdot_dtau}) x->resize(n * n);
    for (auto* x : {&a.dforce_dq, &a.dforce_dv, &a.dforce_dtau}) x->resize(m * n);
    a.vdot.resize(n), a.force.resize(m);
  }

 private:
  using typename ConstrainedDynamicsDerivatives<T>::Answer;
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  const Answer& compute(const double* q, const double* v, const double* tau,
                        const double* acceleration, const Loads<T>* loads) override {
    const long n = this->model().nv(), m = this->task().size();
    Answer& a = answer_;
    const auto square = [&](std::vector<double>& x) { return Eigen::Map<Matrix>(x.data(), n, n); };
    const auto wide = [&](std::vector<double>& x) { return Eigen::Map<Matrix>(x.data(), m, n); };

    state_.update(q, v, this->gravity(), loads);
    state_.compose();
    state_.accelerate(nullptr);
    sweep_.forces(state_, bias_.data());
    sweep_.mass_matrix(state_, M_.data());
    factor_.factor(M_.data());
    factor_.invert(M_inverse_.data());
    vdot0_.noalias() = M_inverse_ * (Eigen::Map<const Eigen::VectorXd>(tau, n) - bias_);

    state_.accelerate(vdot0_.data());
    rows([&](int row, int body, const Force<double>& K, const Vec3<double>* point) {
      a_[row] = acceleration_of(body, K, point);
      for_columns(body, [&](long j, const VariationColumn<double>& x) { J_(row, j) = dot(x.S, K); });
    });
    Z_.noalias() = M_inverse_ * J_.transpose();
    const Matrix lambda = pseudo_inverse(J_ * Z_);
    force_ = lambda * (Eigen::Map<const Eigen::VectorXd>(acceleration, m) - a_);
    Eigen::Map<Eigen::VectorXd>(a.force.data(), m) = force_;
    Eigen::Map<Eigen::VectorXd>(a.vdot.data(), n) = vdot0_ + Z_ * force_;

    hold();
    state_.apply(held_);
    state_.accelerate(a.vdot.data());
    sweep_.inverse_dynamics(state_, bias_.data(), Dq_.data(), Dv_.data(), M_.data());
    Aq_.setZero(), Av_.setZero();
    rows([&](int row, int body, const Force<double>& K, const Vec3<double>* point) {
      vary(row, body, K, point);
    });
    const auto solve = [&](const Matrix& D, const Matrix& A, Eigen::Map<Matrix> dvdot,
                           Eigen::Map<Matrix> dforce) {
      const Matrix X = M_inverse_ * D;
      dforce.noalias() = lambda * (J_ * X - A);
      dvdot = Z_ * dforce - X;
    };
    solve(Dq_, Aq_, square(a.dvdot_dq), wide(a.dforce_dq));
    solve(Dv_, Av_, square(a.dvdot_dv), wide(a.dforce_dv));
    wide(a.dforce_dtau) = -lambda * Z_.transpose();
    square(a.dvdot_dtau) = M_inverse_ + Z_ * wide(a.dforce_dtau);
    return a;
  }

  /// Calls f(row, body, K, point) with each row as a wrench in the common frame; point: where the
  /// row speaks of the ordinary acceleration of a point, in that frame, or nullptr.
  template <class F>
  void rows(F&& f) const {
    for (const Task::Part& part : this->task().parts()) {
      if (part.body == 0) continue;
      const auto& b = state_.body[part.body];
      const Transform<double> X = state_.common(part.body);
      const Vec3<double> point = b.X.r + transpose_times(b.X.E, part.point);
      for (int i = 0; i < part.size(); ++i) {
        const Force<double>& row = part.rows[i];
        if (!part.world) {
          f(part.first + i, part.body, b.X.transpose_times_force(row),
            static_cast<const Vec3<double>*>(nullptr));
          continue;
        }
        const Vec3<double> force = X.E * row.f;
        f(part.first + i, part.body, Force<double>{X.E * row.n + cross(point, force), force},
          &point);
      }
    }
  }
  template <class F>
  void for_columns(int body, F&& f) const {
    for (int i = body; i != 0; i = state_.support(i)) {
      const Cluster& c = this->model().clusters()[this->model().body(i).cluster];
      for (int k = 0; k < c.nv; ++k) f(static_cast<long>(c.v + k), state_.columns(i)[k]);
    }
  }
  /// Acceleration without the fictitious one of gravity.
  Motion<double> true_acceleration(int body) const {
    return state_.body[body].a - state_.ground(body);
  }
  double acceleration_of(int body, const Force<double>& K, const Vec3<double>* point) const {
    const Motion<double> a = true_acceleration(body);
    if (point == nullptr) return dot(a, K);
    // K is about the frame's origin: there the point's centripetal part adds.
    const Motion<double>& v = state_.body[body].v;
    return dot(a, K) + dot(K.f, cross(v.w, v.v + cross(v.w, *point)));
  }
  /// Row of A_q and A_v, (15.2).
  void vary(int row, int body, const Force<double>& K, const Vec3<double>* point) {
    const Motion<double>& v = state_.body[body].v;
    const Motion<double> ground = state_.ground(body), a = true_acceleration(body);
    for_columns(body, [&](long j, const VariationColumn<double>& x) {
      const Motion<double> by_q = x.psi2 - cross(v, x.psi1) + cross(x.S, ground);
      const Motion<double> by_v = x.ups - cross(v, x.S);
      if (point == nullptr) {
        Aq_(row, j) = dot(by_q, K);
        Av_(row, j) = dot(by_v, K);
        return;
      }
      const Vec3<double>& p = *point;
      const Vec3<double> vp = v.v + cross(v.w, p), ap = a.v + cross(a.w, p) + cross(v.w, vp);
      const auto of_point = [&](const Motion<double>& da, const Motion<double>& dv) {
        return da.v + cross(da.w, p) + cross(dv.w, vp) + cross(v.w, dv.v + cross(dv.w, p));
      };
      // World axes: the row does not turn with the body.
      const Vec3<double> moment = K.n - cross(p, K.f);
      Aq_(row, j) = dot(by_q.w + cross(x.S.w, a.w), moment) +
                    dot(of_point(by_q, x.psi1) + cross(x.S.w, ap), K.f);
      Av_(row, j) = dot(by_v.w, moment) + dot(of_point(by_v, x.S), K.f);
    });
  }
  /// The constraint wrenches as loads.
  void hold() {
    held_.clear();
    for (const Task::Part& part : this->task().parts()) {
      if (part.body == 0) continue;
      typename FramedWrenches<double>::Item item;
      item.body = part.body;
      item.frame = part.world ? WrenchFrame::world_at_point : WrenchFrame::link;
      item.point = part.point;
      item.wrench = Force<double>::zero();
      for (int i = 0; i < part.size(); ++i) {
        item.wrench += scale(force_[part.first + i], part.rows[i]);
      }
      held_.add_item(item);
    }
  }
  /// Of J M^-1 J^T; eigenvalues below rounding of the largest belong to redundant rows.
  Matrix pseudo_inverse(const Matrix& x) {
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(x);
    const double least = 1e-11 * std::max(eigen.eigenvalues().cwiseAbs().maxCoeff(), 1e-300);
    Eigen::VectorXd inverse = eigen.eigenvalues();
    answer_.rank = 0;
    for (double& e : inverse) {
      if (e > least) ++answer_.rank;
      e = e > least ? 1.0 / e : 0.0;
    }
    return eigen.eigenvectors() * inverse.asDiagonal() * eigen.eigenvectors().transpose();
  }

  VariationState<double> state_;
  DerivativeSweep<double> sweep_;
  IndependentLtl<double> factor_;
  FramedWrenches<double> held_;
  Matrix Dq_, Dv_, M_, M_inverse_, J_, Aq_, Av_, Z_;
  Eigen::VectorXd bias_, vdot0_, a_, force_;
  Answer answer_;
};

}  // namespace espalier
