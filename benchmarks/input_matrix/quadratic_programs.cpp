#include "benchmarks/input_matrix/quadratic_programs.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

#include "benchmarks/input_matrix/measure.hpp"
#include "benchmarks/robot.hpp"
#include "espalier/control/input_bounds.hpp"
#include "espalier/kernel/problems/dynamics/bias_force.hpp"
#include "espalier/kernel/problems/dynamics/mass_matrix.hpp"
#include "espalier/kernel/problems/kinematics/forward_kinematics.hpp"
#include "espalier/kernel/problems/kinematics/jacobian.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

namespace espalier::bench {

namespace {

using Clock = std::chrono::steady_clock;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Verdict = QuadraticProgramSolver::Verdict;

/// Weight of |u|² beside the tasks' errors: it makes the inputs unique.
constexpr double weight_of_inputs = 1e-3;
constexpr double torque = 40.0;  ///< of every motor [N·m]; assumed
constexpr double friction = 0.6;
constexpr int rounds = 5;

const char* const held[] = {"torso", "right_leg.knee_ankle.link2", "left_leg.knee_ankle.link2"};

template <class M>
void write(const M& from, std::vector<double>& to, int columns, int row, int column) {
  Eigen::Map<Matrix>(to.data(), static_cast<long>(to.size()) / columns, columns)
      .block(row, column, from.rows(), from.cols()) = from;
}

/// What both programs minimise and obey.
class Task {
 public:
  Task(Setup setup, bool limited) : setup_(std::move(setup)) {
    TaskControlSetup control;
    for (const Input& input : setup_.inputs) {
      if (!input.joint.empty()) {
        control.motors.push_back({.joint = input.joint, .lower = -torque, .upper = torque});
      } else {
        control.contacts.push_back({.name = input.name,
                                    .link = input.contact.link,
                                    .offset = input.contact.offset,
                                    .friction = friction});
      }
    }
    const InputBounds bounds(*setup_.model, control);
    if (limited) C_ = bounds.C, lower_ = bounds.lower, upper_ = bounds.upper;
    for (const char* link : held) setup_.end_effectors.push_back(EndEffector::weld(link));
    wanted_ = Vector::Zero(6 * std::size(held));
    wanted_[5] = 1.0;  // the trunk upward [m/s²]
  }
  const Setup& setup() const { return setup_; }
  const Model& model() const { return *setup_.model; }
  int rows() const { return static_cast<int>(C_.rows()); }
  const Vector& wanted() const { return wanted_; }

  /// Ranges of motors and pyramids of contacts, from a row on, of inputs from a column on.
  void limit(QuadraticProgram& p, int row, int column) const {
    write(C_, p.A, p.variables(), row, column);
    std::copy(lower_.begin(), lower_.end(), p.row_lower.begin() + row);
    std::copy(upper_.begin(), upper_.end(), p.row_upper.begin() + row);
  }

 private:
  Setup setup_;
  Matrix C_{0, 0};
  Vector lower_, upper_, wanted_;
};

/// Equation (2).
class InputsAlone {
 public:
  InputsAlone(const Host& host, const Task& task)
      : task_(task), iim_(host.create<InputMatrix<double>>("iim", task.setup())) {
    program_.resize(iim_->inputs().size(), task.rows());
  }
  const QuadraticProgram& set_up(const RandomState& s) {
    const auto& a = iim_->evaluate(s.q, s.v, s.tau);
    const int m = program_.variables();
    const Eigen::Map<const Matrix> response(a.task_input_matrix.data(), iim_->task_size(), m);
    const Eigen::Map<const Vector> free(a.task_free_acceleration.data(), iim_->task_size());
    Eigen::Map<Matrix> H(program_.H.data(), m, m);
    H.noalias() = response.transpose() * response;
    H.diagonal().array() += weight_of_inputs;
    Eigen::Map<Vector>(program_.g.data(), m).noalias() =
        response.transpose() * (free - task_.wanted());
    task_.limit(program_, 0, 0);
    return program_;
  }
  int equations() const { return 0; }
  const InputMatrix<double>& matrix() const { return *iim_; }

 private:
  const Task& task_;
  std::unique_ptr<InputMatrix<double>> iim_;
  QuadraticProgram program_;
};

/// Equation (1).
class WithMotion {
 public:
  WithMotion(const Host& host, const Task& task)
      : task_(task),
        columns_(task.model(), task.setup().inputs),
        crba_(host.create<MassMatrix<double>>("crba", {task.setup().model})),
        bias_(host.create<BiasForce<double>>("rnea", {task.setup().model})),
        jacobians_(host.create<BodyJacobians<double>>("body-jacobians", {task.setup().model})),
        kinematics_(host.create<Kinematics<double>>("forward-kinematics", {task.setup().model})),
        zero_(task.model().nv(), 0.0),
        h_(task.model().nv()) {
    const int nv = task.model().nv();
    program_.resize(nv + columns_.size(), nv + task.rows());
    M_.resize(nv, nv), B_ = Matrix::Zero(nv, columns_.size());
    J_.resize(task.wanted().size(), nv), J_contact_.resize(6, nv);
  }
  const QuadraticProgram& set_up(const RandomState& s) {
    const Model& model = task_.model();
    const int nv = model.nv(), n = program_.variables();
    crba_->evaluate(s.q, M_);
    bias_->evaluate(s.q, s.v, h_);
    jacobians_->evaluate(s.q);
    kinematics_->evaluate(s.q, s.v, zero_);
    error_ = -task_.wanted();
    for (std::size_t k = 0; k < std::size(held); ++k) {
      const Link& link = model.link(held[k]);
      Matrix J(6, nv);
      jacobians_->jacobian(link, J);
      J_.middleRows(6 * static_cast<long>(k), 6) = J;
      const Motion<double> bias = kinematics_->acceleration(link);
      for (int i = 0; i < 6; ++i) error_[6 * static_cast<long>(k) + i] += bias[i];
    }
    fill_B();
    write(J_.transpose() * J_, program_.H, n, 0, 0);
    for (int i = nv; i < n; ++i) program_.H[static_cast<std::size_t>(i) * n + i] = weight_of_inputs;
    Eigen::Map<Vector>(program_.g.data(), nv).noalias() = J_.transpose() * error_;
    write(M_, program_.A, n, 0, 0);
    write(-B_, program_.A, n, 0, nv);
    for (int i = 0; i < nv; ++i) {
      program_.row_lower[i] = program_.row_upper[i] = s.tau[i] - h_[i];
    }
    task_.limit(program_, nv, nv);
    return program_;
  }
  int equations() const { return task_.model().nv(); }

  /// Largest relative difference of program (2) from this one with its accelerations eliminated, at
  /// the state of the last set_up().
  double difference(const QuadraticProgram& alone) const {
    const int nv = task_.model().nv(), m = alone.variables();
    const Eigen::LDLT<Eigen::MatrixXd> factor{Eigen::MatrixXd(M_)};
    const Eigen::MatrixXd response = J_ * factor.solve(Eigen::MatrixXd(B_));
    const Vector force = Eigen::Map<const Vector>(program_.row_lower.data(), nv);
    const Vector g = response.transpose() * (error_ + J_ * factor.solve(force));
    Eigen::MatrixXd H = response.transpose() * response;
    H.diagonal().array() += weight_of_inputs;
    const Eigen::Map<const Matrix> alone_H(alone.H.data(), m, m);
    const Eigen::Map<const Vector> alone_g(alone.g.data(), m);
    return std::max((alone_H - H).cwiseAbs().maxCoeff() / H.cwiseAbs().maxCoeff(),
                    (alone_g - g).cwiseAbs().maxCoeff() / g.cwiseAbs().maxCoeff());
  }

 private:
  /// Motors act on rates that are independent here; contacts by the Jacobians of their links.
  void fill_B() {
    const Model& model = task_.model();
    for (const auto& motor : columns_.motors()) {
      const auto& rates = model.independent_rates();
      const auto at = std::find(rates.begin(), rates.end(), motor.rate);
      B_(at - rates.begin(), motor.column) = motor.gain;
    }
    int column = static_cast<int>(columns_.motors().size());
    for (const Input& input : task_.setup().inputs) {
      if (!input.joint.empty()) continue;
      const Link& link = model.link(input.contact.link);
      jacobians_->jacobian(link, J_contact_);
      const Mat3<double> E = kinematics_->placement(link).E;
      for (int axis = 0; axis < 3; ++axis, ++column) {
        Vec3<double> e = Vec3<double>::zero();
        e[axis] = 1.0;
        const Vec3<double> f = E * e, n = cross(input.contact.offset, f);
        for (int j = 0; j < model.nv(); ++j) {
          double sum = 0.0;
          for (int i = 0; i < 3; ++i) sum += n[i] * J_contact_(i, j) + f[i] * J_contact_(i + 3, j);
          B_(j, column) = sum;
        }
      }
    }
  }

  const Task& task_;
  InputColumns columns_;
  std::unique_ptr<MassMatrix<double>> crba_;
  std::unique_ptr<BiasForce<double>> bias_;
  std::unique_ptr<BodyJacobians<double>> jacobians_;
  std::unique_ptr<Kinematics<double>> kinematics_;
  std::vector<double> zero_, h_;
  Matrix M_, B_, J_, J_contact_;
  Vector error_;
  QuadraticProgram program_;
};

/// Times a way over all states.
template <class Way>
ProgramTimes take(Way& way, QuadraticProgramSolver& solver,
                  const std::vector<RandomState>& states) {
  const auto ns = [](Clock::time_point a, Clock::time_point b) {
    return std::chrono::duration<double, std::nano>(b - a).count();
  };
  ProgramTimes out;
  out.setup_ns = out.solve_ns = std::numeric_limits<double>::infinity();
  for (int round = 0; round < rounds; ++round) {
    double setup = 0.0, solve = 0.0;
    for (const RandomState& s : states) {
      const auto start = Clock::now();
      const QuadraticProgram& program = way.set_up(s);
      const auto middle = Clock::now();
      const auto& solution = solver.solve(program);
      solve += ns(middle, Clock::now()), setup += ns(start, middle);
      out.unsolved += round == 0 && solution.verdict != Verdict::solved;
      out.variables = program.variables();
      out.equations = way.equations();
      out.rows = program.rows() - way.equations();
    }
    const double n = static_cast<double>(states.size());
    out.setup_ns = std::min(out.setup_ns, setup / n);
    out.solve_ns = std::min(out.solve_ns, solve / n);
  }
  return out;
}

}  // namespace

Programs measure_programs(const Host& host, const std::string& solver_name, bool limited) {
  const Task task(humanoid(host, false), limited);
  std::vector<RandomState> states = random_states(task.model());
  for (RandomState& s : states) {
    for (double& v : s.v) v *= 0.1;  // of a robot that stands
    std::fill(s.tau.begin(), s.tau.end(), 0.0);
  }
  const auto solver = host.registry().create_qp_solver(solver_name);
  InputsAlone alone(host, task);
  WithMotion with(host, task);
  Programs out;
  for (const RandomState& s : states) {
    with.set_up(s);
    out.difference = std::max(out.difference, with.difference(alone.set_up(s)));
  }
  out.with_motion = take(with, *solver, states);
  out.inputs_alone = take(alone, *solver, states);
  return out;
}

}  // namespace espalier::bench
