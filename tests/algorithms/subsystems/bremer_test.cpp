#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <functional>

#include "cli/allocations.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/dynamics/subsystem_matrices.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/host.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/subsystem_groups.hpp"
#include "tests/support/task_robots.hpp"

// Bremer's method: the way a robot is cut into subsystems does not matter, and the matrices of each
// subsystem are what they are said to be.

namespace espalier::test::bremer_test {
namespace {

using Numbers = std::vector<double>;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;
using Subsystems = std::vector<SubsystemMatrices<double>::Subsystem>;

// Agreed in the project's specification, as in cluster_agreement_test.cpp.
constexpr double agreed = 1e-9;

/// The ways to cut a robot that every test looks at.
std::vector<Groups> groupings(const Model& model, unsigned long long seed) {
  return {{},
          whole_robot(model),
          whole_chains(model),
          random_groups(model, seed),
          random_groups(model, seed + 1000)};
}
espalier::Setup cut(const ModelPtr& model, Groups groups) {
  espalier::Setup setup{model};
  setup.groups = std::move(groups);
  return setup;
}

std::unique_ptr<SubsystemMatrices<double>> matrices_of(const ModelPtr& model,
                                                       const Groups& groups) {
  return host().create<SubsystemMatrices<double>>("bremer", cut(model, groups));
}

/// Calls f(model, state, groups) for every step-th tree and cluster robot and every grouping.
void for_each_cut(const std::function<void(const ModelPtr&, const State&, const Groups&)>& f,
                  int step = 1) {
  int seed = 0;
  for_each_task(
      [&](const TaskCase& c) {
        int number = 0;
        for (const Groups& groups : groupings(c.model(), ++seed)) {
          SCOPED_TRACE("grouping " + std::to_string(number++));
          f(c.setup.model, c.state, groups);
        }
      },
      step);
}

template <class T = double>
std::vector<T> forward(const std::string& name, const espalier::Setup& setup, const State& s) {
  const auto convert = [](const Numbers& in) { return std::vector<T>(in.begin(), in.end()); };
  std::vector<T> vdot(s.v.size());
  const Wrenches<T> w = s.wrenches<T>(setup.model);
  host()
      .create<ForwardDynamics<T>>(name, setup)
      ->evaluate(convert(s.q), convert(s.v), convert(s.tau), vdot, &w);
  return vdot;
}

Matrix matrix(const Numbers& x, long rows) {
  return Eigen::Map<const Matrix>(x.data(), rows, static_cast<long>(x.size()) / std::max(1L, rows));
}
Vector vector(const Numbers& x) { return Eigen::Map<const Vector>(x.data(), x.size()); }
double off(const Matrix& a, const Matrix& reference) {
  if (a.size() == 0) return 0.0;
  return (a - reference).cwiseAbs().maxCoeff() / std::max(1.0, reference.cwiseAbs().maxCoeff());
}

/// dy_i/dqd of every subsystem from T and F.
std::vector<Matrix> jacobians(const Subsystems& all, int nv) {
  std::vector<Matrix> J;
  for (const auto& s : all) {
    J.push_back(Matrix::Zero(s.size(), nv));
    if (s.parent >= 0) J.back() = matrix(s.T, s.size()) * J[s.parent];
    const Matrix F = matrix(s.F, s.size());
    for (std::size_t j = 0; j < s.rates.size(); ++j) J.back().col(s.rates[j]) += F.col(j);
  }
  return J;
}
/// yd_i of every subsystem from T, F and c.
std::vector<Vector> accelerations(const Subsystems& all, const Numbers& vdot) {
  std::vector<Vector> yd;
  for (const auto& s : all) {
    Vector qdd(s.rates.size());
    for (std::size_t j = 0; j < s.rates.size(); ++j) qdd(j) = vdot[s.rates[j]];
    yd.push_back(matrix(s.F, s.size()) * qdd + vector(s.c));
    if (s.parent >= 0) yd.back() += matrix(s.T, s.size()) * yd[s.parent];
  }
  return yd;
}

TEST(BremerTest, EveryGroupingGivesTheAccelerationsOfCAba) {
  int grouped = 0, several = 0;
  for_each_cut([&](const ModelPtr& model, const State& s, const Groups& groups) {
    const Numbers wanted = forward("c-aba", {model}, s);
    const espalier::Setup setup = cut(model, groups);
    for (const char* name : {"bremer-on", "minimal-form"}) {
      EXPECT_LE(relative_difference(forward(name, setup, s), wanted), agreed) << name;
    }
    const auto matrices = matrices_of(model, groups);
    for (const auto& subsystem : matrices->subsystems()) {
      several += subsystem.outputs.size() > 1;
      grouped += subsystem.rates.size() > 6;
    }
  });
  EXPECT_GT(grouped, 200);
  EXPECT_GT(several, 20);
}

TEST(BremerTest, RotorsMayHaveInertiaWithoutMass) {
  const auto light_rotor = [](const char* ratio) {
    return std::string("espalier: 1\nname: light\nlinks: {base: {}}\nsubsystems:\n") +
           "  a:\n    type: geared_joint\n    connect: {base: {to: base}}\n    parameters: "
           "{ratio: " +
           ratio +
           ", link_mass: 1, link_inertia: [0.1, 0.1, 0.1, 0, 0, 0], "
           "rotor_mass: 0, rotor_inertia: [1e-3, 1e-3, 2e-3, 0, 0, 0]}\n"
           "  b:\n    type: geared_joint\n    connect: {base: {to: a.link, xyz: [0.2, 0, 0], "
           "rpy: [1, 0, 0]}}\n    parameters: {ratio: " +
           ratio +
           ", link_mass: 1, "
           "link_inertia: [0.1, 0.1, 0.1, 0, 0, 0], rotor_mass: 0, "
           "rotor_inertia: [1e-3, 1e-3, 2e-3, 0, 0, 0]}\n";
  };
  const Format& yaml = host().registry().format_for("light.yaml");
  const ModelPtr model =
      host().compile(yaml.read(light_rotor("6"), "light.yaml", host().registry()));
  const State s = random_state(*model, 3);
  Numbers wanted(model->nv()), vdot(model->nv());
  host().create<ForwardDynamics<double>>("c-aba", model)->evaluate(s.q, s.v, s.tau, wanted);
  for (const char* name : {"bremer-on", "minimal-form"}) {
    host().create<ForwardDynamics<double>>(name, model)->evaluate(s.q, s.v, s.tau, vdot);
    EXPECT_LE(relative_difference(vdot, wanted), 1e-12) << name;  // two bodies: rounding alone
  }
}

TEST(BremerTest, GroupingsWorkAtEveryScalarAndTakeNoMemory) {
  for_each_cut(
      [](const ModelPtr& model, const State& s, const Groups& groups) {
        const espalier::Setup setup = cut(model, groups);
        for (const char* name : {"bremer-on", "minimal-form"}) {
          const Numbers wanted = forward(name, setup, s);
          Numbers pack, count;
          for (const Pack& x : forward<Pack>(name, setup, s)) pack.push_back(lane(x, 3));
          for (const Count& x : forward<Count>(name, setup, s)) count.push_back(x.value());
          // Sines come from another library, the rest is the same arithmetic.
          EXPECT_LE(relative_difference(pack, wanted), agreed) << name;
          EXPECT_LE(relative_difference(count, wanted), agreed) << name;
          const auto algorithm = host().create<ForwardDynamics<double>>(name, setup);
          const Wrenches<double> w = s.wrenches(model);
          Numbers vdot(s.v.size());
          const long before = *cli::allocation_count();
          algorithm->evaluate(s.q, s.v, s.tau, vdot, &w);
          EXPECT_EQ(*cli::allocation_count(), before) << name;
        }
      },
      20);
}

TEST(SubsystemMatricesTest, ProjectedSumsAreTheRobotsInertiaMatrixAndBias) {
  for_each_cut(
      [](const ModelPtr& model, const State& s, const Groups& groups) {
        const auto matrices = matrices_of(model, groups);
        const Wrenches<double> w = s.wrenches(model);
        const Subsystems& all = matrices->evaluate(s.q, s.v, &w);
        const int nv = model->nv();
        const std::vector<Matrix> J = jacobians(all, nv);
        const std::vector<Vector> d = accelerations(all, Numbers(nv, 0.0));
        Matrix M = Matrix::Zero(nv, nv);
        Vector h = Vector::Zero(nv);
        for (std::size_t i = 0; i < all.size(); ++i) {
          const Matrix M_i = matrix(all[i].M, all[i].size());
          M += J[i].transpose() * M_i * J[i];
          h += J[i].transpose() * (M_i * d[i] + vector(all[i].h));
        }
        Numbers wanted(static_cast<std::size_t>(nv) * nv), bias(nv);
        const bool tree = model->is_tree();
        host().create<MassMatrix<double>>(tree ? "crba" : "c-crba", model)->evaluate(s.q, wanted);
        host()
            .create<BiasForce<double>>(tree ? "rnea" : "c-rnea", model)
            ->evaluate(s.q, s.v, bias, &w);
        EXPECT_LE(off(M, matrix(wanted, nv)), agreed);
        EXPECT_LE(off(h, vector(bias)), agreed);
      },
      2);
}

TEST(SubsystemMatricesTest, InertiasAreSymmetricAndPositiveSemidefinite) {
  for_each_cut(
      [](const ModelPtr& model, const State& s, const Groups& groups) {
        const auto matrices = matrices_of(model, groups);
        for (const auto& subsystem : matrices->evaluate(s.q, s.v)) {
          const Matrix M = matrix(subsystem.M, subsystem.size());
          EXPECT_EQ(M, M.transpose()) << subsystem.name;
          const Vector eigenvalues = eigenvalues_of_symmetric(M);
          // Rounding of the largest eigenvalue, some hundred operations each.
          EXPECT_GE(eigenvalues.minCoeff(), -1e-13 * eigenvalues.maxCoeff()) << subsystem.name;
        }
      },
      4);
}

TEST(SubsystemMatricesTest, DescribingVelocitiesAreTwistsOfTheOutputBodiesAndRates) {
  for_each_cut(
      [](const ModelPtr& model, const State& s, const Groups& groups) {
        const auto matrices = matrices_of(model, groups);
        const auto kinematics = any<Kinematics<double>>(model);
        kinematics->evaluate(s.q, s.v, Numbers(model->nv(), 0.0));
        for (const auto& subsystem : matrices->evaluate(s.q, s.v)) {
          Numbers wanted;
          for (const std::string& output : subsystem.outputs) {
            const Motion<double> twist = kinematics->velocity(model->link(output));
            for (int k = 0; k < 6; ++k) wanted.push_back(twist[k]);
          }
          for (const int rate : subsystem.rates) wanted.push_back(s.v[rate]);
          EXPECT_LE(relative_difference(subsystem.y, wanted), agreed) << subsystem.name;
        }
      },
      4);
}

TEST(SubsystemMatricesTest, EnergyAndPowerAreThoseOfTheRobot) {
  for_each_cut(
      [](const ModelPtr& model, const State& s, const Groups& groups) {
        const auto matrices = matrices_of(model, groups);
        const Wrenches<double> w = s.wrenches(model);
        const Subsystems& all = matrices->evaluate(s.q, s.v, &w);
        const std::vector<Vector> yd = accelerations(all, forward("c-aba", {model}, s));
        double twice_kinetic = 0.0, power = 0.0, inputs = 0.0, size = 1.0;
        for (std::size_t i = 0; i < all.size(); ++i) {
          const auto& subsystem = all[i];
          const Vector y = vector(subsystem.y);
          const Matrix M = matrix(subsystem.M, subsystem.size());
          twice_kinetic += y.dot(M * y);
          const double term = y.dot(M * yd[i] + vector(subsystem.h));
          power += term;
          size = std::max(size, std::abs(term));
          ASSERT_EQ(subsystem.inputs.size(), subsystem.rates.size());  // a motor on each rate
          Vector u(subsystem.rates.size());
          for (long j = 0; j < u.size(); ++j) u(j) = s.tau[subsystem.rates[j]];
          inputs += y.dot(matrix(subsystem.B, subsystem.size()) * u);
        }
        EXPECT_NEAR(power, inner(s.tau, s.v), agreed * size);
        EXPECT_NEAR(inputs, inner(s.tau, s.v), agreed * std::max(1.0, std::abs(inputs)));
        const double kinetic = any<Energy<double>>(model)->evaluate(s.q, s.v).kinetic;
        EXPECT_NEAR(0.5 * twice_kinetic, kinetic, agreed * std::max(1.0, kinetic));
      },
      2);
}

TEST(SubsystemMatricesTest, RateOfTTimesTheParentsVelocitiesIsC) {
  for_each_cut(
      [](const ModelPtr& model, const State& s, const Groups& groups) {
        // Differences of fourth order; near dead points loops make them 2e-7.
        constexpr double by_differences = 1e-6;
        const auto matrices = matrices_of(model, groups);
        const Subsystems& all = matrices->evaluate(s.q, s.v);
        for (const auto& i : all) {
          if (i.parent < 0) {
            EXPECT_EQ(matrix(i.dT, i.size()).norm(), 0.0);
            continue;
          }
          const Vector c = matrix(i.dT, i.size()) * vector(all[i.parent].y);
          EXPECT_LE(off(c, vector(i.c)), by_differences) << i.name;
        }
      },
      5);
}

TEST(SubsystemMatricesTest, AccelerationsAreDerivativesOfDescribingVelocities) {
  for_each_cut(
      [](const ModelPtr& model, const State& s, const Groups& groups) {
        const auto matrices = matrices_of(model, groups);
        const std::vector<Vector> yd = accelerations(matrices->evaluate(s.q, s.v), s.vdot);
        // Along the motion: positions to second order in spanning rates, then back on the loops.
        SpanningMotion<double> motion(*model);
        motion.update(s.q.data(), s.v.data());
        Numbers qdd(model->spanning_nv());
        motion.expand(s.vdot.data(), qdd.data());
        for (std::size_t k = 0; k < qdd.size() && motion.g() != nullptr; ++k) {
          qdd[k] += motion.g()[k];
        }
        const auto at = [&](double t) {
          Numbers step(qdd.size()), q(model->nq()), all;
          for (std::size_t k = 0; k < step.size(); ++k) {
            step[k] = t * (motion.qd()[k] + 0.5 * t * qdd[k]);
          }
          model->integrate(s.q.data(), step.data(), q.data());
          if (model->has_variable_constraints()) project(*model, q.data());
          for (const auto& subsystem : matrices->evaluate(q, combined(s.v, t, s.vdot))) {
            all.insert(all.end(), subsystem.y.begin(), subsystem.y.end());
          }
          return all;
        };
        const double h = 1e-4;
        const Numbers after = at(h), before = at(-h);
        Numbers wanted, got;
        for (const Vector& one : yd) wanted.insert(wanted.end(), one.begin(), one.end());
        for (std::size_t k = 0; k < after.size(); ++k) {
          got.push_back((after[k] - before[k]) / (2.0 * h));
        }
        // Truncation is h^2 times third derivatives, which grow with the accelerations.
        const double size = std::max(1.0, largest(qdd));
        EXPECT_LE(largest_difference(got, wanted), 1e-5 * size * size);
      },
      4);
}

// --- worked example -----------------------------------------------------------------------------

constexpr double l1 = 0.7, r1 = 0.3, r2 = 0.4, m1 = 2.0, m2 = 1.5, I1 = 0.05, I2 = 0.03, g = 9.81;

/// Two links along their x axes that turn about z; gravity along -y of the world.
ModelPtr pendulum() {
  Description robot = ground();
  robot.gravity = {0, -g, 0};
  add_link(robot, "upper", m1, {r1, 0, 0}, {I1, 0, 0, I1, 0, I1});
  add_link(robot, "lower", m2, {r2, 0, 0}, {I2, 0, 0, I2, 0, I2});
  add_joint(robot, "shoulder", "revolute", "base", "upper");
  add_joint(robot, "elbow", "revolute", "upper", "lower", {0, 0, 1}, {{l1, 0, 0}, {0, 0, 0}});
  return host().compile(robot);
}

class BremerPendulumTest : public ::testing::Test {
 protected:
  Subsystems at(const Groups& groups) {
    return matrices_of(pendulum(), groups)->evaluate(Numbers{q1, q2}, Numbers{w1, w2});
  }
  const double q1 = 0.4, q2 = -0.9, w1 = 1.1, w2 = -0.6;
  const double c1 = std::cos(q1), s1 = std::sin(q1), c2 = std::cos(q2), s2 = std::sin(q2);
  const double c12 = std::cos(q1 + q2);
  const double tolerance = 1e-14;  // rounding of numbers of order one
};

TEST_F(BremerPendulumTest, IsTwoSubsystemsWithTheEquationsDerivedByHand) {
  const Subsystems all = at({});
  ASSERT_EQ(all.size(), 2u);
  const auto &upper = all[0], &lower = all[1];
  EXPECT_EQ(upper.name, "shoulder");
  EXPECT_EQ(upper.parent, -1);
  EXPECT_EQ(upper.outputs, std::vector<std::string>{"base"});
  EXPECT_EQ(lower.name, "elbow");
  EXPECT_EQ(lower.parent, 0);
  EXPECT_EQ(lower.outputs, std::vector<std::string>{"upper"});
  EXPECT_EQ(lower.inputs, std::vector<std::string>{"elbow"});
  ASSERT_EQ(lower.size(), 7);

  // The lower link, described by the upper one's twist (its z, x and y components are numbers 2, 3
  // and 4) and its own rate (number 6).
  const Matrix M = matrix(lower.M, 7);
  EXPECT_NEAR(M(6, 6), I2 + m2 * r2 * r2, tolerance);
  EXPECT_NEAR(M(6, 2), I2 + m2 * r2 * r2 + m2 * l1 * r2 * c2, tolerance);
  EXPECT_NEAR(M(6, 3), -m2 * r2 * s2, tolerance);
  EXPECT_NEAR(M(6, 4), m2 * r2 * c2, tolerance);
  EXPECT_NEAR(M(2, 2), I2 + m2 * (l1 * l1 + r2 * r2 + 2 * l1 * r2 * c2), tolerance);
  EXPECT_NEAR(M(2, 3), -m2 * r2 * s2, tolerance);
  EXPECT_NEAR(M(2, 4), m2 * (l1 + r2 * c2), tolerance);
  EXPECT_NEAR(M(3, 3), m2, tolerance);
  EXPECT_NEAR(M(4, 4), m2, tolerance);
  EXPECT_NEAR(lower.h[6], m2 * l1 * r2 * s2 * w1 * w1 + m2 * g * r2 * c12, tolerance);
  EXPECT_NEAR(lower.h[2],
              -m2 * l1 * r2 * s2 * (2 * w1 * w2 + w2 * w2) + m2 * g * (l1 * c1 + r2 * c12),
              tolerance);
  const double w12 = w1 + w2;
  EXPECT_NEAR(lower.h[3], m2 * (-l1 * w1 * w1 - r2 * c2 * w12 * w12 + g * s1), tolerance);
  EXPECT_NEAR(lower.h[4], m2 * (-r2 * s2 * w12 * w12 + g * c1), tolerance);

  // The upper link turns as the ground does, plus its rate.
  const Matrix T = matrix(lower.T, 7);
  EXPECT_NEAR(T(2, 6), 1.0, tolerance);
  EXPECT_NEAR(T(3, 3), c1, tolerance);
  EXPECT_NEAR(T(3, 4), s1, tolerance);
  EXPECT_NEAR(T(4, 3), -s1, tolerance);
  EXPECT_EQ(T.row(6).norm(), 0.0);
  EXPECT_EQ(matrix(lower.F, 7), Vector::Unit(7, 6));
  EXPECT_EQ(matrix(lower.B, 7), Vector::Unit(7, 6));
  EXPECT_NEAR(vector(lower.c).norm(), 0.0, tolerance);
  EXPECT_NEAR(lower.y[2], w1, tolerance);
  EXPECT_NEAR(lower.y[6], w2, tolerance);
  EXPECT_EQ(matrix(upper.T, 7).topRows(6), Matrix::Identity(6, 6));
  EXPECT_NEAR(upper.M[48], I1 + m1 * r1 * r1, tolerance);
  EXPECT_NEAR(upper.h[6], m1 * g * r1 * c1, tolerance);
}

TEST_F(BremerPendulumTest, IsOneSubsystemWithTheTextbooksEquations) {
  const Subsystems all = at({{"pendulum", {"elbow", "shoulder"}}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].name, "pendulum");
  EXPECT_EQ(all[0].rates, (std::vector<int>{0, 1}));
  const Matrix M = matrix(all[0].M, 8);
  const double coupling = m2 * l1 * r2 * c2;
  EXPECT_NEAR(M(6, 6), I1 + m1 * r1 * r1 + I2 + m2 * (l1 * l1 + r2 * r2) + 2 * coupling, tolerance);
  EXPECT_NEAR(M(7, 6), I2 + m2 * r2 * r2 + coupling, tolerance);
  EXPECT_NEAR(M(7, 7), I2 + m2 * r2 * r2, tolerance);
  EXPECT_NEAR(M(3, 3), m1 + m2, tolerance);
  const Numbers& h = all[0].h;
  EXPECT_NEAR(
      h[6],
      -m2 * l1 * r2 * s2 * (2 * w1 * w2 + w2 * w2) + g * (m1 * r1 * c1 + m2 * (l1 * c1 + r2 * c12)),
      tolerance);
  EXPECT_NEAR(h[7], m2 * l1 * r2 * s2 * w1 * w1 + m2 * g * r2 * c12, tolerance);
}

}  // namespace
}  // namespace espalier::test::bremer_test
