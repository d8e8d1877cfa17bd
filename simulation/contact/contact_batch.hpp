#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/simulation/contact/contact_simulation.hpp"

/// Many copies of one robot on rigid ground, eight at a time on every core.

namespace espalier::contact {

/// All robots at one time. Structures of arrays: number i of robot k at [i * N + k].
struct ContactBatchSample {
  double t = 0.0;             ///< [s]
  int N = 0;                  ///< robots
  std::span<const double> q;  ///< nq x N spanning positions [rad, m]
  std::span<const double> v;  ///< nv x N independent rates [rad/s, m/s]
};

/// What became of a robot in the last step.
enum class RobotStatus : unsigned char {
  ok,
  contact_unsolved,  ///< the best impulses that were found acted
  too_deep,
  loop_open,  ///< stands still since its loops could not be closed on their branch
  not_finite  ///< has a number that is infinite or NaN
};
/// "ok", ...
ESPALIER_API std::string_view to_string(RobotStatus status);

/// How a batch is simulated.
struct ContactBatchOptions {
  int threads = 0;     ///< 0: one for each core that the process may use
  StepOptions step{};  ///< of every robot
  StepNames names{};   ///< of what steps are made of
};

/// Moves N robots in time. Robots do not touch each other: each is alone with the ground.
///
/// Every robot's state has the same bits for any N, any neighbours and any number of threads.
/// Impulses of the last step belong to a robot: reset() clears them, save() and restore() keep
/// them. Belongs to one thread, which calls it.
class ESPALIER_API ContactBatch {
 public:
  /// @throws as ContactSimulation; Unsupported for joints with equations of their own
  ContactBatch(const Registry& registry, const ModelPtr& model, const World& world,
               const ContactBatchOptions& options = {});
  ~ContactBatch();
  ContactBatch(const ContactBatch&) = delete;
  ContactBatch& operator=(const ContactBatch&) = delete;

  const Plan& plan() const;                              ///< the robot and its surroundings
  const Model& model() const { return plan().model(); }  ///< the robot

  /// Where the robots start; targets are zero. Friction, masses and ground stay as they were set,
  /// unless N is another.
  /// @param N  robots
  /// @param q  nq x N; loops that are open by at most 1e-3 are closed
  /// @param v  nv x N [rad/s, m/s]
  /// @param t  time there [s]
  /// @throws SizeMismatch
  void start(int N, In<double> q, In<double> v, double t = 0.0);
  /// Puts one robot elsewhere, without impulses from before; its friction, masses
  /// and ground stay.
  /// @param robot  its number
  /// @param q, v   of one robot, nq and nv numbers
  void reset(int robot, In<double> q, In<double> v);
  /// Gravity for what follows [m/s²], world axes; the model's if not called.
  void set_gravity(const Vec3<double>& gravity);
  /// Factor on all coefficients of friction of each robot, after start(), N numbers not below zero.
  /// @throws SizeMismatch, InvalidModel
  void set_friction(In<double> factors);
  /// Factor on mass and inertia of links, each with all that is welded to it: links x N positive
  /// numbers, exact through loops and for rotors behind gears; replaces what was set before, and
  /// without links all are as the model says. Allocates where the links are others than before.
  /// @throws SizeMismatch; UnknownName; InvalidModel for factors, and for links that are welded to
  ///         the ground or to each other or have no mass
  void set_masses(std::span<const std::string> links, In<double> factors);
  /// Where the ground stands for each robot, with all that is fixed to it: N heights, or 3 x N
  /// offsets along x, y and z [m], so that robots share one height field. @throws SizeMismatch,
  /// InvalidModel
  void set_ground(In<double> offsets);
  /// Targets of the options' drives: position, rate and torque besides, each (drives x N); an empty
  /// one keeps what it was. The actions of a learner, valid until they are set again.
  void set_targets(In<double> positions, In<double> rates, In<double> torques);
  /// Forces on independent rates, nv x N, valid until they are set again. @throws SizeMismatch
  void set_forces(In<double> tau);

  /// One step of length h > 0 [s]. Allocates nothing where at most Plan::usual_contacts() points
  /// touch in a pack of robots, and colliders do not.
  void step(double h);

  /// Written when asked for the first time after the robots moved; valid until they move on.
  ContactBatchSample sample() const;
  /// Force of the last step on every touching shape of every robot, world axes: component i of
  /// shape s of robot k at [(3 s + i) * N + k], shapes as in World. Written and valid as sample().
  /// [N]
  std::span<const double> forces() const;
  /// Natural residual of every robot's last step [m/s].
  std::span<const double> residuals() const;
  std::span<const RobotStatus> status() const;  ///< of every robot's last step
  /// Rounds of Newton's method that the last step took, over all robots.
  double rounds() const;

  /// What one robot's next step depends on besides what is set for it: q, v, impulses.
  std::size_t saved_size() const;
  void save(int robot, std::span<double> out) const;  ///< writes it
  void restore(int robot, In<double> saved);          ///< takes it over

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace espalier::contact
