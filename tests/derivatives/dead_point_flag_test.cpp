#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "espalier/kernel/model/closure.hpp"
#include "tests/derivatives/oracle.hpp"
#include "tests/support/four_bar.hpp"

// Derivatives say how near to a dead point the loops are.

namespace espalier::test::dead_point_flag_test {
namespace {

const FourBar bars{.independent = "rocker"};

/// Crank, coupler and rocker of an assembly whose coupler stands at an angle to the crank. At zero
/// both are in line, and the rocker turns back.
std::array<double, 3> assembled(double angle) {
  const auto end = [&](double crank) {
    return std::array{
        bars.crank * std::cos(crank) + bars.coupler * std::cos(crank + angle) - bars.base,
        bars.crank * std::sin(crank) + bars.coupler * std::sin(crank + angle)};
  };
  double near = 0.0, far = 2.0;  // of the rocker's pivot
  for (int k = 0; k < 100; ++k) {
    const double middle = 0.5 * (near + far);
    const auto [x, y] = end(middle);
    (std::hypot(x, y) < bars.rocker ? near : far) = middle;
  }
  const auto [x, y] = end(near);
  return {near, angle, std::atan2(y, x)};
}

struct AtAngle {
  explicit AtAngle(double angle, const FourBar& b = bars)
      : model(host().compile(four_bar(b))), q(model->nq()) {
    const auto [crank, coupler, rocker] = assembled(angle);
    q[model->joint("crank").q] = crank;
    q[model->joint("coupler").q] = coupler;
    q[model->joint("rocker").q] = rocker;
  }
  ModelPtr model;
  std::vector<double> q;
};

// The dependent columns hold the sine of the angle between crank and coupler.
TEST(DeadPointFlagTest, MarginIsThatOfTheClosureFromBelow) {
  for (const double angle : {0.3, 1e-2, 1e-4, 1e-6}) {
    const AtAngle at(angle);
    const auto algorithm =
        host().create<InverseDynamicsDerivatives<double>>("c-rnea-derivatives", at.model);
    const std::vector<double> one{1.0};
    std::vector<double> x(1);
    algorithm->evaluate(at.q, one, one, x, x, x, x);
    const double margin = algorithm->margin(), exact = examine(*at.model, at.q.data()).margin;
    // Frobenius norms of two columns and three overestimate by less than sqrt(2) sqrt(6).
    EXPECT_LE(margin, exact * (1 + 1e-6));
    EXPECT_GT(margin, exact / 3.5);
    EXPECT_EQ(algorithm->is_near_dead_point(), 0.0);
  }
}

TEST(DeadPointFlagTest, ResultsCarryAFlagWhereDigitsAreLost) {
  for (const auto& [problem, name] :
       {std::pair{"inverse-dynamics-derivatives", "c-rnea-derivatives"},
        {"forward-dynamics-derivatives", "c-aba-derivatives"},
        {"inverse-dynamics-adjoint", "c-rnea-adjoint"},
        {"forward-dynamics-adjoint", "c-aba-adjoint"},
        {"kinematics-derivatives", "variation-kinematics"},
        {"centroidal-dynamics", "composite-centroidal"},
        {"design-derivatives", "adjoint-design"}}) {
    SCOPED_TRACE(problem);
    const auto flag = [&, problem = problem, name = name](const AtAngle& at) {
      const Entry& entry = host().registry().find_algorithm(problem, name);
      const auto algorithm = host().registry().create(entry, espalier::Setup{at.model});
      const std::vector<double> one{1.0};
      Results results;
      algorithm->solve({.q = at.q, .v = one, .tau = one, .vdot = one}, results);
      for (const Result& r : results) {
        if (r.name == "near_dead_point") return r.values[0];
      }
      return -1.0;
    };
    EXPECT_EQ(flag(AtAngle(1e-3)), 0.0);
    EXPECT_EQ(flag(AtAngle(1e-10)), 1.0);
    // The crank determines the others at the same position.
    EXPECT_EQ(flag(AtAngle(1e-10, {.independent = "crank"})), 0.0);
  }
}

TEST(DeadPointFlagTest, RobotsWithoutLoopsHaveNone) {
  const ModelPtr model = any_robot(3);
  ASSERT_TRUE(model->is_tree());
  const State s = any_state(*model, 3);
  const auto algorithm = any<InverseDynamicsDerivatives<double>>(model);
  Results results;
  algorithm->solve({.q = s.q, .v = s.v, .tau = s.tau, .vdot = s.vdot}, results);
  EXPECT_EQ(results.size(), 4U);
  EXPECT_EQ(algorithm->margin(), 1.0);
}

}  // namespace
}  // namespace espalier::test::dead_point_flag_test
