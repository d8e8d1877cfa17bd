#include <gtest/gtest.h>

#include "cli/allocations.hpp"
#include "espalier/kernel/problems/derivatives/design_derivatives.hpp"
#include "examples/swing_leg.hpp"
#include "tests/derivatives/oracle.hpp"

// Numbers of laws among the parameters of a design, and all parameters against other robots.

namespace espalier::test::design_parameters_test {
namespace {

using examples::LegDesign;
using examples::swing_leg;

std::vector<double> gradient_of(DesignDerivatives<double>& algorithm, const State& s,
                                const std::vector<double>& lambda,
                                const Loads<double>* loads = nullptr) {
  std::vector<double> out(algorithm.parameters().size());
  algorithm.gradient(s.q, s.v, s.vdot, lambda, out, loads);
  return out;
}

// Differences of order 8 are good to 1e-12 of forces, which the roundings of ill-placed loops grow.
TEST(DesignParametersTest, AllAgreeWithDifferencesOnRandomRobots) {
  int laws = 0, placements = 0, ratios = 0, rotors = 0;
  for (unsigned long long seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE("robot of seed " + std::to_string(seed));
    const ModelPtr model = any_robot(seed);
    const State s = any_state(*model, seed);
    const std::vector<double> lambda = Rng(seed).vector(model->nv());
    const Wrenches<double> wrenches = s.wrenches<double>(model);
    const Loads<double> loads{&wrenches, nullptr, nullptr};
    const auto exact = host().create<DesignDerivatives<double>>("adjoint-design", model);
    const auto reference = host().create<DesignDerivatives<double>>("differences", model);
    const std::vector<double> found = gradient_of(*exact, s, lambda, &loads);
    const std::vector<double> wanted = gradient_of(*reference, s, lambda, &loads);
    const double size = std::max(1.0, largest(wanted));
    for (std::size_t k = 0; k < found.size(); ++k) {
      const DesignParameter& p = exact->parameters()[k];
      using Kind = DesignParameter::Kind;
      laws += p.kind == Kind::law, placements += p.kind == Kind::placement;
      ratios += p.kind == Kind::ratio, rotors += p.kind == Kind::rotor;
      EXPECT_NEAR(found[k], wanted[k], 1e-8 * size) << p.name;
    }
  }
  EXPECT_GT(laws, 100);  // measured: 184
  EXPECT_GT(placements, 2000);
  EXPECT_GT(ratios, 70);
  EXPECT_GT(rotors, 70);
}

State leg_state(const Model& model) {
  State s;
  s.q.resize(model.nq());
  model.neutral(s.q.data());
  std::vector<double> start = s.q;
  s.q[model.joint("hip").q] = 0.4, s.q[model.joint("knee").q] = -0.7;
  model.apply_couplings(s.q.data());
  EXPECT_EQ(close(model, start.data(), s.q.data(), {.tolerance = 1e-15}).verdict,
            Closure::Verdict::closed);
  s.v = {1.3, -2.1}, s.vdot = {-4.0, 9.0}, s.tau = {0.0, 0.0};
  return s;
}

// The law's number alone: bodies stay where they are. The coupler hangs on the crank's tip, so that
// the crank's length is its placement, too.
TEST(DesignParametersTest, BarLengthsByNameAgreeWithOtherRobots) {
  const LegDesign design;
  const ModelPtr model = host().compile(swing_leg(design));
  const State s = leg_state(*model);
  const std::vector<double> lambda{0.8, -0.6};
  const auto algorithm = host().create<DesignDerivatives<double>>("adjoint-design", model);
  const std::vector<double> gradient = gradient_of(*algorithm, s, lambda);
  const auto of = [&](const char* name) { return gradient[algorithm->number_of(name)]; };
  const auto other = [&](auto&& change) {
    return best_difference([&](double t) {
             Description robot = swing_leg(design);
             change(robot, 0.2 * t);  // of lengths of 6 cm and more
             const ModelPtr changed = host().compile(robot);
             const State at = leg_state(*changed);
             std::vector<double> tau(2);
             host()
                 .create<InverseDynamics<double>>("dense", changed)
                 ->evaluate(at.q, at.v, at.vdot, tau);
             return std::vector<double>{(lambda[0] * tau[0] + lambda[1] * tau[1]) / 0.2};
           })
        .derivative[0];
  };
  for (const char* bar : {"crank", "coupler", "rocker"}) {
    SCOPED_TRACE(bar);
    const double wanted =
        other([&](Description& robot, double t) { robot.laws[0].parameters[bar][0] += t; });
    EXPECT_GT(std::abs(wanted), 1e-3);
    EXPECT_NEAR(of(("knee_bars." + std::string(bar)).c_str()), wanted,
                1e-9 * std::max(1.0, std::abs(wanted)));
  }
  // The crank's placement of the coupler is along x of the crank, in axes of the coupler's joint.
  const double wanted = other([&](Description& robot, double t) {
    robot.laws[0].parameters["crank"][0] += t;
    for (JointDescription& j : robot.joints) {
      if (j.name == "coupler") j.origin.xyz.x += t;
    }
  });
  const double tilt = -(M_PI / 2 + 0.75);
  EXPECT_NEAR(
      of("knee_bars.crank") + std::cos(tilt) * of("coupler.x") - std::sin(tilt) * of("coupler.y"),
      wanted, 1e-9 * std::max(1.0, std::abs(wanted)));
}

TEST(DesignParametersTest, NumbersThatSelectAreNone) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/four_bar_leg.yaml");
  const auto algorithm = host().create<DesignDerivatives<double>>("adjoint-design", model);
  bool crank = false, pivot = false;
  for (const DesignParameter& p : algorithm->parameters()) {
    if (p.kind != DesignParameter::Kind::law) continue;
    EXPECT_EQ(p.name.find("branch"), std::string::npos) << p.name;
    crank = crank || p.name.ends_with(".crank"), pivot = pivot || p.name.ends_with(".pivot[1]");
  }
  EXPECT_TRUE(crank);
  EXPECT_TRUE(pivot);
}

TEST(DesignParametersTest, ColumnsAreOfAnyChoiceTwiceIncluded) {
  const ModelPtr model = host().compile(swing_leg({}));
  const State s = leg_state(*model);
  const auto algorithm = host().create<DesignDerivatives<double>>("adjoint-design", model);
  const int crank = algorithm->number_of("knee_bars.crank"), mass = algorithm->number_of("shank.m");
  std::vector<double> columns(2 * 3), none;
  algorithm->columns(s.q, s.v, s.vdot, {crank, mass, crank}, columns);
  const std::vector<double> lambda{0.8, -0.6};
  const std::vector<double> gradient = gradient_of(*algorithm, s, lambda);
  const auto weighed = [&](int k) { return lambda[0] * columns[k] + lambda[1] * columns[3 + k]; };
  EXPECT_NEAR(weighed(0), gradient[crank], 1e-12 * std::max(1.0, std::abs(gradient[crank])));
  EXPECT_NEAR(weighed(1), gradient[mass], 1e-12 * std::max(1.0, std::abs(gradient[mass])));
  EXPECT_EQ(columns[0], columns[2]);
  EXPECT_EQ(columns[3], columns[5]);
  algorithm->columns(s.q, s.v, s.vdot, {}, none);  // nothing asked, nothing given
}

TEST(DesignParametersTest, WrongNamesAndNumbersAreToldWithThoseThatThereAre) {
  const ModelPtr model = host().compile(swing_leg({}));
  const State s = leg_state(*model);
  const auto algorithm = host().create<DesignDerivatives<double>>("adjoint-design", model);
  const auto refusal = [&](auto&& call) -> std::string {
    try {
      call();
    } catch (const UnknownName& error) {
      return error.what();
    }
    return "";
  };
  const std::string wrong = refusal([&] { algorithm->number_of("knee_bars.cranck"); });
  EXPECT_NE(wrong.find("knee_bars.crank"), std::string::npos) << wrong;
  EXPECT_NE(wrong.find("knee_bars.rocker"), std::string::npos) << wrong;
  const std::string nobody = refusal([&] { algorithm->number_of("nobody.m"); });
  EXPECT_NE(nobody.find("'shank'"), std::string::npos) << nobody;
  EXPECT_NE(refusal([&] { algorithm->number_of(""); }), "");
  std::vector<double> column(2);
  for (const int number : {-1, static_cast<int>(algorithm->parameters().size())}) {
    EXPECT_NE(refusal([&] {
                algorithm->columns(s.q, s.v, s.vdot, {number}, column);
              }).find(std::to_string(number)),
              std::string::npos);
  }
  EXPECT_THROW(algorithm->columns(s.q, s.v, s.vdot, {0, 1}, column), SizeMismatch);
}

TEST(DesignParametersTest, GradientTakesNoMemory) {
  if (!cli::allocation_count()) GTEST_SKIP() << "this C library gives no way to count allocations";
  const ModelPtr model = host().compile(swing_leg({}));
  const State s = leg_state(*model);
  const auto algorithm = host().create<DesignDerivatives<double>>("adjoint-design", model);
  const std::vector<double> lambda{0.8, -0.6};
  std::vector<double> gradient(algorithm->parameters().size());
  for (int call = 1; call <= 2; ++call) {
    const long before = *cli::allocation_count();
    algorithm->gradient(s.q, s.v, s.vdot, lambda, gradient);
    EXPECT_EQ(*cli::allocation_count() - before, 0) << "call " << call;
  }
}

}  // namespace
}  // namespace espalier::test::design_parameters_test
