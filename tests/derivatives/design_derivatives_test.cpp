#include <gtest/gtest.h>

#include "tests/derivatives/oracle.hpp"

namespace espalier::test::design_derivatives_test {
namespace {

constexpr int robots = 60;

TEST(DesignDerivativesTest, ForcesAreLinearInTheInertialParameters) {
  for (unsigned long long seed = 1; seed <= robots; ++seed) {
    const ModelPtr model = any_robot(seed);
    if (!model->armature().empty()) continue;  // is none of the parameters
    const int n = model->nv();
    const State s = any_state(*model, seed);
    const std::vector<double> lambda = Rng(seed).vector(n);
    DifferenceOracle oracle(model);
    const double power = inner(lambda, oracle.tau(s.q, s.v, s.vdot));
    for (auto& named : every<DesignDerivatives<double>>(model)) {
      auto* const algorithm = named.algorithm.get();
      const std::string& name = named.name;
      SCOPED_TRACE(name + " on " + std::to_string(seed));
      std::vector<double> gradient(algorithm->parameters().size());
      algorithm->gradient(s.q, s.v, s.vdot, lambda, gradient);
      double sum = 0.0, size = 1.0;
      for (std::size_t k = 0; k < gradient.size(); ++k) {
        const DesignParameter& p = algorithm->parameters()[k];
        double value = 0.0;
        if (p.kind == DesignParameter::Kind::rotor) {
          value = model->rotors()[p.body].inertia;
        } else if (p.kind == DesignParameter::Kind::inertial) {
          const Transform<double>& to_link = model->link(p.owner).X;
          const RigidInertia<double> I =
              congruence(to_link.inverse(), model->folded_inertia(p.body));
          const double all[10] = {I.m,    I.h.x,  I.h.y,  I.h.z,  I.I.xx,
                                  I.I.yy, I.I.zz, I.I.xy, I.I.xz, I.I.yz};
          value = all[p.component];
        }
        sum += value * gradient[k];
        size = std::max(size, std::abs(value * gradient[k]));
      }
      EXPECT_NEAR(sum, power, 1e-11 * size);
    }
  }
}

/// A tree with couplings; its joints' axes are not on z of the frames of the file for all.
Description geared_arm(const Vec3<double>& axis, double ratio, const Vec3<double>& at, double turn,
                       double mass) {
  Description robot;
  robot.name = "arm";
  robot.gravity = {0.3, -9, 1};
  const auto link = [&](const char* name, double m) {
    robot.links.push_back(
        {name,
         Inertial{{{0.1, 0.02, 0.05}, {0, 0, 0}}, m, {0.02, 0.001, 0, 0.03, 0.002, 0.025}},
         {}});
  };
  robot.links.push_back({"base", {}, {}});
  link("upper", 1.0), link("lower", mass), link("tip", 0.4);
  const auto joint = [&](const char* name, const char* parent, const char* child,
                         const Pose& origin) {
    JointDescription j;
    j.name = name, j.type = "revolute", j.parent = parent, j.child = child, j.origin = origin;
    j.axis = axis;
    robot.joints.push_back(j);
  };
  const Transform<double> moved =
      Transform<double>{rotation_z(std::sin(turn), std::cos(turn)), {0, 0, 0}} *
      Pose{{0.3 + at.x, 0.1 + at.y, 0.05 + at.z}, {0.4, 0.2, -0.7}}.transform();
  joint("shoulder", "base", "upper", {{0, 0, 0.1}, {0.3, 0.5, 0}});
  joint("elbow", "upper", "lower", Pose::from(moved));
  joint("wrist", "lower", "tip", {{0.2, 0, 0}, {1.1, 0, 0.3}});
  robot.joints.back().mimic = Mimic{"elbow", ratio, 0.2};
  return robot;
}

void expect_design_as_of_other_robots(const Vec3<double>& axis) {
  const double ratio = 1.7;
  const ModelPtr model = host().compile(geared_arm(axis, ratio, {0, 0, 0}, 0.0, 0.8));
  const std::vector<double> y{0.4, -0.6}, v{0.7, -1.1}, vdot{0.5, 0.9}, lambda{0.8, -0.3};
  const auto value = [&](const Description& robot) {
    const ModelPtr other = host().compile(robot);
    std::vector<double> q(other->nq()), tau(2);
    for (int i = 0; i < 2; ++i) q[other->joint_of_rate(other->independent_rates()[i]).q] = y[i];
    other->apply_couplings(q.data());
    host().create<InverseDynamics<double>>("dense", other)->evaluate(q, v, vdot, tau);
    return std::vector<double>{inner(lambda, tau)};
  };
  const auto by = [&](auto&& robot) {
    return best_difference([&](double t) { return value(robot(t)); }).derivative[0];
  };
  std::vector<double> q(model->nq());
  for (int i = 0; i < 2; ++i) q[model->joint_of_rate(model->independent_rates()[i]).q] = y[i];
  model->apply_couplings(q.data());
  for (auto& named : every<DesignDerivatives<double>>(model)) {
    auto* const algorithm = named.algorithm.get();
    const std::string& name = named.name;
    SCOPED_TRACE(name);
    std::vector<double> gradient(algorithm->parameters().size());
    algorithm->gradient(q, v, vdot, lambda, gradient);
    const auto of = [&](const std::string& what) {
      for (std::size_t k = 0; k < gradient.size(); ++k) {
        if (algorithm->parameters()[k].name == what) return gradient[k];
      }
      ADD_FAILURE() << what;
      return 0.0;
    };
    EXPECT_NEAR(of("wrist.per_elbow"), by([&](double t) {
                  return geared_arm(axis, ratio + t, {0, 0, 0}, 0.0, 0.8);
                }),
                1e-10);
    const Mat3<double> E = Pose{{0, 0, 0}, {0.4, 0.2, -0.7}}.transform().E;
    const char* names[3] = {"elbow.x", "elbow.y", "elbow.z"};
    for (int k = 0; k < 3; ++k) {
      EXPECT_NEAR(of(names[k]), by([&](double t) {
                    return geared_arm(axis, ratio, scale(t, E.row[k]), 0.0, 0.8);
                  }),
                  1e-10);
    }
    EXPECT_NEAR(of("elbow.rz"), by([&](double t) {
                  return geared_arm(axis, ratio, {0, 0, 0}, t, 0.8);
                }),
                1e-10);
    // A mass at the same centre: h and J change with it.
    const Vec3<double> c{0.1, 0.02, 0.05};
    double chain =
        of("lower.m") + c.x * of("lower.hx") + c.y * of("lower.hy") + c.z * of("lower.hz");
    chain += (c.y * c.y + c.z * c.z) * of("lower.Jxx") + (c.x * c.x + c.z * c.z) * of("lower.Jyy") +
             (c.x * c.x + c.y * c.y) * of("lower.Jzz") - c.x * c.y * of("lower.Jxy") -
             c.x * c.z * of("lower.Jxz") - c.y * c.z * of("lower.Jyz");
    EXPECT_NEAR(chain, by([&](double t) {
                  return geared_arm(axis, ratio, {0, 0, 0}, 0.0, 0.8 + t);
                }),
                1e-10);
  }
}

TEST(DesignDerivativesTest, MassPlacementAndRatioAgreeWithOtherRobots) {
  for (const Vec3<double>& axis :
       {Vec3<double>{0, 0, 1}, Vec3<double>{0, 1, 0}, Vec3<double>{0.6, 0, -0.8}}) {
    SCOPED_TRACE(axis.x);
    expect_design_as_of_other_robots(axis);
  }
}

}  // namespace
}  // namespace espalier::test::design_derivatives_test
