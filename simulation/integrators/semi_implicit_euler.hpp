#pragma once

#include <vector>

#include "espalier/kernel/integrator.hpp"
#include "espalier/kernel/model/joint.hpp"

namespace espalier {

/// Semi-implicit (symplectic) Euler, order 1: v1 = v0 + h f(q0, v0), then positions move for the
/// time h with the constant rates G(q0) v1. One evaluation a step; holds energy within bounds that
/// shrink with h where nothing dissipates. Source: Hairer, Lubich, Wanner (2006), section VI.3.
class SemiImplicitEuler final : public Integrator {
 public:
  SemiImplicitEuler(ModelPtr model, const PartSpec& /*options*/)
      : Integrator(std::move(model)), qd_(this->model().spanning_nv()), vdot_(this->model().nv()) {}

  void step(EquationsOfMotion& motion, double t, double h, double* q, double* v) override {
    motion.evaluate(t, q, v, qd_.data(), vdot_.data());
    for (std::size_t i = 0; i < vdot_.size(); ++i) v[i] += h * vdot_[i];
    motion.expand(v, qd_.data());
    for (double& x : qd_) x *= h;
    model().integrate(q, qd_.data(), q);
    motion.settle(t + h, q);
  }

 private:
  std::vector<double> qd_, vdot_;
};

}  // namespace espalier
