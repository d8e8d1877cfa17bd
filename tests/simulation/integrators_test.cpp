#include <gtest/gtest.h>

#include "espalier/simulation/simulation.hpp"
#include "tests/simulation/support.hpp"

namespace espalier::test::integrators_test {
namespace {

ModelPtr floating_spherical() {
  Description robot = chain_of(std::vector<std::string>{"spherical", "revolute", "planar"});
  robot.links.front().inertial =
      Inertial{{{0.1, 0, 0.1}, {0, 0, 0}}, 3.0, {0.3, 0, 0, 0.2, 0, 0.1}};
  return host().compile(robot, {.root = CompileOptions::Root::floating});
}
/// Turning fast about all axes.
At tumbling(const Model& model) {
  At start{std::vector<double>(model.nq()), Rng(7).vector(model.nv(), 3.0)};
  model.random(3, start.q.data());
  return start;
}
ModelPtr crank_rocker() { return host().compile(four_bar()); }
At turning(const Model& model) {
  At start{std::vector<double>(model.nq()), {4.0}};
  model.neutral(start.q.data());
  return start;
}

/// Error after 0.4 s at steps h and h/2, and the order that their ratio says.
double order_of(const ModelPtr& model, const At& start, const std::string& integrator, double h) {
  const At exact = after(model, "dormand-prince", start, 0.4, 0.1,
                         {{"relative_tolerance", {1e-13}}, {"absolute_tolerance", {1e-13}}});
  const SimulationOptions plain{.loop_error = 0.0};  // the integrator's own steps
  const double coarse = distance(*model, after(model, integrator, start, 0.4, h, {}, plain), exact);
  const double fine =
      distance(*model, after(model, integrator, start, 0.4, h / 2, {}, plain), exact);
  return std::log2(coarse / fine);
}

TEST(IntegratorsTest, RegistersTheThree) {
  std::vector<std::string> names;
  for (const Entry* e : host().registry().entries(Kind::integrator)) names.push_back(e->about.name);
  EXPECT_EQ(names, (std::vector<std::string>{"dormand-prince", "rk4", "semi-implicit-euler"}));
}

// Steps at which errors lie between 1e-9 (the reference is good to 1e-11) and 1e-3, where the next
// order's term is a tenth.
TEST(IntegratorsTest, Rk4HasOrderFourOnAFloatingBaseWithASphericalJoint) {
  const ModelPtr model = floating_spherical();
  EXPECT_NEAR(order_of(model, tumbling(*model), "rk4", 0.01), 4.0, 0.3);
}
TEST(IntegratorsTest, Rk4HasOrderFourOnAFourBar) {
  const ModelPtr model = crank_rocker();
  EXPECT_NEAR(order_of(model, turning(*model), "rk4", 0.01), 4.0, 0.3);
}
TEST(IntegratorsTest, SemiImplicitEulerHasOrderOne) {
  const ModelPtr floating = floating_spherical(), bar = crank_rocker();
  EXPECT_NEAR(order_of(floating, tumbling(*floating), "semi-implicit-euler", 1e-3), 1.0, 0.2);
  EXPECT_NEAR(order_of(bar, turning(*bar), "semi-implicit-euler", 1e-3), 1.0, 0.2);
}

TEST(IntegratorsTest, DormandPrinceErrorFollowsTheTolerance) {
  for (const auto& [model, start] :
       {std::pair{floating_spherical(), tumbling(*floating_spherical())},
        std::pair{crank_rocker(), turning(*crank_rocker())}}) {
    // Another method decides: rk4 at steps whose error is below 1e-10.
    const At exact = after(model, "rk4", start, 0.4, 1e-4);
    double last = 1.0;
    for (const double tolerance : {1e-4, 1e-6, 1e-8, 1e-10}) {
      const At end =
          after(model, "dormand-prince", start, 0.4, 0.4,
                {{"relative_tolerance", {tolerance}}, {"absolute_tolerance", {tolerance}}});
      const double error = distance(*model, end, exact);
      EXPECT_LT(error, 100.0 * tolerance + 1e-9) << "errors of some steps add up";
      EXPECT_LT(error, last);
      last = error;
    }
  }
}

TEST(IntegratorsTest, DormandPrinceDoesNotDependOnTheOutputStep) {
  const ModelPtr model = floating_spherical();
  const At start = tumbling(*model);
  const At once = after(model, "dormand-prince", start, 0.4, 0.4),
           often = after(model, "dormand-prince", start, 0.4, 0.001);
  EXPECT_LT(distance(*model, once, often), 1e-6) << "tolerance 1e-9, some tens of steps";
}

TEST(IntegratorsTest, QuaternionsStayUnit) {
  const ModelPtr model = floating_spherical();
  for (const char* name : {"semi-implicit-euler", "rk4", "dormand-prince"}) {
    const At end = after(model, name, tumbling(*model), 2.0, 0.01);
    for (const Joint& joint : model->joints()) {
      if (joint.nq == joint.nv) continue;
      double square = 0.0;
      for (int k = joint.q + joint.nq - 4; k < joint.q + joint.nq; ++k)
        square += end.q[k] * end.q[k];
      EXPECT_NEAR(square, 1.0, 1e-14) << name << ": rounding of one step";
    }
  }
}

TEST(IntegratorsTest, OneRateJointsMoveAsTheClassicalMethodSays) {
  // A pendulum of one rate, one step of the classical Runge-Kutta method by hand.
  const ModelPtr model = host().compile([] {
    Description robot = ground();
    robot.gravity = {0, -9.81, 0};
    add_rod(robot, "rod", 0.8);
    add_joint(robot, "hinge", "revolute", "base", "rod");
    return robot;
  }());
  const double h = 0.05, I = 0.8 * 0.8 / 3.0 + 1e-6;
  const auto f = [&](double q) { return -9.81 * 0.4 * std::cos(q) / I; };
  double q = 0.3, v = -1.0;
  const double k1 = v, l1 = f(q), k2 = v + h / 2 * l1, l2 = f(q + h / 2 * k1), k3 = v + h / 2 * l2,
               l3 = f(q + h / 2 * k2), k4 = v + h * l3, l4 = f(q + h * k3);
  const At end = after(model, "rk4", {{q}, {v}}, h, h);
  EXPECT_NEAR(end.q[0], q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), 1e-14) << "rounding of ten sums";
  EXPECT_NEAR(end.v[0], v + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4), 1e-14);
}

TEST(IntegratorsTest, UnknownNamesAndOptionsAreRefusedWithSuggestions) {
  const ModelPtr model = crank_rocker();
  const auto error = [&](const std::string& name, const Parameters& options) -> std::string {
    try {
      host().registry().create_integrator(name, {model}, options);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(error("rk5", {}).find("did you mean 'rk4'"), std::string::npos) << error("rk5", {});
  const std::string option = error("dormand-prince", {{"relative_tolerence", {1e-6}}});
  EXPECT_NE(option.find("did you mean 'relative_tolerance'"), std::string::npos) << option;
  EXPECT_NE(error("rk4", {{"order", {3}}}).find("expected none"), std::string::npos);
  EXPECT_NE(error("dormand-prince", {{"absolute_tolerance", {-1}}}).find("greater than zero"),
            std::string::npos);
}

TEST(IntegratorsTest, DormandPrinceRefusesWhatItCannotDo) {
  // A force from 0.1 s on for which no step is short enough.
  class Broken final : public Controller {
    void drive(double t, const double*, const double*, double* forces) override {
      forces[0] += t > 0.1 ? 1e300 : 0.0;
    }
  };
  const ModelPtr model = crank_rocker();
  std::vector<std::unique_ptr<Controller>> controllers;
  controllers.push_back(std::make_unique<Broken>());
  const auto s =
      simulation(model, "dormand-prince", turning(*model), {}, {}, std::move(controllers));
  try {
    s->run(1.0, 0.5, 1, [](const Sample&) { return true; });
    FAIL() << "no error";
  } catch (const SingularMechanism& error) {
    EXPECT_NE(std::string(error.what()).find("integrator 'dormand-prince': step at t = 0.1"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace espalier::test::integrators_test
