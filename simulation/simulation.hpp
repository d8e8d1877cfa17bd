#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "espalier/host/host.hpp"
#include "espalier/kernel/integrator.hpp"
#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "espalier/kernel/model/motion/passive.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"
#include "espalier/kernel/problems/kinematics/energy.hpp"
#include "espalier/simulation/damping/joint_damping.hpp"

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
  /// @param v                 rates of the joints that are independent in the simulation's model,
  ///                          size nv, also while it computes in others
  /// @param[in,out] wrenches  of the simulation's model
  virtual void act(double t, const double* q, const double* v, Wrenches<double>& wrenches) = 0;
};

/// What a simulation consists of, all bound to one model.
struct SimulationParts {
  std::unique_ptr<ForwardDynamics<double>> dynamics;       ///< accelerations
  std::unique_ptr<Integrator> integrator;                  ///< takes the steps
  std::unique_ptr<Energy<double>> energy;                  ///< null: made by make_energy if set
  std::vector<std::unique_ptr<Controller>> controllers;    ///< their forces add up
  std::vector<std::unique_ptr<Environment>> environments;  ///< their wrenches add up
  /// Makes the same of the robot's other forms: other independent joints near dead points, and
  /// dampers that act implicitly. Where it is empty, neither is done.
  MakeDynamics make_dynamics{};
  /// Makes energies of these, when they are first asked for. Where it is empty or returns null,
  /// they are zero.
  std::function<std::unique_ptr<Energy<double>>(const ModelPtr&)> make_energy{};
  /// Of the integrator: see stability_limit().
  double stability = HUGE_VAL;
};

/// How a simulation treats joints, loops and dead points.
struct SimulationOptions {
  bool passive = true;  ///< damping, friction and springs of the joints act
  /// How joints are damped. `automatic`: in the integrator's stages, unless that is unstable at
  /// the step or nearly so; then `implicit`: linearly implicit Euler in v, extrapolated to order 2,
  /// in place of an integrator of fixed steps.
  enum class Damping { automatic, in_stages, implicit };
  Damping damping = Damping::automatic;  ///< how joints are damped
  /// Goes on in other independent joints near dead points of the present ones, and through
  /// singular positions of the mechanism on the branch that it is on.
  bool past_dead_points = true;
  /// Fixed steps of order 3 and above are taken in parts where closing the loops moves a joint by
  /// more than this share of its way in the part, or 1e-11 rad or m: the correction is what can be
  /// seen of the part's error. Steps are halved up to ten times. 0: steps are taken as they are.
  double loop_error = 5e-10;
  /// Dry friction is friction tanh(rate / friction_rate): sign() would make every integrator
  /// chatter about zero. A joint at rest creeps below this rate; explicit steps must be shorter
  /// than about 2.5 friction_rate inertia / friction. [rad/s, m/s], above 0
  double friction_rate = 0.05;
  CloseOptions closing{};  ///< of loops, after each step
};

/// A robot at one time of its simulation; views are valid until it moves on.
struct Sample {
  double t = 0.0;             ///< [s]
  std::span<const double> q;  ///< spanning positions, size nq
  std::span<const double> v;  ///< independent rates, size nv
  double kinetic = 0.0;       ///< energy [J]; see Simulation::leave_energies()
  double gravity = 0.0;       ///< potential energy of weights, likewise [J]
  double springs = 0.0;       ///< potential energy of the joints' springs [J]
  double residual = 0.0;      ///< largest |phi| of the loops [m, rad or cosine]

  /// Kinetic and potential energy [J].
  double energy() const { return kinetic + gravity + springs; }
};

/// Something that a simulation did or saw beside moving on.
struct SimulationEvent {
  /// What happened.
  enum class Kind {
    coordinates,  ///< other joints of a cluster are independent from here; `value`: their margin
    singularity,  ///< the mechanism itself is singular and it went through; `value`: energy gained
    limit,        ///< a joint is beyond its limit, which nothing enforces; `value`: its position
    turn,         ///< a joint turns by more than half a turn in a step; `value`: its rate
    damping,      ///< dampers are stiff at the step; `value`: their rate of decay [1/s]
    friction      ///< dry friction is, about rest: it drives joints; `value`: as of `damping`
  };
  Kind kind = Kind::coordinates;  ///< what happened
  double t = 0.0;                 ///< [s]
  int cluster = -1;               ///< among Model::clusters(), or -1
  int joint = -1;                 ///< among Model::joints(), or -1
  double value = 0.0;             ///< see Kind
  int form = -1;                  ///< of kind `coordinates`: which choice
};

/// Integrates a robot's motion in time; loops are closed after every step, and the simulation stops
/// with an error where they cannot be.
///
/// All that goes in and comes out is in the coordinates of model(). Inside, the simulation may
/// compute in other independent joints of a loop for a while, where those of the model come near a
/// dead point (docs/theory/dead-points.md). Belongs to one thread.
class ESPALIER_API Simulation final : private EquationsOfMotion {
 public:
  /// @throws InvalidModel if a part is missing, friction_rate is not positive or loop_error is
  ///         negative
  explicit Simulation(SimulationParts parts, const SimulationOptions& options = {});
  ~Simulation() override;

  /// In whose coordinates all that goes in and comes out is.
  const Model& model() const { return *model_; }

  /// Where it starts; neutral and at rest if not called.
  /// @param q  spanning positions whose loops are closed to 1e-3; they are projected
  /// @param v  independent rates; at a dead point of these, they have to be zero
  /// @param t  time at which it starts [s]
  /// @throws SizeMismatch; SingularMechanism if the loops are open, the mechanism is singular or
  ///         rates do not say how it moves, or a number is not finite
  void start(In<double> q, In<double> v, double t = 0.0);
  /// Gravity for what follows [m/s²], world axes; the model's if not called.
  void set_gravity(const Vec3<double>& gravity);
  /// Constant forces on independent rates.
  /// @throws SizeMismatch; InvalidModel for a number that is not finite
  void set_forces(In<double> tau);
  /// Constant wrenches on links, each in its link's frame, besides those of the environments; null:
  /// none. They are not copied.
  void set_wrenches(const Wrenches<double>* wrenches);

  /// One step of length h > 0 [s].
  /// @throws SingularMechanism if loops cannot be closed on their branch, naming cluster, margin
  ///         and time, or if a number is no longer finite; the state is then that of the failure,
  ///         or the last one whose loops were closed; InvalidModel for a force of a controller
  ///         that is not finite, naming the joint
  void step(double h);
  /// Steps of length h, the last one as short as it has to be, until `duration` from now; calls
  /// `output` first, after every `every` steps and at the end. It may return false to stop, as may
  /// `go_on`, which is asked after each step: what it stops at is shown to `output` as the end.
  void run(double duration, double h, int every, const std::function<bool(const Sample&)>& output,
           const std::function<bool()>& go_on = nullptr);

  /// Leaves the energies of samples to the caller, who computes those of many rows by
  /// SampleEnergies: they are NaN wherever q and v of the sample tell them. In other coordinates
  /// than the model's, whose rates may not say how the robot moves, samples have them all the same.
  void leave_energies(bool leave) { leaves_energies_ = leave; }
  /// The robot as it is.
  Sample sample();
  double time() const { return t_; }                       ///< [s]
  const std::vector<double>& q() const { return q_; }      ///< spanning positions, size nq
  const std::vector<double>& v() const { return own_v_; }  ///< independent rates, size nv
  /// Smallest singularity margin of all steps, a lower bound; see LoopProjector.
  double least_margin() const { return least_margin_; }
  /// What happened since start(), the first thousand of each kind.
  std::span<const SimulationEvent> events() const { return events_; }
  /// One sentence, with names and numbers.
  std::string text(const SimulationEvent& event) const;
  /// Names of the coordinates that it computes in at present.
  std::vector<Coordinate> present_coordinates() const;

 private:
  struct Form;
  struct Stuck;
  struct Limited;

  void evaluate(double t, const double* q, const double* v, double* qd, double* vdot) override;
  void expand(const double* x, double* qd) override;
  void settle(double t, double* q) override;
  void accelerations(ForwardDynamics<double>& dynamics, double t, const double* q, const double* v,
                     double* qd, double* vdot);
  void drive(double t, const double* q, const double* qd);
  const Wrenches<double>* all_wrenches(double t, const double* q, const double* qd);
  void take_gravity(Form& form) const;
  void start_if_new();
  void attempt(double h);
  void damped_step(double h);
  void expect_finite() const;

  // Past dead points: dead_points.cpp.
  void start_loops();
  void advance(double h);
  double retry(const Stuck& stuck, double h, double left);
  double loop_error(const double* q);
  void restore();
  bool change_form(int loop, double gain);
  bool change_to_better();
  void change_forms();
  Form* form_with(int cluster, std::span<const int> columns);
  double moved(const std::vector<double>& from, const double* to);
  [[noreturn]] void stop(const Closure& closure, double t) const;
  void list_own_rates();
  void watch(double h);
  void watch_damping(double h);
  void watch_friction(double h);
  void note(SimulationEvent event);
  double energy_now();
  /// Of the present form; null: energies are not computed. Made when it is first wanted, since a
  /// run may leave energies to its caller.
  Energy<double>* present_energy();

  static constexpr int most_events = 1000;  ///< of each kind

  SimulationParts parts_;
  SimulationOptions options_;
  ModelPtr model_;
  std::vector<std::unique_ptr<Form>> forms_;      ///< the model's own first
  Form* form_ = nullptr;                          ///< at present
  bool started_ = false;                          ///< at a position of the user's, or neutral
  std::vector<std::vector<int>> rates_of_forms_;  ///< independent ones, by number, for text()
  std::vector<double> levels_;  ///< margins of loops at which other joints are looked for
  PassiveForces passive_;
  std::shared_ptr<Alternatives> alternatives_;
  const Wrenches<double>* wrenches_ = nullptr;
  Wrenches<double> sum_;  ///< with those of the environments
  Vec3<double> gravity_{0, 0, 0};
  double t_ = 0.0, now_ = 0.0, least_margin_ = 1.0;
  std::vector<double> q_, v_;  ///< v_ in the present form's coordinates
  std::vector<double> own_v_;  ///< in those of the model
  std::vector<double> constant_, forces_, tau_, stage_v_, qd_;

  // Of the step that is under way.
  Form* form_before_ = nullptr;
  std::vector<double> q_before_, v_before_, predicted_, between_;
  double margin_before_ = 1.0;
  double error_ = 0.0;  ///< of the loops, over what is allowed
  bool may_retry_ = false, follows_ = false, bears_falls_ = false;
  bool sees_error_ = false, may_split_ = false;

  bool leaves_energies_ = false;

  // What is watched.
  std::vector<SimulationEvent> events_;
  std::vector<Limited> limits_;
  bool implicit_ = false, turned_ = false;
  long long steps_ = 0;
  double decay_ = 0.0, last_step_ = 0.0;
  struct {
    std::vector<double> q, v, x, y;
  } coarse_;  ///< of damped_step()
};

/// What a simulation is made of, by name.
struct SimulationNames {
  std::string algorithm = "c-aba";  ///< for forward dynamics
  std::string integrator = "rk4";   ///< as `espalier list integrators` has them
  Parameters integrator_options{};  ///< by name, e.g. {{"relative_tolerance", {1e-9}}}
};

/// A simulation of plugins by their names; energies are computed if a loaded algorithm can.
/// @throws UnknownName, Unsupported, as Host::create(); InvalidModel for the value of an option
ESPALIER_API std::unique_ptr<Simulation> make_simulation(
    const Host& host, const ModelPtr& model, const SimulationNames& names = {},
    const SimulationOptions& options = {},
    std::vector<std::unique_ptr<Controller>> controllers = {},
    std::vector<std::unique_ptr<Environment>> environments = {});

}  // namespace espalier
