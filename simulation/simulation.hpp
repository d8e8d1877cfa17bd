#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "espalier/host/host.hpp"
#include "espalier/kernel/integrator.hpp"
#include "espalier/kernel/model/loop_projector.hpp"
#include "espalier/kernel/model/passive.hpp"
#include "espalier/kernel/problems/energy.hpp"
#include "espalier/kernel/problems/forward_dynamics.hpp"

/// A robot in time.

namespace espalier {

/// Forces that drive a robot; belongs to one simulation.
class ESPALIER_API Controller {
 public:
  virtual ~Controller();
  /// Adds to the forces on spanning rates: on any joint, rotors and dependent ones included.
  /// @param t               time [s]
  /// @param q               spanning positions, size nq
  /// @param qd              spanning rates, size spanning_nv
  /// @param[in,out] forces  on spanning rates, size spanning_nv [N·m, N]
  virtual void drive(double t, const double* q, const double* qd, double* forces) = 0;
};

/// What acts on a robot's links from outside and depends on its state, such as a soft ground;
/// belongs to one simulation.
class ESPALIER_API Environment {
 public:
  virtual ~Environment();
  /// Adds to the wrenches on links.
  /// @param t                 time [s]
  /// @param q                 spanning positions, size nq
  /// @param v                 independent rates, size nv
  /// @param[in,out] wrenches  of the simulation's model
  virtual void act(double t, const double* q, const double* v, Wrenches<double>& wrenches) = 0;
};

/// What a simulation consists of, all bound to one model.
struct SimulationParts {
  std::unique_ptr<ForwardDynamics<double>> dynamics;
  std::unique_ptr<Integrator> integrator;
  std::unique_ptr<Energy<double>> energy;  ///< null: energies are not computed
  std::vector<std::unique_ptr<Controller>> controllers;
  std::vector<std::unique_ptr<Environment>> environments;
};

struct SimulationOptions {
  bool passive = true;  ///< damping, friction and springs of the joints act
  /// Dry friction is friction tanh(rate / friction_rate): sign() would make every integrator
  /// chatter about zero. A joint at rest creeps below this rate; explicit steps must be shorter
  /// than about 2.5 friction_rate inertia / friction. [rad/s, m/s], above 0
  double friction_rate = 0.05;
  CloseOptions closing{};
};

/// A robot at one time of its simulation; views are valid until it moves on.
struct Sample {
  double t = 0.0;                                      ///< [s]
  std::span<const double> q, v;                        ///< spanning positions, independent rates
  double kinetic = 0.0, gravity = 0.0, springs = 0.0;  ///< [J]
  double residual = 0.0;  ///< largest |phi| of the loops [m, rad or cosine]

  double energy() const { return kinetic + gravity + springs; }
};

/// Integrates a robot's motion in time; loops are closed after every step, and the simulation stops
/// with an error where they cannot be. Belongs to one thread.
class ESPALIER_API Simulation : private EquationsOfMotion {
 public:
  /// @throws InvalidModel if a part is missing or friction_rate is not positive
  explicit Simulation(SimulationParts parts, const SimulationOptions& options = {});

  const Model& model() const { return *model_; }

  /// Where it starts; neutral and at rest if not called.
  /// @param q  spanning positions whose loops are closed to 1e-3; they are projected
  /// @throws SizeMismatch; SingularMechanism if the loops are open or at a dead point, or a number
  ///         is not finite
  void start(In<double> q, In<double> v, double t = 0.0);
  /// Gravity for what follows [m/s²], world axes; the model's if not called.
  void set_gravity(const Vec3<double>& gravity);
  /// Constant forces on independent rates. @throws SizeMismatch
  void set_forces(In<double> tau);
  /// Constant wrenches on links, each in its link's frame, besides those of the environments; null:
  /// none. They are not copied.
  void set_wrenches(const Wrenches<double>* wrenches);

  /// One step of length h > 0 [s].
  /// @throws SingularMechanism if loops cannot be closed on their branch, naming cluster, margin
  ///         and time, or if a number is no longer finite; the state is then that of the failure
  void step(double h);
  /// Steps of length h, the last one as short as it has to be, until `duration` from now; calls
  /// `output` first, after every `every` steps and at the end. It may return false to stop.
  void run(double duration, double h, int every, const std::function<bool(const Sample&)>& output);

  Sample sample();
  double time() const { return t_; }
  const std::vector<double>& q() const { return q_; }
  const std::vector<double>& v() const { return v_; }
  /// Smallest singularity margin of all steps, a lower bound; see LoopProjector.
  double least_margin() const { return least_margin_; }

 private:
  void evaluate(double t, const double* q, const double* v, double* qd, double* vdot) override;
  void expand(const double* x, double* qd) override;
  void settle(double t, double* q) override;
  const Wrenches<double>* all_wrenches(double t, const double* q, const double* v);
  void expect_finite() const;

  SimulationParts parts_;
  SimulationOptions options_;
  ModelPtr model_;
  SpanningMotion<double> motion_;
  PassiveForces passive_;
  LoopProjector loops_;
  const Wrenches<double>* wrenches_ = nullptr;
  Wrenches<double> sum_;  ///< with those of the environments
  double t_ = 0.0, least_margin_ = 1.0;
  std::vector<double> q_, v_, constant_, forces_, tau_;
};

/// What a simulation is made of, by name.
struct SimulationNames {
  std::string algorithm = "c-aba";  ///< for forward dynamics
  std::string integrator = "rk4";
  Parameters integrator_options{};
};

/// A simulation of plugins by their names; energies are computed if a loaded algorithm can.
/// @throws UnknownName, Unsupported, as Host::create(); InvalidModel for the value of an option
ESPALIER_API std::unique_ptr<Simulation> make_simulation(
    const Host& host, const ModelPtr& model, const SimulationNames& names = {},
    const SimulationOptions& options = {},
    std::vector<std::unique_ptr<Controller>> controllers = {},
    std::vector<std::unique_ptr<Environment>> environments = {});

}  // namespace espalier
