#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "espalier/host/host.hpp"
#include "espalier/kernel/problems/kinematics/center_of_mass.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"
#include "espalier/kernel/problems/quadratic_program.hpp"

/// Control of tasks by all that acts on a robot, on top of the problem `input-matrix`. It is in the
/// kernel since it needs interfaces only; Host::task_control() makes one of plugins by their names.
///
///   espalier::TaskControlSetup setup;
///   setup.motors = {{.joint = "hip"}, {.joint = "knee", .lower = -40, .upper = 40}};
///   setup.contacts = {{.name = "toe", .link = "foot", .offset = {0.1, 0, -0.04}, .friction =
///   0.7}}; setup.tasks = {{.name = "stand", .rows = espalier::EndEffector::contact("foot")},
///                  {.name = "balance", .rows = espalier::CenterOfMassRows{}, .priority = 1}};
///   auto control = make_task_control(host, robot, setup, {.solver = "alglib"});
///   control->want("balance", std::array{0.0, 0.0, 0.5});
///   const auto& answer = control->evaluate(q, v, tau);  // answer.inputs, by input_names()

namespace espalier {

/// Forces that a joint can take: a motor anywhere on the spanning tree, rotors behind gears
/// included.
struct ControlMotor {
  std::string joint;  ///< its name
  /// Range of its force [N·m, N]; where not given, the effort in the joint's limits, if it has one.
  std::optional<double> lower = {};
  std::optional<double> upper = {};  ///< likewise
  double weight = 1.0;               ///< of its square, where something is left to choose; above 0
};

/// A point at which the surroundings push. Its three inputs are the force on the robot, world axes.
struct ControlContact {
  std::string name = {};                     ///< of its inputs: "name[0]", ...; empty: the link's
  std::string link;                          ///< that is pushed
  Vec3<double> offset{0, 0, 0};              ///< of the point from the link's origin, link axes [m]
  double friction = 0.5;                     ///< Coulomb's coefficient
  Vec3<double> normal{0, 0, 1};              ///< towards the robot, world axes
  double least = 0.0;                        ///< range of the normal force [N], not below 0
  double most = QuadraticProgram::infinity;  ///< likewise
  int sides = 4;        ///< of the pyramid that is taken for the friction cone and lies inside it
  double weight = 1.0;  ///< as of motors
};

/// The acceleration of the centre of mass, three rows in world axes.
struct CenterOfMassRows {};
/// Independent accelerations of joints, as many rows as they have.
struct JointRows {
  std::vector<std::string> joints = {};  ///< empty: all but free joints of six rates
};
/// Which accelerations a task or a limit speaks of.
using ControlRows = std::variant<EndEffector, CenterOfMassRows, JointRows>;

/// Accelerations that are wanted: see TaskControl::want().
struct ControlTask {
  std::string name;     ///< by which it is asked for
  ControlRows rows;     ///< which accelerations
  int priority = 0;     ///< a lower number goes first, and is never disturbed by a higher one
  double weight = 1.0;  ///< against other tasks of its priority; above 0
};

/// Accelerations that must stay in a range, whatever the tasks are.
struct ControlLimit {
  std::string name;           ///< for messages
  ControlRows rows;           ///< which accelerations
  std::vector<double> lower;  ///< for each row [rad/s², m/s²]
  std::vector<double> upper;  ///< likewise
};

/// Inputs, tasks and limits of a robot.
struct ESPALIER_API TaskControlSetup {
  std::vector<ControlMotor> motors = {};      ///< inputs: forces of joints
  std::vector<ControlContact> contacts = {};  ///< inputs: forces of the surroundings
  std::vector<ControlTask> tasks = {};        ///< at least one
  std::vector<ControlLimit> limits = {};      ///< heeded with a solver of programs alone

  // What the input matrix is bound to.
  std::vector<Input> inputs() const;               ///< motors, then contacts
  std::vector<EndEffector> end_effectors() const;  ///< of tasks, then of limits
  bool needs_center_of_mass() const;               ///< whether any rows speak of it
};

/// What task control is made of, all bound to one model.
struct TaskControlParts {
  /// Bound to inputs() and end_effectors() of the setup.
  std::unique_ptr<InputMatrix<double>> input_matrix;
  std::unique_ptr<CenterOfMass<double>> center_of_mass;  ///< null where no rows speak of it
  std::unique_ptr<QuadraticProgramSolver> solver;        ///< null: least squares
};

/// Finds the inputs u that bring the accelerations J vdot + (dJ/dt) v of tasks as near to the
/// wanted ones as can be, in the sense of weighted least squares, priority by priority; what is
/// left to choose after the last one makes the weighted sum of u² as small as it can be.
///
/// Without a solver of quadratic programs that is unconstrained least squares, equation (2) of the
/// paper: limits, friction and signs of contact forces are then not heeded, and Answer::violation
/// tells by how much they are missed. With one, every input stays in its range, contact forces in
/// their pyramids and limited accelerations in their ranges: each priority is one program, in which
/// what the ones before have reached is kept exactly since it varies in their null space only.
///
/// Contacts are inputs: that a foot does not move is a task, usually of the first priority.
/// Belongs to one thread. evaluate() allocates.
/// Cost: the input matrix; then O(r m²) for r rows of tasks and m inputs, and the programs.
/// Source: Krög, Gattringer, Müller, equations (1) to (5); Kanoun, Lamiraux, Wieber (2011).
class ESPALIER_API TaskControl {
 public:
  /// What evaluate() found.
  struct Answer {
    std::vector<double> inputs;         ///< u, by input_names() [N·m, N]
    std::vector<double> vdot;           ///< nv
    std::vector<double> accelerations;  ///< of all tasks' rows, in the order of the setup
    /// For each of priorities(): sqrt(sum of weight (reached - wanted)²).
    std::vector<double> errors;
    double violation = 0.0;  ///< largest by which a range is missed [N·m, N, rad/s², m/s²]
    int iterations = 0;      ///< of the solver, all programs together
  };

  /// @throws InvalidModel naming motor, contact, task or limit where a weight is not positive, a
  ///         lower bound is above its upper one, friction or a normal force is negative, a normal
  ///         has no direction, or a number is not finite; where a part is missing or bound to
  ///         another setup; where there are no tasks. UnknownName for joints; Unsupported for rows
  ///         of a dependent joint; DuplicateName for tasks and limits of one name; SizeMismatch for
  ///         ranges of a wrong number of rows
  TaskControl(TaskControlParts parts, const TaskControlSetup& setup);
  ~TaskControl();
  TaskControl(const TaskControl&) = delete;
  TaskControl& operator=(const TaskControl&) = delete;

  const Model& model() const { return parts_.input_matrix->model(); }  ///< the robot
  /// Of Answer::inputs.
  const std::vector<std::string>& input_names() const {
    return parts_.input_matrix->inputs().names();
  }
  /// The different ones, the first first.
  const std::vector<int>& priorities() const { return priorities_; }
  /// Number of rows of a task. @throws UnknownName
  int rows(std::string_view task) const;
  /// Where a task's rows start in Answer::accelerations. @throws UnknownName
  int first_row(std::string_view task) const;

  /// Wanted accelerations of a task for the following calls; zero at first.
  /// @throws UnknownName; SizeMismatch; InvalidModel for a number that is not finite
  void want(std::string_view task, In<double> acceleration);

  /// Gravity for the following calls [m/s²], world axes.
  void set_gravity(const Vec3<double>& g) { parts_.input_matrix->set_gravity(g); }

  /// Finds the inputs for the wanted accelerations.
  /// @param q, v      as in ForwardDynamics
  /// @param tau       forces on the independent rates besides the inputs, as of springs, size nv
  /// @param wrenches  on links besides those of the contacts, or nullptr
  /// @returns an answer that is valid until the next call
  /// @throws SizeMismatch; SingularMechanism where no inputs obey all limits, or where the solver
  ///         ends without a solution, naming the priority
  const Answer& evaluate(In<double> q, In<double> v, In<double> tau,
                         const Wrenches<double>* wrenches = nullptr);

  /// Adds the motors' part of the last answer to forces on spanning rates, as a Controller does.
  /// @param[in,out] forces  size spanning_nv [N·m, N]
  void drive(double* forces) const;

 private:
  struct Rows;     // where rows of tasks and limits come from
  struct Numbers;  // matrices

  void add_tasks(const std::vector<ControlTask>& tasks);
  void add_limits(const std::vector<ControlLimit>& limits);
  Rows& add_rows(const std::string& name, const std::string& who, const ControlRows& rows);
  const Rows& task(std::string_view name) const;
  void update_center(In<double> q, In<double> v);
  void update_rows(In<double> q, In<double> v, const InputMatrix<double>::Answer& answer);
  void set_up_levels();
  void set_up_limits();
  void report(const InputMatrix<double>::Answer& answer);

  TaskControlParts parts_;
  std::vector<Rows> rows_;  ///< of tasks, then of limits
  std::size_t tasks_ = 0;
  std::vector<int> priorities_;
  std::unique_ptr<Numbers> numbers_;
  Answer answer_;
};

/// What task control is made of, by name.
struct TaskControlNames {
  std::string solver{};  ///< of quadratic programs; empty: least squares, which know no limits
  std::string input_matrix = "iim";               ///< algorithm for this problem
  std::string center_of_mass = "center-of-mass";  ///< likewise
};

/// Task control of plugins by their names.
/// @throws UnknownName, Unsupported, as Host::create(); what TaskControl throws
ESPALIER_API std::unique_ptr<TaskControl> make_task_control(const Host& host, const ModelPtr& model,
                                                            const TaskControlSetup& setup,
                                                            const TaskControlNames& names = {});

}  // namespace espalier
