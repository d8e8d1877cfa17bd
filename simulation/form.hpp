#pragma once

#include "espalier/simulation/simulation.hpp"

/// Inside of Simulation: the robot in one choice of independent joints.

namespace espalier {

struct Simulation::Form {
  Form(ModelPtr of, std::unique_ptr<ForwardDynamics<double>> moved_by,
       std::unique_ptr<Energy<double>> has, const MakeDynamics& make, const CloseOptions& closing,
       double friction_rate)
      : model(std::move(of)),
        dynamics(std::move(moved_by)),
        energy(std::move(has)),
        motion(*model, SpanningMotion<double>::Rotors::skip),
        loops(model, closing),
        damping(model, make, viscous_damping(*model)),
        friction(model, make, friction_slopes(*model, friction_rate)) {}

  ModelPtr model;
  std::unique_ptr<ForwardDynamics<double>> dynamics;
  std::unique_ptr<Energy<double>> energy;  ///< or null
  SpanningMotion<double> motion;
  LoopProjector loops;
  JointDamping damping, friction;
  int number = 0;  ///< in the order in which they were made
};

/// Ends a step that has to be taken otherwise; never leaves the simulation.
struct Simulation::Stuck {
  Closure closure;
  bool closed;  ///< the loops closed, but the step came much nearer to a singularity
};

/// A joint with limits.
struct Simulation::Limited {
  int joint, position;
  double lower, upper;  ///< a little beyond its limits
  bool told;
};

}  // namespace espalier
