#include "espalier/kernel/model/motion/passive.hpp"

#include <algorithm>
#include <cmath>

namespace espalier {

PassiveForces::PassiveForces(ModelPtr model, double friction_rate)
    : model_(std::move(model)),
      motion_(*model_),
      forces_(model_->spanning_nv()),
      friction_rate_(friction_rate) {
  for (const Joint& joint : model_->joints()) {
    const PassiveDynamics& p = joint.passive;
    any_ = any_ || p.damping != 0.0 || p.friction != 0.0 || p.stiffness != 0.0;
  }
}

void PassiveForces::evaluate(const double* q, const double* v, double* tau) {
  if (!any_) {
    std::fill(tau, tau + model_->nv(), 0.0);
    return;
  }
  motion_.update(q, v);
  std::fill(forces_.begin(), forces_.end(), 0.0);
  add(q, motion_.qd(), forces_.data());
  motion_.reduce(forces_.data(), tau);
}

void PassiveForces::add(const double* q, const double* qd, double* forces) const {
  if (!any_) return;
  for (const Joint& joint : model_->joints()) {
    const PassiveDynamics& p = joint.passive;
    for (int k = 0; k < joint.nv; ++k) {
      const double rate = qd[joint.v + k];
      const double direction =
          friction_rate_ > 0.0 ? std::tanh(rate / friction_rate_) : (rate > 0.0) - (rate < 0.0);
      double& force = forces[joint.v + k];
      force -= p.damping * rate + p.friction * direction;
      if (joint.nq == 1) force -= p.stiffness * (q[joint.q] - p.rest);
    }
  }
}

double PassiveForces::energy(const double* q) const {
  if (!any_) return 0.0;
  double energy = 0.0;
  for (const Joint& joint : model_->joints()) {
    if (joint.nq != 1) continue;
    const double stretch = q[joint.q] - joint.passive.rest;
    energy += 0.5 * joint.passive.stiffness * stretch * stretch;
  }
  return energy;
}

void passive_forces(const ModelPtr& model, const double* q, const double* v, double* tau) {
  PassiveForces(model).evaluate(q, v, tau);
}

}  // namespace espalier
