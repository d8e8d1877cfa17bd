#include "benchmarks/accuracy/experiment.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

namespace espalier::bench {

namespace {

struct LegJoint {
  const char* name;   ///< in robots/mit_humanoid.yaml
  const char* title;  ///< for people
};
constexpr LegJoint leg[] = {{"right_leg.hip_yaw.link", "hip yaw"},
                            {"right_leg.hip_roll.link", "hip roll"},
                            {"right_leg.hip_pitch.link", "hip pitch"},
                            {"right_leg.knee_ankle.link1", "knee"},
                            {"right_leg.knee_ankle.link2", "ankle"}};

}  // namespace

double largest_torque(const JointTorques& torques) {
  double largest = 0.0;
  for (const double tau : torques.exact) largest = std::max(largest, std::abs(tau));
  return largest;
}

TorqueError error_of(const JointTorques& torques, const std::vector<double>& other) {
  double squares = 0.0;
  for (std::size_t i = 0; i < other.size(); ++i) {
    squares += (other[i] - torques.exact[i]) * (other[i] - torques.exact[i]);
  }
  const double rms = std::sqrt(squares / static_cast<double>(other.size()));
  return {rms, 100.0 * rms / largest_torque(torques)};
}

Torques move_leg(const Host& host, double frequency) {
  const ModelPtr robot = host.load(ESPALIER_SOURCE_DIR "/robots/mit_humanoid.yaml");
  using Inverse = InverseDynamics<double>;
  const auto exact = host.create<Inverse>("c-rnea", robot);
  const auto approximate = host.create<Inverse>("approximate-rnea", robot);
  const auto unconstrained = host.create<Inverse>("unconstrained-rnea", robot);

  Torques torques;
  torques.frequency = frequency;
  std::vector<int> rates;
  for (const LegJoint& joint : leg) {
    const int rate = robot->joint(joint.name).independent;
    if (rate < 0) {
      throw InvalidModel(robot->name() + ": joint '" + joint.name +
                         "' depends on others, expected an independent one (it is to be moved)");
    }
    rates.push_back(rate);
    torques.joints.push_back({joint.title, {}, {}, {}});
  }

  State state(robot);
  std::vector<double> vdot(robot->nv()), tau(robot->nv());
  const double omega = 2.0 * std::numbers::pi * frequency;
  const int steps = static_cast<int>(std::lround(duration / time_step));
  for (int step = 0; step <= steps; ++step) {
    const double t = step * time_step, sine = std::sin(omega * t);
    for (std::size_t j = 0; j < rates.size(); ++j) {
      state.set_position(leg[j].name, amplitude * sine);
      state.v()[rates[j]] = amplitude * omega * std::cos(omega * t);
      vdot[rates[j]] = -amplitude * omega * omega * sine;
    }
    torques.time.push_back(t);
    const auto note = [&](Inverse& algorithm, std::vector<double> JointTorques::*kind) {
      algorithm.evaluate(state.q(), state.v(), vdot, tau);
      for (std::size_t j = 0; j < rates.size(); ++j) {
        (torques.joints[j].*kind).push_back(tau[rates[j]]);
      }
    };
    note(*exact, &JointTorques::exact);
    note(*approximate, &JointTorques::approximate);
    note(*unconstrained, &JointTorques::unconstrained);
  }
  return torques;
}

}  // namespace espalier::bench
