#include "espalier/control/task_control.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <set>

#include "espalier/control/input_bounds.hpp"
#include "espalier/control/least_squares_hierarchy.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

namespace {

using text::number;
using text::quoted;
using QpVerdict = QuadraticProgramSolver::Verdict;

template <class E = InvalidModel>
[[noreturn]] void refuse(const std::string& who, const std::string& is,
                         const std::string& expected) {
  throw E("task control: " + who + ": " + is + ", expected " + expected);
}

/// Independent rates of joints, in order.
std::vector<int> rates_of(const std::string& who, const Model& model, const JointRows& rows) {
  std::vector<std::string> joints = rows.joints;
  if (joints.empty()) {
    for (const Input& motor : motors(model)) joints.push_back(motor.joint);
  }
  std::vector<int> rates;
  for (const std::string& joint : joints) {
    const std::size_t before = rates.size();
    const std::string& name = model.joint(joint).name;  // throws if unknown
    for (const Coordinate& c : model.coordinates()) {
      if (c.joint != name) continue;
      for (int k = 0; k < c.size; ++k) rates.push_back(c.start + k);
    }
    if (rates.size() == before) {
      refuse<Unsupported>(who, "joint " + quoted(joint) + " depends on others",
                          "joints with independent rates");
    }
  }
  if (rates.empty()) {
    refuse<SizeMismatch>(who, "number of joints is 0", "at least one that a motor can turn");
  }
  return rates;
}

template <class Things>
void append_end_effectors(const Things& things, std::vector<EndEffector>& all) {
  for (const auto& thing : things) {
    if (const auto* e = std::get_if<EndEffector>(&thing.rows)) all.push_back(*e);
  }
}

template <class Things>
bool speak_of_center(const Things& things) {
  return std::any_of(things.begin(), things.end(), [](const auto& thing) {
    return std::holds_alternative<CenterOfMassRows>(thing.rows);
  });
}

}  // namespace

std::vector<Input> TaskControlSetup::inputs() const {
  std::vector<Input> all;
  for (const ControlMotor& motor : motors) all.push_back({.joint = motor.joint});
  for (const ControlContact& contact : contacts) {
    all.push_back(
        {.name = contact.name, .contact = EndEffector::contact(contact.link, contact.offset)});
  }
  return all;
}

std::vector<EndEffector> TaskControlSetup::end_effectors() const {
  std::vector<EndEffector> all;
  append_end_effectors(tasks, all);
  append_end_effectors(limits, all);
  return all;
}

bool TaskControlSetup::needs_center_of_mass() const {
  return speak_of_center(tasks) || speak_of_center(limits);
}

/// Rows of one task or limit.
struct TaskControl::Rows {
  enum class Source { end_effector, center_of_mass, joints };
  std::string name;
  Source source = Source::end_effector;
  int source_row = 0;      ///< first among the rows of all end-effectors
  std::vector<int> rates;  ///< of joints
  int first = 0, count = 0;
  std::size_t level = 0;  ///< of tasks: index of its priority
  double weight = 1.0;
};

/// Matrices, all in terms of the inputs u; rows are those of tasks, then those of limits.
struct TaskControl::Numbers {
  Numbers(const Model& model, const TaskControlSetup& setup) : bounds(model, setup) {}

  InputBounds bounds;
  int task_rows = 0, rows = 0;
  Eigen::MatrixXd response;      ///< of all rows to the inputs
  Eigen::VectorXd free, wanted;  ///< rows at u = 0; wanted accelerations of tasks
  Eigen::VectorXd lower, upper;  ///< of the limits' rows
  Eigen::MatrixXd center;        ///< Jacobian of the centre of mass, 3 x nv
  Eigen::Vector3d center_bias;   ///< its acceleration at vdot = 0
  std::vector<LeastSquaresHierarchy::Level> levels;
  LeastSquaresHierarchy::Limits limits;
  LeastSquaresHierarchy hierarchy;
};

TaskControl::~TaskControl() = default;

TaskControl::TaskControl(TaskControlParts parts, const TaskControlSetup& setup)
    : parts_(std::move(parts)) {
  if (parts_.input_matrix == nullptr) refuse("parts", "input matrix is null", "an algorithm");
  if (setup.needs_center_of_mass() && parts_.center_of_mass == nullptr) {
    refuse("parts", "center of mass is null", "an algorithm (tasks or limits speak of it)");
  }
  numbers_ = std::make_unique<Numbers>(model(), setup);
  add_tasks(setup.tasks);
  add_limits(setup.limits);

  Numbers& n = *numbers_;
  const InputMatrix<double>& matrix = *parts_.input_matrix;
  int speaking = 0;
  for (const EndEffector& e : setup.end_effectors()) speaking += static_cast<int>(e.rows.size());
  const int m = matrix.inputs().size(), nv = model().nv();
  if (m != n.bounds.C.cols() || matrix.task_size() != speaking) {
    refuse("parts",
           "input matrix is bound to " + std::to_string(m) + " inputs and " +
               std::to_string(matrix.task_size()) + " rows",
           "those of the setup, " + std::to_string(n.bounds.C.cols()) + " and " +
               std::to_string(speaking) + " (see TaskControlSetup::inputs() and end_effectors())");
  }
  n.response.resize(n.rows, m);
  n.free.resize(n.rows);
  n.wanted = Eigen::VectorXd::Zero(n.task_rows);
  n.center.resize(3, nv);
  answer_.inputs.assign(m, 0.0);
  answer_.vdot.assign(nv, 0.0);
  answer_.accelerations.assign(n.task_rows, 0.0);
  answer_.errors.assign(priorities_.size(), 0.0);
}

void TaskControl::add_tasks(const std::vector<ControlTask>& tasks) {
  if (tasks.empty()) refuse("setup", "number of tasks is 0", "at least one");
  for (const ControlTask& task : tasks) {
    const std::string who = "task " + quoted(task.name);
    if (!(task.weight > 0.0) || !std::isfinite(task.weight)) {
      refuse(who, "weight is " + number(task.weight), "a finite number above 0");
    }
    add_rows(task.name, who, task.rows).weight = task.weight;
    priorities_.push_back(task.priority);
  }
  std::sort(priorities_.begin(), priorities_.end());
  priorities_.erase(std::unique(priorities_.begin(), priorities_.end()), priorities_.end());
  numbers_->levels.resize(priorities_.size());
  tasks_ = rows_.size();
  for (std::size_t k = 0; k < tasks_; ++k) {
    const auto at = std::lower_bound(priorities_.begin(), priorities_.end(), tasks[k].priority);
    rows_[k].level = static_cast<std::size_t>(at - priorities_.begin());
  }
  numbers_->task_rows = numbers_->rows;
}

void TaskControl::add_limits(const std::vector<ControlLimit>& limits) {
  std::vector<double> lower, upper;
  for (const ControlLimit& limit : limits) {
    const std::string who = "limit " + quoted(limit.name);
    const int count = add_rows(limit.name, who, limit.rows).count;
    for (const auto* bounds : {&limit.lower, &limit.upper}) {
      if (static_cast<int>(bounds->size()) == count) continue;
      refuse<SizeMismatch>(
          who, "number of bounds is " + std::to_string(bounds->size()),
          "a lower and an upper one for each of " + std::to_string(count) + " rows");
    }
    for (int i = 0; i < count; ++i) {
      if (limit.lower[i] <= limit.upper[i]) continue;
      refuse(who,
             "range of row " + std::to_string(i) + " is " + number(limit.lower[i]) + " to " +
                 number(limit.upper[i]),
             "a lower bound that is not above the upper one");
    }
    lower.insert(lower.end(), limit.lower.begin(), limit.lower.end());
    upper.insert(upper.end(), limit.upper.begin(), limit.upper.end());
  }
  const auto size = static_cast<long>(lower.size());
  numbers_->lower = Eigen::Map<const Eigen::VectorXd>(lower.data(), size);
  numbers_->upper = Eigen::Map<const Eigen::VectorXd>(upper.data(), size);
}

TaskControl::Rows& TaskControl::add_rows(const std::string& name, const std::string& who,
                                         const ControlRows& rows) {
  Rows r;
  r.name = name;
  for (const Rows& before : rows_) {
    if (before.source == Rows::Source::end_effector) r.source_row += before.count;
    if (before.name != name) continue;
    throw DuplicateName("task control: name " + quoted(name) +
                        " is used twice, expected tasks and limits of names that differ");
  }
  if (const auto* end_effector = std::get_if<EndEffector>(&rows)) {
    r.count = static_cast<int>(end_effector->rows.size());
  } else if (const auto* joints = std::get_if<JointRows>(&rows)) {
    r.source = Rows::Source::joints;
    r.rates = rates_of(who, model(), *joints);
    r.count = static_cast<int>(r.rates.size());
  } else {
    r.source = Rows::Source::center_of_mass;
    r.count = 3;
  }
  r.first = numbers_->rows;
  numbers_->rows += r.count;
  return rows_.emplace_back(std::move(r));
}

const TaskControl::Rows& TaskControl::task(std::string_view name) const {
  std::string known;
  for (std::size_t k = 0; k < tasks_; ++k) {
    if (rows_[k].name == name) return rows_[k];
    known += (known.empty() ? "" : ", ") + rows_[k].name;
  }
  throw UnknownName("task control: task " + quoted(name) + " is unknown, expected " +
                    (tasks_ > 1 ? "one of " : "") + known);
}

int TaskControl::rows(std::string_view name) const { return task(name).count; }
int TaskControl::first_row(std::string_view name) const { return task(name).first; }

void TaskControl::want(std::string_view name, In<double> acceleration) {
  const Rows& rows = task(name);
  const std::string what = "acceleration of task " + quoted(name);
  expect_size("task control", what.c_str(), acceleration.size(), rows.count);
  for (int i = 0; i < rows.count; ++i) {
    if (std::isfinite(acceleration[i])) continue;
    refuse(what, "row " + std::to_string(i) + " is " + number(acceleration[i]), "a finite number");
  }
  std::copy_n(acceleration.data(), rows.count, numbers_->wanted.data() + rows.first);
}

void TaskControl::update_center(In<double> q, In<double> v) {
  CenterOfMass<double>& center = *parts_.center_of_mass;
  const std::size_t nv = model().nv();
  std::vector<double> rest(nv, 0.0), vdot(nv, 0.0);
  const auto vector = [](const Vec3<double>& a) { return Eigen::Vector3d(a.x, a.y, a.z); };
  // At rest the acceleration is J vdot, in motion there is (dJ/dt) v, too.
  for (std::size_t k = 0; k < nv; ++k) {
    vdot[k] = 1.0;
    numbers_->center.col(static_cast<long>(k)) =
        vector(center.evaluate(q, rest, vdot).acceleration);
    vdot[k] = 0.0;
  }
  numbers_->center_bias = vector(center.evaluate(q, v, vdot).acceleration);
}

void TaskControl::update_rows(In<double> q, In<double> v,
                              const InputMatrix<double>::Answer& answer) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Numbers& n = *numbers_;
  const long nv = model().nv(), m = n.response.cols(), t = parts_.input_matrix->task_size();
  const Eigen::Map<const RowMajor> Bhat(answer.input_matrix.data(), nv, m);
  const Eigen::Map<const RowMajor> JBhat(answer.task_input_matrix.data(), t, m);
  const Eigen::Map<const Eigen::VectorXd> free(answer.free_acceleration.data(), nv);
  const Eigen::Map<const Eigen::VectorXd> Jfree(answer.task_free_acceleration.data(), t);
  if (parts_.center_of_mass != nullptr) update_center(q, v);
  for (const Rows& rows : rows_) {
    auto response = n.response.middleRows(rows.first, rows.count);
    auto at_zero = n.free.segment(rows.first, rows.count);
    switch (rows.source) {
      case Rows::Source::end_effector:
        response = JBhat.middleRows(rows.source_row, rows.count);
        at_zero = Jfree.segment(rows.source_row, rows.count);
        break;
      case Rows::Source::joints:
        for (int i = 0; i < rows.count; ++i) {
          response.row(i) = Bhat.row(rows.rates[i]);
          at_zero[i] = free[rows.rates[i]];
        }
        break;
      case Rows::Source::center_of_mass:
        response = n.center * Bhat;
        at_zero = n.center * free + n.center_bias;
        break;
    }
  }
  if (n.response.allFinite() && n.free.allFinite()) return;
  throw SingularMechanism("task control of '" + model().name() +
                          "': the answer to the inputs is not finite, expected numbers (is the "
                          "state finite, or the mechanism singular there?)");
}

void TaskControl::set_up_levels() {
  Numbers& n = *numbers_;
  for (std::size_t level = 0; level < n.levels.size(); ++level) {
    LeastSquaresHierarchy::Level& l = n.levels[level];
    long count = 0;
    for (std::size_t k = 0; k < tasks_; ++k) count += rows_[k].level == level ? rows_[k].count : 0;
    l.A.resize(count, n.response.cols());
    l.b.resize(count);
    long row = 0;
    for (std::size_t k = 0; k < tasks_; ++k) {
      const Rows& rows = rows_[k];
      if (rows.level != level) continue;
      const double root = std::sqrt(rows.weight);
      l.A.middleRows(row, rows.count) = root * n.response.middleRows(rows.first, rows.count);
      l.b.segment(row, rows.count) = root * (n.wanted.segment(rows.first, rows.count) -
                                             n.free.segment(rows.first, rows.count));
      row += rows.count;
    }
  }
}

void TaskControl::set_up_limits() {
  Numbers& n = *numbers_;
  const long inputs = n.bounds.C.rows(), limits = n.rows - n.task_rows;
  n.limits.C.resize(inputs + limits, n.response.cols());
  n.limits.C << n.bounds.C, n.response.bottomRows(limits);
  n.limits.lower.resize(inputs + limits);
  n.limits.upper.resize(inputs + limits);
  n.limits.lower << n.bounds.lower, n.lower - n.free.tail(limits);
  n.limits.upper << n.bounds.upper, n.upper - n.free.tail(limits);
  for (long k = 0; k < n.limits.C.rows(); ++k) {
    const double length = n.limits.C.row(k).norm();
    if (!(length > 0.0)) continue;  // no input acts on it
    n.limits.C.row(k) /= length;
    n.limits.lower[k] /= length;
    n.limits.upper[k] /= length;
  }
}

const TaskControl::Answer& TaskControl::evaluate(In<double> q, In<double> v, In<double> tau,
                                                 const Wrenches<double>* wrenches) {
  Numbers& n = *numbers_;
  const InputMatrix<double>::Answer& answer = parts_.input_matrix->evaluate(q, v, tau, wrenches);
  update_rows(q, v, answer);
  set_up_levels();
  set_up_limits();
  const auto outcome = n.hierarchy.solve(n.levels, n.bounds.weights, n.limits, parts_.solver.get());
  answer_.iterations = outcome.iterations;
  if (outcome.verdict != QpVerdict::solved) {
    const bool last = outcome.level == priorities_.size();
    const std::string which =
        last ? "least inputs" : "priority " + std::to_string(priorities_[outcome.level]);
    if (outcome.verdict == QpVerdict::infeasible) {
      throw SingularMechanism("task control of '" + model().name() + "': program of " + which +
                              " is infeasible, expected inputs that obey all limits (widen "
                              "ranges of motors, contacts or limits)");
    }
    throw SingularMechanism("task control of '" + model().name() + "': program of " + which +
                            " is left unsolved by the QP solver, expected a solution (look for "
                            "weights or ranges of very different size)");
  }
  report(answer);
  return answer_;
}

void TaskControl::report(const InputMatrix<double>::Answer& answer) {
  const Numbers& n = *numbers_;
  const Eigen::VectorXd& u = n.hierarchy.x();
  Eigen::Map<Eigen::VectorXd>(answer_.inputs.data(), u.size()) = u;
  const std::size_t m = answer_.inputs.size();
  for (std::size_t i = 0; i < answer_.vdot.size(); ++i) {
    answer_.vdot[i] = answer.free_acceleration[i];
    for (std::size_t j = 0; j < m; ++j) {
      answer_.vdot[i] += answer.input_matrix[i * m + j] * answer_.inputs[j];
    }
  }
  const Eigen::VectorXd reached = n.response * u + n.free;
  std::copy_n(reached.data(), n.task_rows, answer_.accelerations.begin());
  std::fill(answer_.errors.begin(), answer_.errors.end(), 0.0);
  for (std::size_t k = 0; k < tasks_; ++k) {
    const Eigen::VectorXd missed = reached.segment(rows_[k].first, rows_[k].count) -
                                   n.wanted.segment(rows_[k].first, rows_[k].count);
    answer_.errors[rows_[k].level] += rows_[k].weight * missed.squaredNorm();
  }
  for (double& error : answer_.errors) error = std::sqrt(error);
  const auto missed = [](const Eigen::VectorXd& x, const Eigen::VectorXd& lower,
                         const Eigen::VectorXd& upper) {
    return x.size() == 0 ? 0.0 : std::max((lower - x).maxCoeff(), (x - upper).maxCoeff());
  };
  answer_.violation = std::max({0.0, missed(n.bounds.C * u, n.bounds.lower, n.bounds.upper),
                                missed(reached.tail(n.rows - n.task_rows), n.lower, n.upper)});
}

void TaskControl::drive(double* forces) const {
  for (const InputColumns::Motor& motor : parts_.input_matrix->inputs().motors()) {
    forces[motor.rate] += answer_.inputs[motor.column];
  }
}

std::unique_ptr<TaskControl> make_task_control(const Host& host, const ModelPtr& model,
                                               const TaskControlSetup& setup,
                                               const TaskControlNames& names) {
  TaskControlParts parts;
  parts.input_matrix = host.create<InputMatrix<double>>(
      names.input_matrix, Setup{model, setup.end_effectors(), setup.inputs()});
  if (setup.needs_center_of_mass()) {
    parts.center_of_mass = host.create<CenterOfMass<double>>(names.center_of_mass, model);
  }
  if (!names.solver.empty()) parts.solver = host.registry().create_qp_solver(names.solver);
  return std::make_unique<TaskControl>(std::move(parts), setup);
}

}  // namespace espalier
