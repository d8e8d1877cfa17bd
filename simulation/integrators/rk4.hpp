#pragma once

#include <array>
#include <vector>

#include "espalier/kernel/integrator.hpp"
#include "espalier/kernel/model/joint.hpp"

namespace espalier {

/// The classical Runge-Kutta method of order 4 on manifolds, without commutators: positions move by
/// flows of constant rates only, which every joint has, so that order 4 holds for quaternions, too.
/// On joints of one rate, and for v, it is the classical method to the last term.
///
///   k1 at q0;   k2 at q2 = q0 + h/2 k1;   k3 at q0 + h/2 k2;   k4 at q2 + (h k3 - h/2 k1)
///   q1 = q0 + h/12 (3 k1 + 2 k2 + 2 k3 - k4) + h/12 (-k1 + 2 k2 + 2 k3 + 3 k4)
///
/// where q + x is the flow of rates x for unit time, left to right. Four evaluations a step.
/// Source: Celledoni, Marthinsen, Owren (2003), Commutator-free Lie group methods.
class Rk4 final : public Integrator {
 public:
  Rk4(ModelPtr model, const PartSpec& /*options*/)
      : Integrator(std::move(model)),
        q_(this->model().nq()),
        q2_(this->model().nq()),
        v_(this->model().nv()),
        move_(this->model().spanning_nv()) {
    for (Stage& k : k_) {
      k.qd.resize(this->model().spanning_nv());
      k.vdot.resize(this->model().nv());
    }
  }

  void step(EquationsOfMotion& motion, double t, double h, double* q, double* v) override {
    const auto evaluate = [&](double at, const double* position, const double* rates, Stage& k) {
      motion.evaluate(t + at, position, rates, k.qd.data(), k.vdot.data());
    };
    evaluate(0.0, q, v, k_[0]);
    flow(q, {h / 2, 0, 0, 0}, q2_.data());
    rates(v, {h / 2, 0, 0, 0});
    evaluate(h / 2, q2_.data(), v_.data(), k_[1]);
    flow(q, {0, h / 2, 0, 0}, q_.data());
    rates(v, {0, h / 2, 0, 0});
    evaluate(h / 2, q_.data(), v_.data(), k_[2]);
    flow(q2_.data(), {-h / 2, 0, h, 0}, q_.data());
    rates(v, {0, 0, h, 0});
    evaluate(h, q_.data(), v_.data(), k_[3]);
    flow(q, {h / 4, h / 6, h / 6, -h / 12}, q_.data());
    flow(q_.data(), {-h / 12, h / 6, h / 6, h / 4}, q);
    rates(v, {h / 6, h / 3, h / 3, h / 6});
    std::copy(v_.begin(), v_.end(), v);
    motion.settle(t + h, q);
  }

 private:
  struct Stage {
    std::vector<double> qd, vdot;
  };
  using Weights = std::array<double, 4>;

  /// Positions moved for unit time by the weighted sum of the stages' rates.
  void flow(const double* from, const Weights& w, double* to) {
    for (std::size_t i = 0; i < move_.size(); ++i) {
      double sum = 0.0;
      for (int k = 0; k < 4; ++k) {
        if (w[k] != 0.0) sum += w[k] * k_[k].qd[i];
      }
      move_[i] = sum;
    }
    model().integrate(from, move_.data(), to);
  }
  /// v_ = v + weighted sum of the stages' accelerations.
  void rates(const double* v, const Weights& w) {
    for (std::size_t i = 0; i < v_.size(); ++i) {
      double sum = v[i];
      for (int k = 0; k < 4; ++k) {
        if (w[k] != 0.0) sum += w[k] * k_[k].vdot[i];
      }
      v_[i] = sum;
    }
  }

  std::array<Stage, 4> k_;
  std::vector<double> q_, q2_, v_, move_;
};

}  // namespace espalier
