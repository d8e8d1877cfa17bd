#include "espalier/control/task_control.hpp"
#include "espalier/kernel/problems/input_matrix.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>

#include "espalier/kernel/model/spanning_motion.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/task_robots.hpp"

// Inputs that bring tasks near to wanted accelerations, against dense linear algebra and against
// forward dynamics.

namespace espalier::test {
namespace {

using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::vector<ControlMotor> all_motors(const Model& model, double limit) {
  std::vector<ControlMotor> all;
  for (const Input& motor : motors(model)) {
    all.push_back({.joint = motor.joint, .lower = -limit, .upper = limit});
  }
  return all;
}

/// Four legs on the ground, each with a point contact; trunk, centre of mass, posture.
struct Standing {
  ModelPtr robot = host().load(ESPALIER_SOURCE_DIR "/robots/mini_cheetah_geared.yaml",
                               {.root = CompileOptions::Root::floating});
  TaskControlSetup setup;
  State state;

  explicit Standing(unsigned long long seed, double torque = 18.0) {
    setup.motors = all_motors(*robot, torque);
    EndEffector trunk =
        EndEffector::weld(robot->links()[0].name, {0, 0, 0}, EndEffector::Axes::world);
    for (const EndEffector& tip : tips(*robot)) {
      if (tip.link.find("rotor") != std::string::npos) continue;
      setup.contacts.push_back({.name = tip.link + " force",
                                .link = tip.link,
                                .offset = {0, 0, -0.2},
                                .friction = 0.6,
                                .weight = 1e-3});
      setup.tasks.push_back(
          {.name = tip.link, .rows = EndEffector::contact(tip.link, {0, 0, -0.2})});
    }
    setup.tasks.push_back({.name = "balance", .rows = CenterOfMassRows{}, .priority = 1});
    setup.tasks.push_back({.name = "trunk", .rows = trunk, .priority = 2, .weight = 3.0});
    setup.tasks.push_back({.name = "posture", .rows = JointRows{}, .priority = 5});
    state = random_state(*robot, seed);
    Rng rng(seed);
    robot->neutral(state.q.data());
    state.v = rng.vector(robot->nv(), 0.3);
    std::fill(state.tau.begin(), state.tau.end(), 0.0);
    std::vector<double> bent = rng.vector(robot->spanning_nv(), 0.0);
    for (const Coordinate& c : robot->coordinates()) {
      if (c.size == 1) state.q[robot->joint(c.joint).q] = rng.uniform(-0.7, 0.7);
    }
    robot->apply_couplings(state.q.data());
  }

  std::unique_ptr<TaskControl> control(const std::string& solver, unsigned long long seed,
                                       double size) const {
    auto made = make_task_control(host(), robot, setup, {.solver = solver});
    Rng rng(seed);
    for (const ControlTask& task : setup.tasks) {
      made->want(task.name, rng.vector(made->rows(task.name), task.priority == 0 ? 0.0 : size));
    }
    return made;
  }
};

/// By how much forward dynamics under an answer's inputs differ from the answer.
double missed(const Standing& s, const TaskControl& control, const TaskControl::Answer& answer,
              const Wrenches<double>* others = nullptr) {
  const ModelPtr& robot = s.robot;
  Wrenches<double> wrenches(robot);
  if (others != nullptr) wrenches = *others;
  const auto kinematics = any<Kinematics<double>>(robot);
  kinematics->evaluate(s.state.q, s.state.v, s.state.v);
  std::size_t column = answer.inputs.size() - 3 * s.setup.contacts.size();
  for (const ControlContact& contact : s.setup.contacts) {
    const double* f = &answer.inputs[column];
    const Vec3<double> force =
        kinematics->placement(robot->link(contact.link)).E * Vec3<double>{f[0], f[1], f[2]};
    wrenches.add(contact.link, {cross(contact.offset, force), force});
    column += 3;
  }
  std::vector<double> forces(robot->spanning_nv(), 0.0), tau(robot->nv()), vdot(robot->nv());
  control.drive(forces.data());
  SpanningMotion<double> motion(*robot);
  motion.update(s.state.q.data(), s.state.v.data());
  motion.reduce(forces.data(), tau.data());
  host()
      .create<ForwardDynamics<double>>("c-aba", robot)
      ->evaluate(s.state.q, s.state.v, tau, vdot, &wrenches);
  return relative_difference(answer.vdot, vdot);
}

TEST(TaskControl, AnswerIsWhatForwardDynamicsGive) {
  for (const std::string solver : {"", "alglib"}) {
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

TEST(TaskControl, AccelerationOfTheCentreOfMassIsThatOfTheProblemCenterOfMass) {
  const Standing s(3);
  const auto control = s.control("alglib", 3, 2.0);
  const auto& answer = control->evaluate(s.state.q, s.state.v, s.state.tau);
  const auto a =
      any<CenterOfMass<double>>(s.robot)->evaluate(s.state.q, s.state.v, answer.vdot).acceleration;
  const double* own = &answer.accelerations[control->first_row("balance")];
  // Sums in another order: rounding.
  EXPECT_NEAR(own[0], a.x, 1e-10);
  EXPECT_NEAR(own[1], a.y, 1e-10);
  EXPECT_NEAR(own[2], a.z, 1e-10);
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

TEST(TaskControl, ProgramsWithoutActiveLimitsAreLeastSquares) {
  for (unsigned long long seed = 0; seed < 8; ++seed) {
    Standing s(seed, 1e5);
    s.setup.contacts.clear();  // hanging in the air: torques alone, of which none is at its limit
    const auto free = s.control("", seed, 2.0), limited = s.control("alglib", seed, 2.0);
    const auto& a = free->evaluate(s.state.q, s.state.v, s.state.tau);
    const auto& b = limited->evaluate(s.state.q, s.state.v, s.state.tau);
    // Residuals of programs are below 1e-9, times the condition of M^-1 B.
    EXPECT_LE(relative_difference(b.inputs, a.inputs), 1e-6) << seed;
    EXPECT_LE(relative_difference(b.accelerations, a.accelerations), 1e-6) << seed;
  }
}

TEST(TaskControl, TorquesAndFrictionConesAreKept) {
  int saturated = 0, sliding = 0;
  for (unsigned long long seed = 0; seed < 12; ++seed) {
    const double limit = seed % 2 == 0 ? 6.0 : 18.0;
    Standing s(seed, limit);
    s.setup.contacts[0].least = 5.0;
    s.setup.contacts[1].most = 30.0;
    s.setup.contacts[2].sides = 8;
    s.setup.contacts[3].normal = {0.3, 0.2, 2.0};
    const auto control = s.control("alglib", seed, 8.0);
    const auto& answer = control->evaluate(s.state.q, s.state.v, s.state.tau);
    // The solver's tolerance, times forces of 100 N.
    constexpr double kept = 1e-6;
    EXPECT_LE(answer.violation, kept);
    const std::size_t motors = s.setup.motors.size();
    for (std::size_t j = 0; j < motors; ++j) {
      EXPECT_LE(std::abs(answer.inputs[j]), limit + kept);
      saturated += std::abs(answer.inputs[j]) > limit - 1e-3;
    }
    for (std::size_t k = 0; k < s.setup.contacts.size(); ++k) {
      const ControlContact& contact = s.setup.contacts[k];
      const double* f = &answer.inputs[motors + 3 * k];
      const Vec3<double> n =
          espalier::scale(1.0 / std::sqrt(dot(contact.normal, contact.normal)), contact.normal);
      const Vec3<double> force{f[0], f[1], f[2]};
      const double normal = dot(n, force);
      const Vec3<double> across = force - espalier::scale(normal, n);
      EXPECT_GE(normal, contact.least - kept);
      EXPECT_LE(normal, contact.most + kept);
      EXPECT_LE(std::sqrt(dot(across, across)), contact.friction * normal + kept);
      sliding += std::sqrt(dot(across, across)) > 0.65 * contact.friction * normal;
    }
  }
  EXPECT_GT(saturated, 10) << "the limits are too wide to test anything";
  EXPECT_GT(sliding, 10);
}

TEST(TaskControl, LowerPrioritiesNeverDisturbHigherOnes) {
  for (const std::string solver : {"", "alglib"}) {
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

/// A pendulum with the effort 3 N·m in its limits.
ModelPtr pendulum() {
  Description robot = ground();
  add_solid(robot, "arm");
  add_joint(robot, "hinge", "revolute", "base", "arm", {0, 1, 0}).limits.effort = 3.0;
  return host().compile(robot);
}

TEST(TaskControl, EffortOfTheModelIsTheLimitOfAMotor) {
  const ModelPtr robot = pendulum();
  TaskControlSetup setup;
  setup.motors = {{.joint = "hinge"}};
  setup.tasks = {{.name = "turn", .rows = JointRows{{"hinge"}}}};
  const std::vector<double> zero(1, 0.0);
  for (const double wanted : {1e4, -1e4}) {
    const auto control = make_task_control(host(), robot, setup, {.solver = "alglib"});
    control->want("turn", std::vector{wanted});
    // The solver's tolerance.
    EXPECT_NEAR(control->evaluate(zero, zero, zero).inputs[0], wanted > 0 ? 3.0 : -3.0, 1e-7);
  }
  setup.motors[0].upper = 2.0;
  const auto control = make_task_control(host(), robot, setup, {.solver = "alglib"});
  control->want("turn", std::vector{1e4});
  EXPECT_NEAR(control->evaluate(zero, zero, zero).inputs[0], 2.0, 1e-7);
}

TEST(TaskControl, LimitedAccelerationsStayInTheirRange) {
  const ModelPtr robot = pendulum();
  TaskControlSetup setup;
  setup.motors = {{.joint = "hinge", .lower = -100, .upper = 100}};
  setup.tasks = {{.name = "turn", .rows = JointRows{{"hinge"}}}};
  setup.limits = {{.name = "gently", .rows = JointRows{}, .lower = {-4.0}, .upper = {5.0}}};
  const auto control = make_task_control(host(), robot, setup, {.solver = "alglib"});
  control->want("turn", std::vector{50.0});
  const std::vector<double> zero(1, 0.0);
  EXPECT_NEAR(control->evaluate(zero, zero, zero).vdot[0], 5.0, 1e-7);  // the solver's tolerance
}

TEST(TaskControl, LimitsThatNoInputsObeyAreTold) {
  const ModelPtr robot = pendulum();
  TaskControlSetup setup;
  setup.motors = {{.joint = "hinge"}};
  setup.tasks = {{.name = "turn", .rows = JointRows{{"hinge"}}, .priority = 4}};
  setup.limits = {{.name = "fast", .rows = JointRows{}, .lower = {1000.0}, .upper = {2000.0}}};
  const auto control = make_task_control(host(), robot, setup, {.solver = "alglib"});
  const std::vector<double> zero(1, 0.0);
  try {
    control->evaluate(zero, zero, zero);
    FAIL() << "no error";
  } catch (const SingularMechanism& error) {
    EXPECT_STREQ(error.what(),
                 "task control of 'tested': program of priority 4 is infeasible, expected inputs "
                 "that obey all limits (widen ranges of motors, contacts or limits)");
  }
}

template <class E>
std::string refusal(const TaskControlSetup& setup) {
  try {
    make_task_control(host(), pendulum(), setup, {.solver = "alglib"});
  } catch (const E& error) {
    return error.what();
  }
  return "no error";
}

TEST(TaskControl, BadSetupsAreRefusedByName) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  TaskControlSetup good;
  good.motors = {{.joint = "hinge"}};
  good.contacts = {{.name = "tip", .link = "arm"}};
  good.tasks = {{.name = "turn", .rows = JointRows{{"hinge"}}},
                {.name = "move", .rows = EndEffector::contact("arm"), .priority = 1}};
  EXPECT_EQ(refusal<Error>(good), "no error");

  TaskControlSetup s = good;
  std::get<EndEffector>(s.tasks[1].rows).link = "amr";
  EXPECT_NE(refusal<UnknownName>(s).find("'amr'"), std::string::npos);
  s = good, s.motors[0].joint = "hing";
  EXPECT_NE(refusal<UnknownName>(s).find("'hing'"), std::string::npos);
  s = good, s.contacts[0].link = "leg";
  EXPECT_NE(refusal<UnknownName>(s).find("'leg'"), std::string::npos);
  s = good, s.tasks[0].rows = JointRows{{"knee"}};
  EXPECT_NE(refusal<UnknownName>(s).find("'knee'"), std::string::npos);
  s = good, s.tasks[0].weight = -1.0;
  EXPECT_EQ(refusal<InvalidModel>(s),
            "task control: task 'turn': weight is -1, expected a finite number above 0");
  s = good, s.motors[0].weight = nan;
  EXPECT_EQ(
      refusal<InvalidModel>(s),
      "task control: motor on joint 'hinge': weight is nan, expected a finite number above 0");
  s = good, s.contacts[0].friction = -0.1;
  EXPECT_EQ(refusal<InvalidModel>(s),
            "task control: contact 'tip': friction is -0.1, expected a finite number not below 0");
  s = good, s.motors[0].lower = 2.0, s.motors[0].upper = 1.0;
  EXPECT_EQ(refusal<InvalidModel>(s),
            "task control: motor on joint 'hinge': range is 2 to 1, expected a lower bound that is "
            "not above the upper one");
  s = good, s.contacts[0].most = nan;
  EXPECT_EQ(refusal<InvalidModel>(s),
            "task control: contact 'tip': range is 0 to nan, expected a lower bound that is not "
            "above the upper one");
  s = good, s.contacts[0].least = -1.0;
  EXPECT_EQ(refusal<InvalidModel>(s),
            "task control: contact 'tip': least normal force is -1, expected a number not below 0 "
            "(the ground does not pull)");
  s = good, s.contacts[0].normal = {0, 0, 0};
  EXPECT_EQ(refusal<InvalidModel>(s),
            "task control: contact 'tip': length of the normal is 0, expected a vector with a "
            "direction");
  s = good, s.contacts[0].sides = 2;
  EXPECT_EQ(refusal<InvalidModel>(s),
            "task control: contact 'tip': number of the pyramid's sides is 2, expected at least 3");
  s = good, s.tasks.clear();
  EXPECT_EQ(refusal<InvalidModel>(s),
            "task control: setup: number of tasks is 0, expected at least one");
  s = good, s.tasks[1].name = "turn";
  EXPECT_EQ(refusal<DuplicateName>(s),
            "task control: name 'turn' is used twice, expected tasks and limits of names that "
            "differ");
  s = good, s.limits = {{.name = "slow", .rows = JointRows{}, .lower = {1, 2}, .upper = {3}}};
  EXPECT_EQ(refusal<SizeMismatch>(s),
            "task control: limit 'slow': number of bounds is 2, expected a lower and an upper one "
            "for each of 1 rows");
  s.limits[0].lower = {4};
  EXPECT_EQ(refusal<InvalidModel>(s),
            "task control: limit 'slow': range of row 0 is 4 to 3, expected a lower bound that is "
            "not above the upper one");
  s = good, s.motors.clear(), s.contacts.clear();
  EXPECT_NE(refusal<SizeMismatch>(s).find("number of inputs is 0"), std::string::npos);
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
}  // namespace espalier::test
