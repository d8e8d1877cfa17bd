#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "espalier/kernel/model/loops/loop_projector.hpp"
#include "espalier/plugins/registry.hpp"
#include "espalier/simulation/contact/problems/margin_trend.hpp"
#include "espalier/simulation/contact/problems/step.hpp"
#include "espalier/simulation/contact/problems/step_derivatives.hpp"
#include "espalier/simulation/simulation.hpp"

/// One robot on rigid ground.

namespace espalier::contact {

/// What steps are made of, by name.
struct StepNames {
  std::string step = "moreau";                 ///< algorithm for contact steps
  std::string solver = "gauss-seidel-newton";  ///< of impulses
  /// Empty: "closed-form", or "bullet" where a pair of shapes has none and that plugin is there.
  std::string collision = {};
  std::string mass_matrix = "c-crba";                               ///< algorithm for it
  std::string inverse_dynamics = "c-rnea";                          ///< algorithm for it
  std::string step_derivatives = "moreau-derivatives";              ///< algorithm for these
  std::string inverse_dynamics_derivatives = "c-rnea-derivatives";  ///< algorithm for these
};

/// A step of a robot with all that it needs.
/// @param registry  of the plugins
/// @param plan      of the robot and its surroundings
/// @param names     of what the step is made of
/// @throws as Registry::create() and Plan
template <class T>
ESPALIER_API std::unique_ptr<ContactStep<T>> make_step(const Registry& registry,
                                                       const std::shared_ptr<const Plan>& plan,
                                                       const StepNames& names);
/// Derivatives of such a step.
/// @throws as Registry::create() and ContactStepDerivatives::bind()
ESPALIER_API std::unique_ptr<ContactStepDerivatives<double>> make_step_derivatives(
    const Registry& registry, const std::shared_ptr<const Plan>& plan, const StepNames& names);
/// What steps of a robot in its surroundings have in common. @throws as Plan
ESPALIER_API std::shared_ptr<const Plan> make_plan(const Registry& registry, const ModelPtr& model,
                                                   const World& world, const StepOptions& options,
                                                   const StepNames& names);

/// A point where two solids touch or nearly do, after a step.
struct ContactSample {
  std::string_view first;   ///< name of the shape that the normal points to
  std::string_view second;  ///< name of the other
  int first_shape = 0;      ///< among Plan::solids()
  int second_shape = 0;     ///< among Plan::solids()
  int feature = 0;          ///< number of the point among those of the pair
  Vec3<double> point;       ///< at the step's start, world [m]
  Vec3<double> normal;      ///< of length 1, world axes
  double gap = 0.0;         ///< at the step's start [m]
  Vec3<double> force;       ///< mean of the step on the first solid, world [N]
  /// Of torsional and rolling friction, mean of the step on the first solid, world [N·m].
  Vec3<double> moment{0, 0, 0};
};

/// What became of a step.
enum class StepStatus {
  ok,
  contact_unsolved,  ///< no impulses were found to the tolerance; the best ones act
  too_deep,          ///< solids overlapped by more than a thin one can
};
/// "ok", ...
ESPALIER_API std::string_view to_string(StepStatus status);

/// Moves a robot in time with rigid contact, dry friction, limits and motors; loops are closed
/// after every step. Belongs to one thread.
class ESPALIER_API ContactSimulation {
 public:
  /// @throws as Plan and Registry::create()
  ContactSimulation(const Registry& registry, const ModelPtr& model, const World& world,
                    const StepOptions& options = {}, const StepNames& names = {},
                    std::vector<std::unique_ptr<Controller>> controllers = {});
  ~ContactSimulation();

  const Model& model() const { return plan_->model(); }  ///< the robot
  const Plan& plan() const { return *plan_; }            ///< the robot and its surroundings

  /// Where it starts, without impulses from before; neutral and at rest if not called.
  /// @throws SizeMismatch; SingularMechanism if loops are open by more than 1e-3 or at a dead
  ///         point, or a number is not finite
  void start(In<double> q, In<double> v, double t = 0.0);
  /// Gravity for what follows [m/s²], world axes; the model's if not called.
  void set_gravity(const Vec3<double>& gravity);
  /// Constant forces on independent rates.
  /// @throws SizeMismatch; InvalidModel for a number that is not finite
  void set_forces(In<double> tau);
  /// Constant wrenches on links, or null; they are not copied.
  void set_wrenches(const Wrenches<double>* wrenches) { state_.wrenches = wrenches; }
  /// Of drive k of the options: position, rate and torque besides.
  void set_target(int drive, double position, double rate = 0.0, double torque = 0.0);
  /// Rates of held rows, in their order. @throws SizeMismatch
  void set_held_rates(In<double> rates);

  /// One step of length h > 0 [s].
  /// @return contact_unsolved and too_deep are verdicts, not errors: the state moves on
  /// @throws InvalidModel for h, and for a force of a controller that is not finite;
  ///         SingularMechanism where loops cannot be closed on their branch, or
  ///         a number is no longer finite
  StepStatus step(double h);
  /// Derivatives of the step of length h that would come next, by q, v, tau and friction; nothing
  /// moves. Controllers act as constant forces. The registry that it was made from is asked for
  /// the algorithms at the first call.
  /// @throws InvalidModel for h; Unsupported as ContactStepDerivatives::bind()
  /// Valid until the next call.
  const StepDerivatives& derivatives(double h);
  /// Steps of length h, the last one as short as it has to be, until `duration` from now; calls
  /// `output` first, after every `every` steps and at the end. It may return false to stop, as may
  /// `go_on`, which is asked after each step: what it stops at is shown to `output` as the end.
  void run(double duration, double h, int every, const std::function<bool(const Sample&)>& output,
           const std::function<bool()>& go_on = nullptr);

  Sample sample();  ///< the state with its energies, valid until it moves on
  /// Of the last step: all points within the margin. Valid until the next one.
  const std::vector<ContactSample>& contacts() const { return contacts_; }
  /// Force of the last step on every shape of the plan, world axes [N].
  std::vector<Vec3<double>> shape_forces() const;
  /// Natural residual of the last step [m/s].
  double contact_residual() const { return state_.report.residual; }
  /// Rounds that the solver of the last step took.
  double rounds() const { return state_.report.rounds; }
  /// Impulse of the last step on a joint's limits [N·m·s, N·s].
  double limit_impulse(std::string_view joint) const;
  /// Impulse of the last step of a joint's dry friction [N·m·s, N·s].
  double friction_impulse(std::string_view joint) const;
  /// Impulses of the last step on held rows, in their order [N·m·s, N·s].
  std::vector<double> held_impulses() const;

  double time() const { return t_; }                         ///< [s]
  const std::vector<double>& q() const { return state_.q; }  ///< spanning positions, size nq
  const std::vector<double>& v() const { return state_.v; }  ///< independent rates, size nv
  /// Smallest singularity margin of the loops so far, 1 without loops.
  double least_margin() const { return least_margin_; }
  /// Steps so far that were contact_unsolved.
  long long unsolved_steps() const { return unsolved_; }
  /// Steps so far that were too_deep.
  long long deep_steps() const { return deep_; }

 private:
  void close();
  void expect_finite() const;
  void expect_step(double h) const;
  void rescale_memory(StepState<double>& state, double h) const;
  void drive();
  void take_contacts(double h);

  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<ContactStep<double>> step_;
  std::function<std::unique_ptr<ContactStepDerivatives<double>>()> differentiate_;
  std::unique_ptr<ContactStepDerivatives<double>> derivatives_;
  StepDerivatives derivative_;
  Vec3<double> gravity_;
  std::unique_ptr<Energy<double>> energy_;
  std::vector<std::unique_ptr<Controller>> controllers_;
  SpanningMotion<double> motion_;
  PassiveForces passive_;
  LoopProjector loops_;
  MarginTrend margins_;
  StepState<double> state_;
  std::vector<ContactSample> contacts_;
  std::vector<double> qd_;
  double t_ = 0.0, least_margin_ = 1.0, last_step_ = 0.0;
  long long unsolved_ = 0, deep_ = 0;
};

/// Compiled once.
extern template std::unique_ptr<ContactStep<double>> make_step<double>(
    const Registry&, const std::shared_ptr<const Plan>&, const StepNames&);
/// Compiled once.
extern template std::unique_ptr<ContactStep<Pack>> make_step<Pack>(
    const Registry&, const std::shared_ptr<const Plan>&, const StepNames&);

}  // namespace espalier::contact
