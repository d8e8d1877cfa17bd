#include "espalier/kernel/problems/design_variation.hpp"

#include <gtest/gtest.h>

#include "examples/swing_leg.hpp"
#include "tests/derivatives/oracle.hpp"

namespace espalier::test::design_variation_test {
namespace {

using examples::LegDesign;
using examples::swing_leg;

/// Positions of a leg at given hip and knee; the others close the four-bar.
std::vector<double> assembled(const Model& model, double hip, double knee) {
  std::vector<double> start(model.nq()), q;
  model.neutral(start.data());
  q = start;
  q[model.joint("hip").q] = hip, q[model.joint("knee").q] = knee;
  model.apply_couplings(q.data());
  EXPECT_EQ(close(model, start.data(), q.data(), {.tolerance = 1e-15}).verdict,
            Closure::Verdict::closed);
  return q;
}

/// Vectors over (hip, knee) as a model orders them.
std::vector<double> ordered(const Model& model, double hip, double knee) {
  std::vector<double> x(2);
  x[model.joint("hip").independent] = hip, x[model.joint("knee").independent] = knee;
  return x;
}

class DesignVariationTest : public ::testing::Test {
 protected:
  DesignVariationTest()
      : model(host().compile(swing_leg(design))),
        v(ordered(*model, 1.3, -2.1)),
        vdot(ordered(*model, -4.0, 9.0)),
        lambda(ordered(*model, 0.8, -0.6)) {}

  std::unique_ptr<DesignVariation<double>> with_families(double h) const {
    auto algorithm = host().create<DesignVariation<double>>("adjoint-variation", model);
    for (int k = 0; k < LegDesign::count; ++k) {
      algorithm->add({LegDesign::names[k], host().compile(swing_leg(design.changed(k, -h))),
                      host().compile(swing_leg(design.changed(k, h))), 2 * h});
    }
    return algorithm;
  }

  const LegDesign design;
  const ModelPtr model;
  const std::vector<double> v, vdot, lambda;
};

TEST_F(DesignVariationTest, AgreesWithDifferencesOfOtherRobots) {
  ASSERT_EQ(model->nv(), 2);
  const auto algorithm = with_families(1e-4);
  for (const double knee : {-1.2, -0.7, 0.1}) {
    std::vector<double> gradient(LegDesign::count);
    algorithm->evaluate(assembled(*model, 0.4, knee), v, vdot, lambda, gradient);
    for (int k = 0; k < LegDesign::count; ++k) {
      SCOPED_TRACE(LegDesign::names[k]);
      const double size = design.numbers[k];
      const auto value = [&](double t) {
        const ModelPtr other = host().compile(swing_leg(design.changed(k, t * size)));
        std::vector<double> tau(2);
        host()
            .create<InverseDynamics<double>>("dense", other)
            ->evaluate(assembled(*other, 0.4, knee), v, vdot, tau);
        return std::vector<double>{lambda[0] * tau[0] + lambda[1] * tau[1]};
      };
      const double expected = DifferenceOracle::best_difference(value).first[0];
      EXPECT_GT(std::abs(expected), 1e-4);  // every number matters
      // Numbers of the model are at most quadratic in these: the neighbours' rounding is left.
      EXPECT_NEAR(gradient[k] * size, expected, 1e-9 * std::max(1.0, std::abs(expected)));
    }
  }
}

TEST_F(DesignVariationTest, SpanningJointsMoveAsThoseOfOtherRobots) {
  const auto algorithm = with_families(1e-4);
  std::vector<double> gradient(LegDesign::count);
  algorithm->evaluate(assembled(*model, 0.4, -0.7), v, vdot, lambda, gradient);
  for (int k = 0; k < LegDesign::count; ++k) {
    SCOPED_TRACE(LegDesign::names[k]);
    const double size = design.numbers[k];
    const auto motion = [&](double t) {
      const ModelPtr other = host().compile(swing_leg(design.changed(k, t * size)));
      const std::vector<double> q = assembled(*other, 0.4, -0.7);
      SpanningMotion<double> at(*other);
      at.update(q.data(), v.data());
      std::vector<double> qdd(other->spanning_nv()), out(q);
      at.expand(vdot.data(), qdd.data());
      for (int i = 0; i < other->spanning_nv(); ++i) {
        out.push_back(at.qd()[i]);
        if (at.g() != nullptr) qdd[i] += at.g()[i];
      }
      out.insert(out.end(), qdd.begin(), qdd.end());
      return out;
    };
    const std::vector<double> expected = DifferenceOracle::best_difference(motion).first;
    const auto& s = algorithm->spanning(k);
    std::vector<double> found;
    for (const auto* x : {&s.q, &s.qd, &s.qdd}) {
      for (const double entry : *x) found.push_back(size * entry);
    }
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_LT(relative_difference(found, expected), 1e-9);
  }
}

TEST_F(DesignVariationTest, ColumnsOfChosenNumbersMakeTheGradient) {
  const auto algorithm = with_families(1e-4);
  const std::vector<double> q = assembled(*model, 0.4, -0.7);
  std::vector<double> gradient(LegDesign::count), columns(2 * 2);
  algorithm->evaluate(q, v, vdot, lambda, gradient);
  const int last = LegDesign::count - 1;
  algorithm->columns(q, v, vdot, {LegDesign::names[last], LegDesign::names[0]}, columns);
  const auto weighed = [&](int k) { return lambda[0] * columns[k] + lambda[1] * columns[2 + k]; };
  // Families lie 1e-4 apart: roundings of 1e-16 of forces of some newton metres are divided by it.
  EXPECT_NEAR(weighed(0), gradient[last], 1e-11);
  EXPECT_NEAR(weighed(1), gradient[0], 1e-11);
  std::vector<double> one(2);
  try {
    algorithm->columns(q, v, vdot, {"no number"}, one);
    FAIL() << "no refusal";
  } catch (const UnknownName& error) {
    EXPECT_NE(std::string(error.what()).find(LegDesign::names[0]), std::string::npos);
  }
}

TEST_F(DesignVariationTest, OtherRobotsAndEmptyStepsAreRefusedByName) {
  auto algorithm = host().create<DesignVariation<double>>("adjoint-variation", model);
  const ModelPtr pendulum = host().load(ESPALIER_SOURCE_DIR "/robots/double_pendulum.yaml");
  const auto refusal = [&](const ModelPtr& more, double apart) -> std::string {
    try {
      algorithm->add({"bar", model, more, apart});
    } catch (const InvalidModel& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal(pendulum, 1.0).find("family 'bar' has other joints"), std::string::npos);
  EXPECT_NE(refusal(model, 0.0).find("expected a positive number"), std::string::npos);
  EXPECT_TRUE(algorithm->families().empty());
}

TEST_F(DesignVariationTest, ChangesOfLoopJointsAreRefusedNamingTheCluster) {
  const auto leg = [&](double length) {
    Description robot = host().read(ESPALIER_SOURCE_DIR "/robots/four_bar_leg.yaml");
    robot.loops.at(0).parameters["length"] = {length};
    return host().compile(robot);
  };
  auto algorithm = host().create<DesignVariation<double>>("adjoint-variation", leg(0.5012));
  try {
    algorithm->add({"rod", leg(0.5011), leg(0.5013), 2e-4});
    FAIL() << "a rod's length is taken";
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("heel_spring"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace espalier::test::design_variation_test
