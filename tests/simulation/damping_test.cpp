#include <gtest/gtest.h>

#include "espalier/simulation/damping/stiff_joints.hpp"
#include "tests/simulation/support.hpp"

/// Dampers that are fast beside a step, limits that nothing enforces, steps that are too long.

namespace espalier::test::damping_test {
namespace {

using Damping = SimulationOptions::Damping;
using Kind = SimulationEvent::Kind;

/// Three rods on hinges, the last of which is light: its damper decays with thousands of 1/s.
Description arm(double damping) {
  Description robot = ground();
  robot.gravity = {0, -9.81, 0};
  std::string parent = "base";
  for (int i = 0; i < 3; ++i) {
    const std::string number = std::to_string(i), link = "link" + number;
    add_rod(robot, link, 0.3, i == 2 ? 0.01 : 1.0);
    add_joint(robot, "joint" + number, "revolute", parent, link, {0, 0, 1},
              {{i == 0 ? 0.0 : 0.3, 0, 0}, {0, 0, 0}})
        .passive.damping = damping;
    parent = link;
  }
  return robot;
}
At stretched(const Model& model) {
  return {std::vector<double>(model.nq(), 0.3), std::vector<double>(model.nv(), 0.5)};
}
const SimulationEvent* find(const Simulation& s, Kind kind) {
  for (const SimulationEvent& event : s.events()) {
    if (event.kind == kind) return &event;
  }
  return nullptr;
}
void run(Simulation& s, double duration, double h) {
  s.run(duration, h, 1 << 30, [](const Sample&) { return true; });
}

MakeDynamics moved_by(const char* algorithm) {
  return [algorithm](const ModelPtr& form) {
    return host().create<ForwardDynamics<double>>(algorithm, form);
  };
}

TEST(DampingTest, DecayIsThatOfAPendulum) {
  Description robot = ground();
  add_rod(robot, "rod", 1.0);
  add_joint(robot, "hinge", "revolute", "base", "rod").passive.damping = 5.0;
  const ModelPtr model = host().compile(robot);
  JointDamping damping(model, moved_by("aba"), viscous_damping(*model));
  SpanningMotion<double> motion(*model);
  const std::vector<double> q(1);
  motion.update(q.data(), nullptr);
  // One rate: the first iteration is exact to rounding.
  EXPECT_NEAR(damping.decay(q.data(), motion, 1), 5.0 / (1.0 / 3.0 + 1e-6), 1e-10);
}

TEST(DampingTest, DecayIsTheLargestEigenvalueOfAFourBarsDamping) {
  // One degree of freedom: G^T D G over G^T H G, the latter from forward dynamics.
  Description robot = four_bar();
  for (JointDescription& joint : robot.joints) joint.passive.damping = 2.0;
  const ModelPtr model = host().compile(robot);
  JointDamping damping(model, moved_by("c-aba"), viscous_damping(*model));
  std::vector<double> q(3), qd(3);
  model->neutral(q.data());
  SpanningMotion<double> motion(*model);
  motion.update(q.data(), nullptr);
  const double one = 1.0;
  motion.expand(&one, qd.data());
  double sum = 0.0;
  for (const double rate : qd) sum += 2.0 * rate * rate;
  const auto dense = host().create<ForwardDynamics<double>>("dense", model);
  dense->set_gravity({0, 0, 0});
  std::vector<double> vdot(1);
  dense->evaluate(q, std::vector<double>{0.0}, std::vector<double>{1.0}, vdot);
  EXPECT_NEAR(damping.decay(q.data(), motion, 2), sum * vdot[0], 1e-9 * sum * vdot[0]);
}

TEST(DampingTest, StabilityLimitsAreThoseOfTheMethods) {
  const ModelPtr model = host().compile(four_bar());
  const auto limit = [&](const char* name) {
    return stability_limit(*host().registry().create_integrator(name, {model}, {}));
  };
  // Where |1 - z + z²/2 - z³/6 + z⁴/24| = 1, and |1 - z| = 1; sought to 1e-3.
  EXPECT_NEAR(limit("rk4"), 2.785, 2e-3);
  EXPECT_NEAR(limit("semi-implicit-euler"), 2.0, 2e-3);
  EXPECT_EQ(limit("dormand-prince"), HUGE_VAL);
}

TEST(DampingTest, StiffDampersAreImplicitAndCreepAsTheyShould) {
  const ModelPtr model = host().compile(arm(3.0));
  const At start = stretched(*model);
  const auto exact = simulation(model, "dormand-prince", start, {{"relative_tolerance", {1e-8}}});
  run(*exact, 0.5, 0.1);
  for (const char* integrator : {"rk4", "semi-implicit-euler"}) {
    const auto s = simulation(model, integrator, start);
    run(*s, 0.5, 1e-3);
    const SimulationEvent* event = find(*s, Kind::damping);
    ASSERT_NE(event, nullptr) << integrator;
    EXPECT_EQ(model->joints()[event->joint].name, "joint2");
    EXPECT_GT(event->value, 4000.0) << "3 over less than 0.01 0.3²/3";
    const std::string text = s->text(*event);
    for (const char* word : {"'joint2'", "stiff", "implicitly", "dormand-prince"}) {
      EXPECT_NE(text.find(word), std::string::npos) << text;
    }
    // It moves by 0.2 rad; h² times the slow rates of about 5 1/s, and the fast decay at the start
    // is over after two steps.
    EXPECT_LT(distance(*model, {s->q(), s->v()}, {exact->q(), exact->v()}), 2e-4) << integrator;
  }
}

/// About rest friction is a damper of friction / friction_rate, which a light joint turns with.
TEST(DampingTest, FrictionThatDrivesAJointIsTold) {
  Description robot = arm(0.0);
  for (JointDescription& joint : robot.joints) joint.passive.friction = 1.0;
  robot.gravity = {0, 0, 0};
  const ModelPtr model = host().compile(robot);
  At start = stretched(*model);
  std::fill(start.v.begin(), start.v.end(), 0.0);
  start.v[2] = 1e-6;
  const auto turned = [&](const SimulationOptions& options, double h) {
    const auto s = simulation(model, "rk4", start, {}, options);
    run(*s, 0.2, h);
    const SimulationEvent* event = find(*s, Kind::friction);
    if (event != nullptr) {
      EXPECT_EQ(model->joints()[event->joint].name, "joint2");
      const std::string text = s->text(*event);
      for (const char* word : {"joint 'joint2': dry friction is stiff at t = 0 s", "steps below",
                               "friction_rate above", "--ground"}) {
        EXPECT_NE(text.find(word), std::string::npos) << text;
      }
    }
    return std::pair(event != nullptr, std::abs(s->q()[2] - start.q[2]));
  };
  EXPECT_GT(turned({}, 1e-3).second, 1e-3) << "no motion to be told of";
  EXPECT_TRUE(turned({}, 1e-3).first);
  // Shorter steps and a gentler slope hold it, and are not told of.
  EXPECT_FALSE(turned({}, 2e-5).first);
  EXPECT_LT(turned({}, 2e-5).second, 1e-6);
  const SimulationOptions gentle{.friction_rate = 5.0};
  EXPECT_FALSE(turned(gentle, 1e-3).first);
  EXPECT_LT(turned(gentle, 1e-3).second, 1e-6);
  EXPECT_FALSE(turned({.passive = false}, 1e-3).first);
}

TEST(DampingTest, BatchesSayWhatTheirStagesDoNotBear) {
  Description robot = arm(3.0);
  const auto stiff = [&](const BatchSimulationOptions& options, double h) {
    return stiff_joints(host(), host().compile(robot), options, h);
  };
  const std::vector<std::string> damped = stiff({}, 1e-3);
  ASSERT_EQ(damped.size(), 1u);
  EXPECT_NE(damped[0].find("joint 'joint2': damping decays with"), std::string::npos) << damped[0];
  robot.joints[2].passive.friction = 1.0;
  const std::vector<std::string> both = stiff({.integrator = "semi-implicit-euler"}, 1e-3);
  ASSERT_EQ(both.size(), 2u);
  EXPECT_NE(both[1].find("joint 'joint2': dry friction"), std::string::npos) << both[1];
  EXPECT_NE(both[1].find("'semi-implicit-euler' does not bear"), std::string::npos) << both[1];
  EXPECT_TRUE(stiff({}, 1e-7).empty());
  EXPECT_TRUE(stiff({.passive = false}, 1e-3).empty());
}

TEST(DampingTest, ImplicitStepsAreOfOrderTwo) {
  const ModelPtr model = host().compile(arm(0.02));
  const At start = stretched(*model);
  const At exact = after(model, "dormand-prince", start, 0.4, 0.1);
  const auto error = [&](double h) {
    const auto s = simulation(model, "rk4", start, {}, {.damping = Damping::implicit});
    run(*s, 0.4, h);
    return distance(*model, {s->q(), s->v()}, exact);
  };
  EXPECT_NEAR(std::log2(error(1e-3) / error(5e-4)), 2.0, 0.2) << "the next order is a tenth";
}

TEST(DampingTest, SlowDampersStayInTheStages) {
  const ModelPtr model = host().compile(arm(1e-5));
  const At start = stretched(*model);
  const auto s = simulation(model, "rk4", start),
             same = simulation(model, "rk4", start, {}, {.damping = Damping::in_stages});
  run(*s, 0.2, 1e-3);
  run(*same, 0.2, 1e-3);
  EXPECT_EQ(find(*s, Kind::damping), nullptr);
  EXPECT_EQ(s->q(), same->q()) << "to the last bit";
}

TEST(DampingTest, BlowingUpIsPutDownToDamping) {
  const ModelPtr model = host().compile(arm(3.0));
  const auto s = simulation(model, "rk4", stretched(*model), {}, {.damping = Damping::in_stages});
  try {
    run(*s, 0.5, 1e-3);
    FAIL() << "3 N·m·s/rad is not stiff";
  } catch (const SingularMechanism& error) {
    const std::string text = error.what();
    for (const char* word : {"damping is stiff", "shorter than", "dormand-prince"}) {
      EXPECT_NE(text.find(word), std::string::npos) << text;
    }
  }
  ASSERT_NE(find(*s, Kind::damping), nullptr) << "told before it blows up";
}

TEST(DampingTest, ImplicitDampersOfDependentJointsAndRotorsAct) {
  // Tello's joints and rotors are tied by differentials; every joint is damped.
  Description robot = host().read(ESPALIER_SOURCE_DIR "/robots/tello.yaml");
  for (JointDescription& joint : robot.joints) joint.passive.damping = 0.02;
  const ModelPtr model = host().compile(robot);
  At start{std::vector<double>(model->nq()), Rng(1).vector(model->nv(), 1.0)};
  model->neutral(start.q.data());
  const At exact = after(model, "rk4", start, 0.05, 2e-5);
  const auto s = simulation(model, "rk4", start, {}, {.damping = Damping::implicit});
  run(*s, 0.05, 2.5e-4);
  const auto finer = simulation(model, "rk4", start, {}, {.damping = Damping::implicit});
  run(*finer, 0.05, 1.25e-4);
  const double coarse = distance(*model, {s->q(), s->v()}, exact);
  const double fine = distance(*model, {finer->q(), finer->v()}, exact);
  EXPECT_LT(fine, 0.35 * coarse) << "order 2, with the next one's share";
  EXPECT_LT(fine, 1e-3);
}

TEST(LimitsTest, JointsThatPassTheirLimitsAreNamedOnce) {
  Description robot = ground();
  robot.gravity = {9.81, 0, 0};
  add_rod(robot, "rod", 1.0);
  add_joint(robot, "hinge", "revolute", "base", "rod").limits = {-0.5, 0.25, {}, {}};
  const ModelPtr model = host().compile(robot);
  const auto s = simulation(model, "rk4", {{0.0}, {2.0}});
  run(*s, 2.0, 1e-3);
  int limits = 0;
  for (const SimulationEvent& event : s->events()) limits += event.kind == Kind::limit;
  EXPECT_EQ(limits, 1);
  const SimulationEvent* event = find(*s, Kind::limit);
  ASSERT_NE(event, nullptr);
  EXPECT_GT(event->value, 0.25);
  EXPECT_LT(event->value, 0.2522) << "2 rad/s for a step of 1 ms";
  const std::string text = s->text(*event);
  for (const char* word : {"'hinge'", "upper limit 0.25", "nothing enforces"}) {
    EXPECT_NE(text.find(word), std::string::npos) << text;
  }
}

TEST(LimitsTest, TurnsThatAreTooWideForAStepAreNamed) {
  const ModelPtr model = host().compile(four_bar());
  At start{std::vector<double>(3), {4.0}};
  model->neutral(start.q.data());
  Description robot = ground();
  add_rod(robot, "rod", 1.0);
  add_joint(robot, "hinge", "revolute", "base", "rod");
  const ModelPtr wheel = host().compile(robot);
  const auto s = simulation(wheel, "rk4", {{0.0}, {20.0}});
  run(*s, 10.0, 0.5);
  ASSERT_NE(find(*s, Kind::turn), nullptr);
  EXPECT_NE(s->text(*find(*s, Kind::turn)).find("'hinge'"), std::string::npos);
  const auto slow = simulation(wheel, "rk4", {{0.0}, {20.0}});
  run(*slow, 1.0, 1e-3);
  EXPECT_EQ(find(*slow, Kind::turn), nullptr);
}

}  // namespace
}  // namespace espalier::test::damping_test
