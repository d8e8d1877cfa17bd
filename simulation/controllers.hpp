#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/simulation/simulation.hpp"

/// Controllers that need no more than the joints' names. A joint may be any of the model:
/// independent, dependent, or a rotor behind a gear.

namespace espalier {

/// Constant forces on joints.
class ESPALIER_API ConstantForces final : public Controller {
 public:
  /// @param model   whose joints are named
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
  /// Of one joint.
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
  /// @param model   whose joints are named
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

/// What a control function is told at a time, and where it writes.
class ESPALIER_API ControlStep {
 public:
  /// Of a model, at a time.
  ControlStep(const Model& model, double t, std::span<const double> q, std::span<const double> qd,
              std::span<double> forces)
      : t(t), q(q), qd(qd), forces(forces), model_(model) {}

  const double t;                    ///< time [s]
  const std::span<const double> q;   ///< spanning positions, size nq
  const std::span<const double> qd;  ///< spanning rates, size spanning_nv
  const std::span<double> forces;    ///< on spanning rates, to add to, size spanning_nv [N·m, N]

  /// Position of a joint of one number. @throws UnknownName, Unsupported
  double position(std::string_view joint) const;
  /// Rate of a joint of one rate. @throws UnknownName, Unsupported
  double rate(std::string_view joint) const;
  /// Force on a joint of one rate, to add to. @throws UnknownName, Unsupported
  double& force(std::string_view joint) const;

 private:
  const Joint& joint(std::string_view name) const;
  const Model& model_;
};

/// A function as a controller:
///
///   controlled_by(robot, [](const ControlStep& now) {
///     now.force("knee") += 60 * (-0.4 - now.position("knee")) - 3 * now.rate("knee");
///   })
class ESPALIER_API ControlFunction final : public Controller {
 public:
  /// What is called in every evaluation of the right-hand side.
  using Function = std::function<void(const ControlStep&)>;
  /// @throws InvalidModel if there is no function
  ControlFunction(ModelPtr model, Function function);
  void drive(double t, const double* q, const double* qd, double* forces) override;

 private:
  ModelPtr model_;
  Function function_;
};

/// One function, as the list of controllers that a simulation takes.
ESPALIER_API std::vector<std::unique_ptr<Controller>> controlled_by(
    ModelPtr model, ControlFunction::Function function);

}  // namespace espalier
