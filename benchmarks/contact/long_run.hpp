#pragma once

#include "benchmarks/contact/robots.hpp"

namespace espalier::bench {

/// What became of many steps.
struct LongRun {
  double states = 0.0;    ///< steps times robots
  double unsolved = 0.0;  ///< states whose natural residual is above 1e-6 m/s
  double worst = 0.0;     ///< largest residual of these [m/s]
  double others = 0.0;    ///< too deep, loop open or not finite
  double falls = 0.0;     ///< robots that stood up again
  long allocations = 0;   ///< of steps, in the thread that calls them
};

/// Robots in a batch on all cores stand on rigid ground, each of its own friction (0.2 to 1), and
/// are kicked every tenth of a second.
/// @param states  to be computed, at least
/// @param speed   of kicks, along each axis [m/s]
LongRun run_long(const Host& host, const StandingRobot& robot, double states, double speed,
                 int robots);

}  // namespace espalier::bench
