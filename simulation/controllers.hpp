#pragma once

#include <string>
#include <utility>
#include <vector>

#include "espalier/simulation/simulation.hpp"

/// Controllers that need no more than the joints' names. A joint may be any of the model:
/// independent, dependent, or a rotor behind a gear.

namespace espalier {

/// Constant forces on joints.
class ESPALIER_API ConstantForces final : public Controller {
 public:
  /// @param forces  per joint, as many numbers as it has rates [N·m, N]
  /// @throws UnknownName; SizeMismatch; InvalidModel for a number that is not finite
  ConstantForces(const Model& model,
                 const std::vector<std::pair<std::string, std::vector<double>>>& forces);
  void drive(double t, const double* q, const double* qd, double* forces) override;

 private:
  std::vector<std::pair<int, double>> forces_;  ///< by spanning rate
};

/// Proportional-derivative control of joints of one rate to constant targets:
/// force = kp (target - q) + kd (target_rate - qd).
class ESPALIER_API PdControl final : public Controller {
 public:
  struct Gains {
    double kp = 0.0;           ///< [N·m/rad, N/m]
    double kd = 0.0;           ///< [N·m·s/rad, N·s/m]
    double target = 0.0;       ///< [rad, m]
    double target_rate = 0.0;  ///< [rad/s, m/s]
  };
  /// @throws UnknownName; Unsupported for a joint of several rates; InvalidModel for a negative
  ///         gain or a number that is not finite
  PdControl(const Model& model, const std::vector<std::pair<std::string, Gains>>& joints);
  void drive(double t, const double* q, const double* qd, double* forces) override;

 private:
  struct Axis {
    int q, v;
    Gains gains;
  };
  std::vector<Axis> axes_;
};

/// Forces from a table over time: linear between its rows, the first row before the first time and
/// the last one after the last.
class ESPALIER_API ForceTable final : public Controller {
 public:
  /// @param joints  names of the columns; all rates of a joint of several follow each other, their
  ///                names are "joint[0]", "joint[1]", ...
  /// @param times   strictly increasing [s]
  /// @param rows    a number per column for each time [N·m, N]
  /// @throws UnknownName; SizeMismatch; InvalidModel for times that do not increase, an empty table
  ///         or a number that is not finite
  ForceTable(const Model& model, const std::vector<std::string>& joints, std::vector<double> times,
             std::vector<std::vector<double>> rows);
  void drive(double t, const double* q, const double* qd, double* forces) override;

 private:
  std::vector<int> rates_;  ///< spanning, of the columns
  std::vector<double> times_;
  std::vector<std::vector<double>> rows_;
};

}  // namespace espalier
