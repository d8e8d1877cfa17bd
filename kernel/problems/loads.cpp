#include "espalier/kernel/problems/loads.hpp"

#include <cmath>

namespace espalier {

void passive_joint_forces(const Model& model, const double* q, const double* qd,
                          double friction_rate, JointForces<double>& out) {
  out.force.assign(model.spanning_nv(), 0.0);
  out.by_position = out.by_rate = out.force;
  for (const Joint& joint : model.joints()) {
    const PassiveDynamics& p = joint.passive;
    for (int k = 0; k < joint.nv; ++k) {
      const double rate = qd[joint.v + k];
      double dry = 0.0, slope = 0.0;
      if (friction_rate > 0.0) {
        dry = std::tanh(rate / friction_rate);
        slope = (1.0 - dry * dry) / friction_rate;
      } else if (rate != 0.0) {
        dry = rate > 0.0 ? 1.0 : -1.0;
      }
      out.force[joint.v + k] = -p.damping * rate - p.friction * dry;
      out.by_rate[joint.v + k] = -p.damping - p.friction * slope;
    }
    if (joint.nv == 1 && joint.nq == 1) {
      out.force[joint.v] -= p.stiffness * (q[joint.q] - p.rest);
      out.by_position[joint.v] = -p.stiffness;
    }
  }
}

}  // namespace espalier
