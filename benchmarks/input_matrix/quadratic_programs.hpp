#pragma once

#include <string>

#include "espalier/espalier.hpp"

namespace espalier::bench {

/// One task of control as the two quadratic programs of Krög, Gattringer and Müller.
struct ProgramTimes {
  int variables = 0, equations = 0, rows = 0;
  double setup_ns = 0.0;  ///< dynamics, and the program's matrices
  double solve_ns = 0.0;  ///< by the solver
  int unsolved = 0;       ///< states whose solution does not meet the conditions of optimality
};
struct Programs {
  /// Equation (1): accelerations and inputs are variables, the equations of motion are equations.
  ProgramTimes with_motion;
  /// Equation (2): inputs alone, accelerations eliminated by the input matrix.
  ProgramTimes inputs_alone;
  /// Of (2) from (1) with its accelerations eliminated, relative to the largest entry.
  double difference = 0.0;
};

/// The humanoid of measure.hpp without rotors: trunk and feet have wanted accelerations, motors
/// have ranges, contacts friction pyramids where `limited`. Best of several rounds, over all
/// states.
/// @param solver  name of a solver of quadratic programs
Programs measure_programs(const Host& host, const std::string& solver, bool limited);

}  // namespace espalier::bench
