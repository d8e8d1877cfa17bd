#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <array>
#include <vector>

#include "algorithms/derivatives/c_aba_derivatives.hpp"
#include "algorithms/derivatives/variation/step_chart.hpp"
#include "espalier/kernel/problems/derivatives/step_derivatives.hpp"

/// Time steps x+ = f(x, u) with A and B. All variations are matrices of nv rows whose columns are
/// (dq, dv, du).

namespace espalier {

/// What both steps need: derivatives of the dynamics, the chart, and matrices.
template <class T>
class DifferentiableStep : public StepDerivatives<T> {
 public:
  explicit DifferentiableStep(ModelPtr model)
      : StepDerivatives<T>(model),
        dynamics_(model),
        chart_(model),
        nv_(model->nv()),
        start_(model->nq()),
        Fq_(nv_, nv_),
        Fv_(nv_, nv_),
        Fu_(nv_, nv_),
        moved_(nv_, 3 * nv_) {}

  /// At the step's start.
  T margin() override { return dynamics_.margin_at(start_.data()); }

 protected:
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  /// Takes in where a step starts.
  void start(const double* q) {
    chart_.restart();
    std::copy_n(q, start_.size(), start_.begin());
  }
  /// Accelerations at a state and their variation.
  void accelerate(const double* q, const double* v, const double* u, const Matrix& dq,
                  const Matrix& dv, const Loads<T>* loads, double* a, Matrix& da) {
    const long n = nv_, nn = n * n;
    dynamics_.set_gravity(this->gravity());
    dynamics_.evaluate({q, this->model().nq()}, {v, n}, {u, n}, Out<T>(a, n),
                       Out<T>(Fq_.data(), nn), Out<T>(Fv_.data(), nn), Out<T>(Fu_.data(), nn),
                       loads);
    da.noalias() = Fq_ * dq;
    da.noalias() += Fv_ * dv;
    da.rightCols(n) += Fu_;
  }
  /// Positions moved from a point by d, and their variation.
  void move(const double* q, const Matrix& dq, const Eigen::VectorXd& d, const Matrix& dd,
            double* to, Matrix& d_to) {
    chart_.move(q, d.data(), to);
    chart_.vary(q, d.data(), dq.data(), dd.data(), 3 * nv_, moved_.data());
    d_to = moved_;
  }
  static void identity(Matrix& dq, Matrix& dv, long n) {
    dq.setZero(), dv.setZero();
    dq.leftCols(n).setIdentity();
    dv.middleCols(n, n).setIdentity();
  }
  void write(const Matrix& dq, const Matrix& dv, double* A, double* B) const {
    const long n = nv_;
    Eigen::Map<Matrix> a(A, 2 * n, 2 * n), b(B, 2 * n, n);
    a.topRows(n) = dq.leftCols(2 * n), a.bottomRows(n) = dv.leftCols(2 * n);
    b.topRows(n) = dq.rightCols(n), b.bottomRows(n) = dv.rightCols(n);
  }

  CAbaDerivatives<T> dynamics_;
  StepChart chart_;
  long nv_;
  std::vector<double> start_;
  Matrix Fq_, Fv_, Fu_, moved_;
};

/// v+ = v + h vdot(q, v, u), q+ = q moved by h v+: (19.4).
template <class T>
class SemiImplicitEulerDerivatives final : public DifferentiableStep<T> {
 public:
  explicit SemiImplicitEulerDerivatives(ModelPtr model)
      : DifferentiableStep<T>(std::move(model)), a_(this->nv_), d_(this->nv_) {
    for (Matrix* m : {&dq_, &dv_, &da_, &dd_}) m->resize(this->nv_, 3 * this->nv_);
  }

 private:
  using typename DifferentiableStep<T>::Matrix;

  void compute(const double* q, const double* v, const double* tau, double h, double* q_next,
               double* v_next, double* A, double* B, const Loads<T>* loads) override {
    const long n = this->nv_;
    this->start(q);
    this->identity(dq_, dv_, n);
    this->accelerate(q, v, tau, dq_, dv_, loads, a_.data(), da_);
    for (long i = 0; i < n; ++i) v_next[i] = v[i] + h * a_[i], d_[i] = h * v_next[i];
    dv_ += h * da_;
    dd_ = h * dv_;
    this->move(q, dq_, d_, dd_, q_next, dq_);
    this->write(dq_, dv_, A, B);
  }

  Eigen::VectorXd a_, d_;
  Matrix dq_, dv_, da_, dd_;
};

/// The classical Runge-Kutta method of order 4 on manifolds by flows of constant rates: the steps
/// of the integrator `rk4`, loops closed at every stage.
///   k1 at q;  k2 at q2 = q + h/2 k1;  k3 at q + h/2 k2;  k4 at q2 + (h k3 - h/2 k1)
///   q+ = (q + h/12 (3 k1 + 2 k2 + 2 k3 - k4)) + h/12 (-k1 + 2 k2 + 2 k3 + 3 k4)
/// Source: Celledoni, Marthinsen, Owren (2003); (19.3) for the variation of each flow.
template <class T>
class Rk4Derivatives final : public DifferentiableStep<T> {
 public:
  explicit Rk4Derivatives(ModelPtr model)
      : DifferentiableStep<T>(std::move(model)),
        q2_(this->model().nq()),
        q_(this->model().nq()),
        d_(this->nv_) {
    const long n = this->nv_;
    for (Matrix* m : {&dq0_, &dv0_, &dq2_, &dq_, &dd_}) m->resize(n, 3 * n);
    for (Stage& s : k_) {
      s.v.resize(n), s.a.resize(n);
      s.dv.resize(n, 3 * n), s.da.resize(n, 3 * n);
    }
  }

 private:
  using typename DifferentiableStep<T>::Matrix;
  using Weights = std::array<double, 4>;
  struct Stage {
    Eigen::VectorXd v, a;
    Matrix dv, da;
  };

  void compute(const double* q, const double* v, const double* tau, double h, double* q_next,
               double* v_next, double* A, double* B, const Loads<T>* loads) override {
    const long n = this->nv_;
    if (loads != nullptr && loads->joints != nullptr) {
      throw Unsupported(
          "rk4-step: joint forces at the start are given, expected none (they change between "
          "stages; use semi-implicit-euler-step)");
    }
    this->start(q);
    this->identity(dq0_, dv0_, n);
    const Eigen::Map<const Eigen::VectorXd> v0(v, n);
    const auto flow = [&](const double* from, const Matrix& d_from, const Weights& w, double* to,
                          Matrix& d_to) {
      d_.setZero(), dd_.setZero();
      for (int k = 0; k < 4; ++k) {
        if (w[k] != 0.0) d_ += w[k] * k_[k].v, dd_ += w[k] * k_[k].dv;
      }
      this->move(from, d_from, d_, dd_, to, d_to);
    };
    const auto stage = [&](int k, const double* at, const Matrix& d_at) {
      this->accelerate(at, k_[k].v.data(), tau, d_at, k_[k].dv, loads, k_[k].a.data(), k_[k].da);
    };
    const auto rates = [&](int k, int from, double step) {
      k_[k].v = v0 + step * k_[from].a;
      k_[k].dv = dv0_ + step * k_[from].da;
    };
    k_[0].v = v0, k_[0].dv = dv0_;
    stage(0, q, dq0_);
    flow(q, dq0_, {h / 2, 0, 0, 0}, q2_.data(), dq2_);
    rates(1, 0, h / 2);
    stage(1, q2_.data(), dq2_);
    flow(q, dq0_, {0, h / 2, 0, 0}, q_.data(), dq_);
    rates(2, 1, h / 2);
    stage(2, q_.data(), dq_);
    flow(q2_.data(), dq2_, {-h / 2, 0, h, 0}, q_.data(), dq_);
    rates(3, 2, h);
    stage(3, q_.data(), dq_);
    flow(q, dq0_, {h / 4, h / 6, h / 6, -h / 12}, q_.data(), dq_);
    flow(q_.data(), dq_, {-h / 12, h / 6, h / 6, h / 4}, q_next, dq_);
    for (long i = 0; i < n; ++i) {
      v_next[i] = v[i] + h / 6 * (k_[0].a[i] + 2 * k_[1].a[i] + 2 * k_[2].a[i] + k_[3].a[i]);
    }
    dv0_ += h / 6 * (k_[0].da + 2 * k_[1].da + 2 * k_[2].da + k_[3].da);
    this->write(dq_, dv0_, A, B);
  }

  std::vector<double> q2_, q_;
  Eigen::VectorXd d_;
  Matrix dq0_, dv0_, dq2_, dq_, dd_;
  std::array<Stage, 4> k_;
};

}  // namespace espalier
