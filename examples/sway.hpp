#pragma once

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "espalier/espalier.hpp"

/// JVRC-1 swaying on two feet that stay where they are: the motion of 10_sensing_humanoid.cpp.

namespace espalier::sway {

using Numbers = std::vector<double>;
using Vector = Vec3<double>;

const std::string base = "root";
const std::array<std::string, 2> sides{"left", "right"};
constexpr std::array<const char*, 6> leg_joints{"hip_pitch", "hip_roll",   "hip_yaw",
                                                "knee",      "ankle_roll", "ankle_pitch"};

inline std::string leg(const std::string& side, const char* joint) {
  return side + "_leg." + joint + ".link";
}
inline std::string foot(const std::string& side) { return leg(side, "ankle_pitch"); }
inline double square(double x) { return x * x; }

/// A moment of the motion.
struct Instant {
  Numbers q, v, vdot;
};

/// The motion: the pelvis sways and turns, waist and arms swing, legs follow so that the feet stay.
class Sway {
 public:
  Sway(const Host& host, const ModelPtr& robot)
      : model_(robot),
        kinematics_(host.create<Kinematics<double>>("forward-kinematics", robot)),
        jacobians_(host.create<BodyJacobians<double>>("body-jacobians", robot)) {
    for (std::size_t s = 0; s < 2; ++s) {
      for (int k = 0; k < 6; ++k) {
        leg_[s][k] = robot->joint(leg(sides[s], leg_joints[k])).independent;
      }
    }
  }

  Instant at(double t) {
    State state(model_);
    // Velocity and acceleration of the base are components in its own axes; it turns about z only.
    const Wave x{0.015, 0.35, 0.3}, y{0.035, 0.4, 0.0}, z{0.01, 0.55, 1.0}, yaw{0.08, 0.25, 0.5};
    const double c = std::cos(yaw.at(t)), s = std::sin(yaw.at(t));
    const Mat3<double> E = rotation_z(s, c);
    const Vector turn{0, 0, yaw.rate(t)}, velocity = E * Vector{x.rate(t), y.rate(t), z.rate(t)};
    const Vector acceleration =
        E * Vector{x.rate_of_rate(t), y.rate_of_rate(t), z.rate_of_rate(t)} - cross(turn, velocity);
    state.set_position(base, std::array{x.at(t), y.at(t), z.at(t), 0.0, 0.0,
                                        std::sin(yaw.at(t) / 2), std::cos(yaw.at(t) / 2)});
    state.set_rate(base, std::array{0.0, 0.0, turn.z, velocity.x, velocity.y, velocity.z});
    Numbers vdot(model_->nv(), 0.0);
    const Numbers of_base{0.0,           0.0, yaw.rate_of_rate(t), acceleration.x, acceleration.y,
                          acceleration.z};
    std::copy(of_base.begin(), of_base.end(), vdot.begin() + model_->joint(base).independent);

    double number = 0.0;
    for (const char* joint : {"waist_yaw.link", "waist_pitch.link", "left_arm.shoulder_pitch.link",
                              "right_arm.shoulder_pitch.link", "right_arm.elbow_pitch.link"}) {
      const Wave swing{0.12, 0.3 + 0.05 * number, 0.9 * number};
      state.set_position(joint, swing.at(t) - (number++ == 4.0 ? 0.8 : 0.0));  // bent elbow
      state.set_rate(joint, swing.rate(t));
      vdot[model_->joint(joint).independent] = swing.rate_of_rate(t);
    }
    for (std::size_t side = 0; side < 2; ++side) place(state, side);
    // Feet that stay have no velocity and no acceleration.
    for (std::size_t side = 0; side < 2; ++side) {
      correct(state.q(), state.v(), Numbers(model_->nv(), 0.0), side, false, state.v());
    }
    for (std::size_t side = 0; side < 2; ++side) {
      correct(state.q(), state.v(), vdot, side, true, vdot);
    }
    return {state.q(), state.v(), vdot};
  }

 private:
  struct Wave {
    double amplitude, frequency, phase;  // [m or rad, 1/s, rad]
    double w() const { return 2.0 * M_PI * frequency; }
    double at(double t) const { return amplitude * std::sin(w() * t + phase); }
    double rate(double t) const { return w() * amplitude * std::cos(w() * t + phase); }
    double rate_of_rate(double t) const { return -square(w()) * at(t); }
  };

  /// Where a foot stays: toes turned out a little, knees bent when the pelvis is at the origin.
  static Transform<double> target(std::size_t side) {
    const double out = side == 0 ? 1.0 : -1.0;
    return {rotation_z(std::sin(0.12 * out), std::cos(0.12)), {0.0, 0.11 * out, -0.70}};
  }

  using Six = Eigen::Matrix<double, 6, 1>;

  /// What the six joints of a leg do for its foot to move as wanted, at the last jacobians.
  Six solve(std::size_t side, const Six& wanted) {
    Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor> J(6, model_->nv());
    jacobians_->jacobian(model_->link(foot(sides[side])), Out<double>(J.data(), J.size()));
    Eigen::Matrix<double, 6, 6> of_leg;
    for (int k = 0; k < 6; ++k) of_leg.col(k) = J.col(leg_[side][k]);
    return of_leg.partialPivLu().solve(wanted);
  }
  /// Newton's method for the foot's placement.
  void place(State& state, std::size_t side) {
    std::array<double, 6> angle{-0.35, 0, 0, 0.7, 0, -0.35};
    const Transform<double> wanted = target(side);
    for (int iteration = 0; iteration < 12; ++iteration) {
      for (int k = 0; k < 6; ++k) {
        state.set_position(leg(sides[side], leg_joints[k]), angle[k]);
      }
      kinematics_->evaluate(state.q(), state.v(), state.v());
      jacobians_->evaluate(state.q());
      const Transform<double> X = kinematics_->placement(model_->link(foot(sides[side])));
      const Mat3<double> R = wanted.E * X.E.transposed();  // foot to wanted foot
      const Vector way = X.E * (wanted.r - X.r);
      Six error;
      // Of a small rotation: half the difference of the matrix and its transpose.
      error << 0.5 * (R(1, 2) - R(2, 1)), 0.5 * (R(2, 0) - R(0, 2)), 0.5 * (R(0, 1) - R(1, 0)),
          way.x, way.y, way.z;
      const Six change = solve(side, error);
      for (int j = 0; j < 6; ++j) angle[j] += change(j);
    }
  }
  /// Changes a leg's rates, or their derivatives, so that those of its foot vanish.
  void correct(const Numbers& q, const Numbers& v, const Numbers& vdot, std::size_t side,
               bool acceleration, Numbers& rates) {
    kinematics_->evaluate(q, v, vdot);
    jacobians_->evaluate(q);
    const Link& link = model_->link(foot(sides[side]));
    const Motion<double> now =
        acceleration ? kinematics_->acceleration(link) : kinematics_->velocity(link);
    Six wanted;
    wanted << -now.w.x, -now.w.y, -now.w.z, -now.v.x, -now.v.y, -now.v.z;
    const Six change = solve(side, wanted);
    for (int k = 0; k < 6; ++k) rates[leg_[side][k]] += change(k);
  }

  ModelPtr model_;
  std::unique_ptr<Kinematics<double>> kinematics_;
  std::unique_ptr<BodyJacobians<double>> jacobians_;
  std::array<std::array<int, 6>, 2> leg_;  ///< rates
};

}  // namespace espalier::sway
