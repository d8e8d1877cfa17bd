#include "espalier/kernel/problems/derivatives/design_variation.hpp"

#include <gtest/gtest.h>

#include "cli/allocations.hpp"
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
      const double expected = best_difference(value).derivative[0];
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
    const std::vector<double> expected = best_difference(motion).derivative;
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

/// A leg whose rod closes a loop: by its length, and by where it ends.
ModelPtr rod_leg(double length, double end) {
  Description robot = host().read(ESPALIER_SOURCE_DIR "/robots/four_bar_leg.yaml");
  robot.loops.at(0).parameters["length"] = {length};
  robot.loops.at(0).successor_origin.xyz.x = end;
  return host().compile(robot);
}

// Loop joints close spatial and planar loops; other robots are closed by Newton's method.
TEST_F(DesignVariationTest, LoopJointsAgreeWithDifferencesOfOtherRobots) {
  const double length = 0.5012, end = 0.1194335;
  const ModelPtr leg = rod_leg(length, end);
  const int n = leg->nv();
  const State s = random_cluster_state(*leg, 3);
  const std::vector<double> weights = Rng(4).vector(n);
  auto algorithm = host().create<DesignVariation<double>>("adjoint-variation", leg);
  auto reference = host().create<DesignVariation<double>>("differences", leg);
  const double h = 1e-5;
  for (auto* a : {algorithm.get(), reference.get()}) {
    a->add({"length", rod_leg(length - h, end), rod_leg(length + h, end), 2 * h});
    a->add({"end", rod_leg(length, end - h), rod_leg(length, end + h), 2 * h});
  }
  std::vector<double> found(2), coarse(2);
  algorithm->evaluate(s.q, s.v, s.vdot, weights, found);
  reference->evaluate(s.q, s.v, s.vdot, weights, coarse);
  for (int k = 0; k < 2; ++k) {
    const auto value = [&](double t) {
      const ModelPtr other =
          k == 0 ? rod_leg(length + 0.1 * t, end) : rod_leg(length, end + 0.1 * t);
      std::vector<double> q = s.q, tau(n);
      other->apply_couplings(q.data());
      EXPECT_EQ(project(*other, q.data(), {.tolerance = 1e-15}).verdict, Closure::Verdict::closed);
      host().create<InverseDynamics<double>>("dense", other)->evaluate(q, s.v, s.vdot, tau);
      double sum = 0.0;
      for (int i = 0; i < n; ++i) sum += weights[i] * tau[i];
      return std::vector<double>{10.0 * sum};
    };
    const double expected = best_difference(value).derivative[0];
    EXPECT_GT(std::abs(expected), 1e-3);
    // Rounding of phi over 2e-5 m, and for the reference second derivatives by lengths of 0.1 m.
    EXPECT_NEAR(found[k], expected, 1e-8 * std::max(1.0, std::abs(expected)));
    EXPECT_NEAR(coarse[k], expected, 1e-6 * std::max(1.0, std::abs(expected)));
  }
}

TEST_F(DesignVariationTest, FamiliesOfOneNameAndJointsThatMoveOtherwiseAreRefused) {
  auto algorithm = with_families(1e-4);
  EXPECT_THROW(algorithm->add({LegDesign::names[0], model, model, 1.0}), DuplicateName);
  const auto screw = [&](double pitch) {
    Description robot = swing_leg(design);
    for (JointDescription& j : robot.joints) {
      if (j.name == "hip") j.type = "helical", j.parameters["pitch"] = {pitch};
    }
    return host().compile(robot);
  };
  auto other = host().create<DesignVariation<double>>("adjoint-variation", screw(0.1));
  try {
    other->add({"pitch", screw(0.099), screw(0.101), 2e-3});
    FAIL() << "no refusal";
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("joint 'hip'"), std::string::npos) << error.what();
  }
}

TEST_F(DesignVariationTest, EvaluateTakesNoMemory) {
  if (!cli::allocation_count()) GTEST_SKIP() << "this C library gives no way to count allocations";
  const auto algorithm = with_families(1e-4);
  const std::vector<double> q = assembled(*model, 0.4, -0.7);
  std::vector<double> gradient(LegDesign::count);
  for (int call = 1; call <= 2; ++call) {
    const long before = *cli::allocation_count();
    algorithm->evaluate(q, v, vdot, lambda, gradient);
    EXPECT_EQ(*cli::allocation_count() - before, 0) << "call " << call;
  }
}

TEST_F(DesignVariationTest, NamedResultsAreThoseOfTheFamilies) {
  const auto algorithm = with_families(1e-4);
  Inputs in;
  in.q = assembled(*model, 0.4, -0.7), in.v = v, in.vdot = vdot, in.multipliers = lambda;
  Results out;
  algorithm->solve(in, out);
  std::vector<double> gradient(LegDesign::count);
  algorithm->evaluate(in.q, v, vdot, lambda, gradient);
  EXPECT_EQ(out.at(0).values, gradient);
  EXPECT_EQ(out.at(0).names.at(2), LegDesign::names[2]);
  EXPECT_EQ(out.at(1).name, "singularity_margin");
  const auto none = host().create<DesignVariation<double>>("adjoint-variation", model);
  none->solve(in, out);
  EXPECT_EQ(out.at(0).row_count, 0) << "tools ask for every problem, and add none";
}

}  // namespace
}  // namespace espalier::test::design_variation_test
