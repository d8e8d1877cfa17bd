#pragma once

#include <string>
#include <vector>

#include "espalier/espalier.hpp"

namespace espalier::bench {

/// The experiment of Chignoli et al. (2023), section IX-B: a leg of the MIT Humanoid moves, and
/// three kinds of inverse dynamics say which torques that takes.
///
/// All five joints follow q(t) = A sin(2 pi f t), the torso stands still, gravity acts. A = 0.5
/// rad, 5 s in steps of 0.5 ms and f of 0.25, 0.5, 0.75 and 1.5 Hz are those of the authors'
/// program (generalized_rbda, Benchmarking, accuracyBenchmarkEndEffectorTracking.cpp); they plot
/// the last.
inline constexpr double amplitude = 0.5, duration = 5.0, time_step = 5e-4;
inline constexpr double frequencies[] = {0.25, 0.5, 0.75, 1.5};

/// Torques of one joint over time [N·m], at the joint.
struct JointTorques {
  std::string joint;  ///< what people call it
  std::vector<double> exact, approximate, unconstrained;
};

struct Torques {
  double frequency = 0.0;  ///< [Hz]
  std::vector<double> time;
  std::vector<JointTorques> joints;
};

/// How far a joint's torques are from the exact ones.
struct TorqueError {
  double rms = 0.0;      ///< root mean square [N·m]
  double percent = 0.0;  ///< the same, of the largest exact torque of the joint
};
double largest_torque(const JointTorques& torques);
TorqueError error_of(const JointTorques& torques, const std::vector<double>& other);

/// Runs c-rnea, approximate-rnea and unconstrained-rnea on robots/mit_humanoid.yaml.
Torques move_leg(const Host& host, double frequency);

}  // namespace espalier::bench
