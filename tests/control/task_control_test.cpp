#include "espalier/control/task_control.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>

#include "espalier/kernel/problems/operational_space/input_matrix.hpp"
#include "tests/control/standing.hpp"

// Inputs that bring tasks near to wanted accelerations, against dense linear algebra and against
// forward dynamics.

namespace espalier::test::task_control_test {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

TEST(TaskControl, AnswerIsWhatForwardDynamicsGive) {
  for (const std::string& solver : all_solvers()) {
    for (unsigned long long seed = 0; seed < 5; ++seed) {
      const Standing s(seed);
      const auto control = s.control(solver, seed, 2.0);
      const auto& answer = control->evaluate(s.state.q, s.state.v, s.state.tau);
      // Two recursions against one another: rounding.
      EXPECT_LE(missed(s, *control, answer), 1e-9) << solver << " " << seed;
      const Wrenches<double> push = s.state.wrenches(s.robot);
      const auto& pushed = control->evaluate(s.state.q, s.state.v, s.state.tau, &push);
      EXPECT_LE(missed(s, *control, pushed, &push), 1e-9) << solver << " " << seed;
    }
  }
}

/// Random rows of every source at one priority, on a random robot; all motors.
TaskControlSetup random_setup(const TaskCase& c, unsigned long long seed) {
  Rng rng(seed);
  TaskControlSetup setup;
  for (const Input& motor : motors(c.model())) {
    setup.motors.push_back({.joint = motor.joint, .weight = rng.uniform(0.5, 2.0)});
  }
  setup.contacts.push_back({.name = "push", .link = c.model().links().back().name});
  int k = 0;
  for (const EndEffector& e : c.setup.end_effectors) {
    setup.tasks.push_back(
        {.name = "rows " + std::to_string(k++), .rows = e, .weight = rng.uniform(0.5, 2.0)});
  }
  setup.tasks.push_back({.name = "centre", .rows = CenterOfMassRows{}, .weight = 0.7});
  return setup;
}

TEST(TaskControl, LeastSquaresAreTheDensePseudoInverse) {
  int compared = 0;
  for_each_task([&](const TaskCase& c) {
    const TaskControlSetup setup = random_setup(c, 7);
    const Entry& iim = host().registry().find_algorithm("input-matrix", "iim");
    if (setup.motors.empty() || !host().registry().can(iim, c.model()).ok) return;
    const auto control = make_task_control(host(), c.setup.model, setup);
    Rng rng(11);
    std::vector<double> wanted;
    for (const ControlTask& task : setup.tasks) {
      const std::vector<double> a = rng.vector(control->rows(task.name), 3.0);
      control->want(task.name, a);
      wanted.insert(wanted.end(), a.begin(), a.end());
    }
    const State& s = c.state;
    const auto& answer = control->evaluate(s.q, s.v, s.tau);

    // All rows and columns by the dense oracle; the centre of mass by its acceleration.
    const auto dense = host().create<InputMatrix<double>>(
        "dense", espalier::Setup{c.setup.model, setup.end_effectors(), setup.inputs()});
    const auto& matrix = dense->evaluate(s.q, s.v, s.tau);
    const auto center = any<CenterOfMass<double>>(c.setup.model);
    const long nv = c.model().nv(), m = static_cast<long>(answer.inputs.size()),
               t = dense->task_size();
    const Eigen::Map<const RowMajor> Bhat(matrix.input_matrix.data(), nv, m);
    Eigen::MatrixXd A(t + 3, m);
    Eigen::VectorXd b(t + 3);
    A.topRows(t) = Eigen::Map<const RowMajor>(matrix.task_input_matrix.data(), t, m);
    b.head(t) = Eigen::Map<const Eigen::VectorXd>(matrix.task_free_acceleration.data(), t);
    const auto of_center = [&](const std::vector<double>& vdot) {
      const Vec3<double> a = center->evaluate(s.q, s.v, vdot).acceleration;
      return Eigen::Vector3d(a.x, a.y, a.z);
    };
    b.tail<3>() = of_center(matrix.free_acceleration);
    for (long j = 0; j < m; ++j) {
      std::vector<double> vdot = matrix.free_acceleration;
      for (long i = 0; i < nv; ++i) vdot[i] += Bhat(i, j);
      A.bottomRows<3>().col(j) = of_center(vdot) - b.tail<3>();
    }
    b = Eigen::Map<const Eigen::VectorXd>(wanted.data(), t + 3) - b;
    long row = 0;
    for (const ControlTask& task : setup.tasks) {
      const long count = control->rows(task.name);
      A.middleRows(row, count) *= std::sqrt(task.weight);
      b.segment(row, count) *= std::sqrt(task.weight);
      row += count;
    }
    Eigen::VectorXd scale = Eigen::VectorXd::Ones(m);
    for (std::size_t j = 0; j < setup.motors.size(); ++j) {  // one rate each, checked below
      scale[static_cast<long>(j)] = 1.0 / std::sqrt(setup.motors[j].weight);
    }
    if (m != static_cast<long>(setup.motors.size()) + 3) return;
    A *= scale.asDiagonal();
    Eigen::JacobiSVD<Eigen::MatrixXd> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const Eigen::VectorXd sigma = svd.singularValues();
    long rank = 0;
    while (rank < sigma.size() && sigma[rank] > 1e-9 * sigma[0]) ++rank;
    // Where the rank is a matter of taste, so is the answer.
    if (rank < sigma.size() && sigma[rank] > 1e-12 * sigma[0]) return;
    if (sigma[rank - 1] < 1e-6 * sigma[0]) return;
    const Eigen::VectorXd y = svd.matrixU().leftCols(rank).transpose() * b;
    const Eigen::VectorXd u =
        scale.cwiseProduct(svd.matrixV().leftCols(rank) * y.cwiseQuotient(sigma.head(rank)));
    // Rounding of 1e-13 (armatures and ratios) times the condition, 1e6 at most.
    EXPECT_LE(relative_difference(answer.inputs, {u.data(), u.data() + m}), 1e-7);
    ++compared;
  });
  EXPECT_GE(compared, 100);
}

TEST(TaskControl, LowerPrioritiesNeverDisturbHigherOnes) {
  for (const std::string& solver : all_solvers()) {
    for (unsigned long long seed = 0; seed < 6; ++seed) {
      Standing s(seed);
      const auto all = s.control(solver, seed, 5.0);
      const auto full = all->evaluate(s.state.q, s.state.v, s.state.tau);
      for (const int last : {0, 1, 2}) {
        Standing fewer(seed);
        std::erase_if(fewer.setup.tasks,
                      [&](const ControlTask& task) { return task.priority > last; });
        const auto some = fewer.control(solver, seed, 5.0);
        const auto part = some->evaluate(s.state.q, s.state.v, s.state.tau);
        const std::vector<double> rows(
            full.accelerations.begin(),
            full.accelerations.begin() + static_cast<long>(part.accelerations.size()));
        // What a priority has reached is kept by null spaces: rounding, times inputs of 100.
        EXPECT_LE(relative_difference(rows, part.accelerations), solver.empty() ? 1e-9 : 1e-6)
            << solver << ", seed " << seed << ", up to priority " << last;
      }
      ASSERT_EQ(all->priorities(), (std::vector{0, 1, 2, 5}));
      EXPECT_EQ(full.errors.size(), 4u);
    }
  }
}

TEST(TaskControl, LeastSquaresTellByHowMuchLimitsAreMissed) {
  Standing s(1, 0.5);
  const auto control = s.control("", 1, 5.0);
  const auto& answer = control->evaluate(s.state.q, s.state.v, s.state.tau);
  double most = 0.0;
  for (std::size_t j = 0; j < s.setup.motors.size(); ++j) {
    most = std::max(most, std::abs(answer.inputs[j]) - 0.5);
  }
  EXPECT_GT(most, 0.0);
  EXPECT_GE(answer.violation, most);
}

TEST(TaskControl, RowsOfADependentJointAreRefused) {
  const Standing s(0);
  TaskControlSetup setup = s.setup;
  std::string rotor;
  for (const Joint& joint : s.robot->joints()) {
    if (joint.independent < 0) rotor = joint.name;
  }
  setup.tasks = {{.name = "spin", .rows = JointRows{{rotor}}}};
  try {
    make_task_control(host(), s.robot, setup);
    FAIL() << "no error";
  } catch (const Unsupported& error) {
    EXPECT_EQ(std::string(error.what()), "task control: task 'spin': joint '" + rotor +
                                             "' depends on others, expected joints with "
                                             "independent rates");
  }
}

TEST(TaskControl, BadWishesAreRefusedByName) {
  const Standing s(0);
  const auto control = s.control("", 0, 1.0);
  EXPECT_THROW(control->want("balanse", std::vector{0.0, 0.0, 0.0}), UnknownName);
  EXPECT_THROW(control->want("balance", std::vector{0.0}), SizeMismatch);
  try {
    control->want("balance", std::vector{0.0, std::numeric_limits<double>::infinity(), 0.0});
    FAIL() << "no error";
  } catch (const InvalidModel& error) {
    EXPECT_STREQ(error.what(),
                 "task control: acceleration of task 'balance': row 1 is inf, expected a finite "
                 "number");
  }
  std::vector<double> q = s.state.q;
  q[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(control->evaluate(q, s.state.v, s.state.tau), SingularMechanism);
}

}  // namespace
}  // namespace espalier::test::task_control_test
