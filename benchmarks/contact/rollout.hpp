#pragma once

#include <memory>
#include <string>

#include "benchmarks/contact/robots.hpp"

/// Standing robots that move in time, step by step, and are kicked now and then.

namespace espalier::bench {

constexpr double step_length = 2e-3;  // [s]

/// What a robot does after it has come to rest; compared before anything is timed.
struct Rest {
  double height = 0.0;        ///< of the root's origin [m]
  double normal_force = 0.0;  ///< of the ground, over the robot's weight
  double opening = 0.0;       ///< largest violation of a loop or coupling [m, rad]
};

/// One library with one robot on one thread.
class Rollout {
 public:
  virtual ~Rollout() = default;
  virtual std::string name() const = 0;
  /// Whether contacts are rigid and loops exact.
  virtual bool exact() const = 0;
  virtual void start() = 0;
  /// Robots in one step.
  virtual int robots() const = 0;
  virtual void step() = 0;
  /// Adds to the linear rate of the root [m/s].
  virtual void kick(const Vec3<double>& change) = 0;
  /// Of the first robot.
  virtual Rest rest() = 0;
  /// Parts of steps so far that did not meet their conditions.
  virtual double unsolved() const = 0;
};

/// @param robots  a batch of so many on one thread; 1: one robot, one call a step
std::unique_ptr<Rollout> our_rollout(const Host& host, const StandingRobot& robot, int robots);

/// @param elliptic  Coulomb's cone; else the pyramid
/// @throws std::runtime_error if MuJoCo does not take the robot
std::unique_ptr<Rollout> mujoco_rollout(const Host& host, const StandingRobot& robot,
                                        bool elliptic);

}  // namespace espalier::bench
