#include "espalier/control/task_control.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/control/standing.hpp"

// Task control in limits, which a solver of quadratic programs keeps.

namespace espalier::test::task_limits_test {
namespace {

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
            "task control: contact 'tip': number of the pyramid's sides is 2, expected 3 to 1000");
  s = good, s.contacts[0].sides = 1'000'000'000;  // rows that would take the memory
  EXPECT_EQ(refusal<InvalidModel>(s),
            "task control: contact 'tip': number of the pyramid's sides is 1000000000, expected 3 "
            "to 1000");
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

}  // namespace
}  // namespace espalier::test::task_limits_test
