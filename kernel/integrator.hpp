#pragma once

#include <functional>

#include "espalier/kernel/model/model.hpp"

namespace espalier {

/// Advances a robot's state by one time step.
class ESPALIER_API Integrator {
 public:
  /// Accelerations (size nv) at positions q and rates v, at time t [s].
  using Dynamics = std::function<void(double t, const double* q, const double* v, double* vdot)>;

  virtual ~Integrator();
  /// @param dynamics  the robot's accelerations
  /// @param t, h      start and length of the step [s]
  /// @param q, v      state at t, overwritten by the state at t + h
  virtual void step(const Model& model, const Dynamics& dynamics, double t, double h, double* q,
                    double* v) = 0;
};

}  // namespace espalier
