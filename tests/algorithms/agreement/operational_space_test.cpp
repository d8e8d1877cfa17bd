#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/dynamics/constrained_dynamics.hpp"
#include "espalier/kernel/problems/operational_space/operational_space.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/task_robots.hpp"

// What controllers in operational space ask for, and robots whose end-effectors are held.

namespace espalier::test::operational_space_test {
namespace {

// Agreed in the project's specification, relative to the largest entry.
constexpr double agreed = 1e-9;
// Where Lambda enters: singular values down to 1e-5 of the largest count as no zeros, so that
// rounding is amplified by up to 1e10 in it; products with J bring it down again.
constexpr double through_lambda = 1e-6;

using Values = std::vector<double>;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Space = OperationalSpace<double>;
using Held = ConstrainedDynamics<double>;

Matrix rows_of(const Values& values, long rows) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const long columns = rows == 0 ? 0 : static_cast<long>(values.size()) / rows;
  return Eigen::Map<const RowMajor>(values.data(), rows, columns);
}
Vector vector(const Values& values) {
  return Eigen::Map<const Vector>(values.data(), static_cast<long>(values.size()));
}
Values numbers(const Vector& v) { return {v.begin(), v.end()}; }

/// Largest entry of a difference, against the largest of `size` and one.
double off(const Matrix& a, const Matrix& b, double size = 0.0) {
  if (a.size() == 0) return 0.0;
  return (a - b).cwiseAbs().maxCoeff() / std::max({1.0, size, b.cwiseAbs().maxCoeff()});
}

Space::Answer answer(Space& algorithm, const TaskCase& c) {
  const Wrenches<double> wrenches = c.state.wrenches(c.setup.model);
  return algorithm.evaluate(c.state.q, c.state.v, c.state.tau, &wrenches);
}
Space::Answer oracle(const TaskCase& c) {
  return answer(*host().create<Space>("dense", c.setup), c);
}

/// The matrices of the oracle, and M from elsewhere.
struct Matrices {
  explicit Matrices(const TaskCase& c) : from(oracle(c)) {
    m = static_cast<long>(from.task_bias.size());
    nv = c.model().nv();
    J = rows_of(from.jacobian, m);
    A = rows_of(from.inverse_osim, m);
    osim = rows_of(from.osim, m);
    Jbar = rows_of(from.consistent_inverse, nv);
    N = rows_of(from.null_projector, nv);
    JMinv = rows_of(from.task_input, m);
    Values values(nv * nv);
    host().create<MassMatrix<double>>("c-crba", c.setup.model)->evaluate(c.state.q, values);
    M = rows_of(values, nv);
  }
  Space::Answer from;
  long m, nv;
  Matrix J, A, osim, Jbar, N, JMinv, M;
};

/// Whether zeros among the eigenvalues of J M^-1 J^T are told apart from the others by far.
bool well_conditioned(const Matrices& x) {
  const Vector eigenvalues = eigenvalues_of_symmetric(x.A);
  const Vector relative = eigenvalues / eigenvalues.maxCoeff();
  return ((relative.array() > 1e-6) || (relative.array() < 1e-13)).all();
}

TEST(OperationalSpaceTest, EveryAlgorithmAgreesWithTheOracle) {
  for_each_task(
      [](const TaskCase& c) {
        const Matrices x(c);
        if (!well_conditioned(x)) return;
        const Space::Answer& wanted = x.from;
        for (const auto& [name, algorithm] : every<Space>(c.setup)) {
          const Space::Answer got = answer(*algorithm, c);
          EXPECT_EQ(got.rank, wanted.rank) << name;
          for (const auto member :
               {&Space::Answer::jacobian, &Space::Answer::inverse_osim, &Space::Answer::task_input,
                &Space::Answer::task_bias, &Space::Answer::free_acceleration}) {
            EXPECT_LE(relative_difference(got.*member, wanted.*member), agreed) << name;
          }
          for (const auto member : {&Space::Answer::osim, &Space::Answer::consistent_inverse,
                                    &Space::Answer::null_projector, &Space::Answer::bias_force}) {
            EXPECT_LE(relative_difference(got.*member, wanted.*member), through_lambda) << name;
          }
        }
      },
      2);
}

TEST(OperationalSpaceTest, ConsistentInverseInvertsJOnItsRange) {
  int checked = 0;
  for_each_task([&](const TaskCase& c) {
    const Matrices x(c);
    if (!well_conditioned(x)) return;
    ++checked;
    const Matrix projector = x.J * x.Jbar;
    EXPECT_LE(off(projector * x.J, x.J), through_lambda);
    EXPECT_LE(off(projector, projector.transpose()), through_lambda);
    if (x.from.rank == x.m) {
      EXPECT_LE(off(projector, Matrix::Identity(x.m, x.m)), through_lambda);
    }
    EXPECT_LE(off(x.A * x.osim * x.A, x.A), through_lambda);
    EXPECT_NEAR(projector.trace(), x.from.rank, through_lambda * static_cast<double>(x.m));
  });
  EXPECT_GT(checked, task_robots);
}

TEST(OperationalSpaceTest, ForcesThatTheNullProjectorPassesDoNotAccelerateTheTask) {
  for_each_task([](const TaskCase& c) {
    const Matrices x(c);
    if (!well_conditioned(x)) return;
    const double size = x.JMinv.cwiseAbs().maxCoeff() * std::max(1.0, x.N.cwiseAbs().maxCoeff());
    EXPECT_LE(off(x.JMinv * x.N, Matrix::Zero(x.m, x.nv), size), through_lambda);
    EXPECT_LE(off(x.N * x.N, x.N, x.N.cwiseAbs().maxCoeff() * x.N.cwiseAbs().maxCoeff()),
              through_lambda);
    EXPECT_NEAR(x.N.trace(), static_cast<double>(x.nv - x.from.rank),
                through_lambda * std::max(1.0, x.N.cwiseAbs().maxCoeff()));
  });
}

TEST(OperationalSpaceTest, TaskInputIsJTimesTheInverseOfM) {
  for_each_task([](const TaskCase& c) {
    const Matrices x(c);
    const double size = x.JMinv.cwiseAbs().maxCoeff() * x.M.cwiseAbs().maxCoeff();
    EXPECT_LE(off(x.JMinv * x.M, x.J, size), agreed);
    EXPECT_LE(off(x.JMinv * x.J.transpose(), x.A), agreed);
  });
}

TEST(OperationalSpaceTest, FreeAccelerationIsThatOfForwardDynamics) {
  for_each_task([](const TaskCase& c) {
    const Matrices x(c);
    const Wrenches<double> wrenches = c.state.wrenches(c.setup.model);
    Values vdot(x.nv);
    host()
        .create<ForwardDynamics<double>>("c-aba", c.setup.model)
        ->evaluate(c.state.q, c.state.v, c.state.tau, vdot, &wrenches);
    const Vector J_vdot = x.J * vector(vdot);
    EXPECT_LE(off(vector(x.from.free_acceleration), J_vdot + vector(x.from.task_bias),
                  J_vdot.cwiseAbs().maxCoeff()),
              agreed);
  });
}

TEST(OperationalSpaceTest, BiasForceHoldsTheTaskStill) {
  for_each_task([](TaskCase c) {
    const Matrices x(c);
    if (!well_conditioned(x) || x.from.rank < x.m) return;
    c.state.tau = numbers(x.J.transpose() * vector(x.from.bias_force));
    const Space::Answer held = oracle(c);
    const double size = std::max(largest(x.from.free_acceleration), largest(held.task_bias));
    EXPECT_LE(largest(held.free_acceleration), through_lambda * std::max(1.0, size));
  });
}

// d/dt (J v) at constant v is (dJ/dt) v, on any motion of this velocity: positions are moved along
// the spanning rates, and loops closed again for the independent ones.
TEST(OperationalSpaceTest, TaskBiasIsTheRateOfJTimesV) {
  int with_loops = 0;
  for_each_task(
      [&](const TaskCase& c) {
        const Model& model = c.model();
        SpanningMotion<double> motion(model);
        motion.update(c.state.q.data(), c.state.v.data());
        const Values qd(motion.qd(), motion.qd() + model.spanning_nv());
        const auto algorithm = host().create<Space>("dense", c.setup);
        bool closed = true;
        const auto task_velocity = [&](double t) {
          Values q = moved(model, c.state.q, qd, t);
          model.apply_couplings(q.data());
          if (model.has_variable_constraints()) {
            closed = closed &&
                     close(model, c.state.q.data(), q.data()).verdict == Closure::Verdict::closed;
          }
          const auto& at = algorithm->evaluate(q, c.state.v, c.state.tau);
          return numbers(rows_of(at.jacobian, static_cast<long>(at.task_bias.size())) *
                         vector(c.state.v));
        };
        // Rotors turn 100 times as fast as their links: truncation (100 h)^4 / 30 = 3e-10 of the
        // derivative, as small as rounding.
        const Values wanted = derivative(task_velocity, 1e-4);
        if (!closed) return;
        with_loops += model.has_variable_constraints();
        // Loops are closed to 1e-12, positions then to 1e-10: divided by h, 1e-6.
        const double size = std::max({1.0, largest(wanted), largest(task_velocity(0.0))});
        EXPECT_LE(largest_difference(oracle(c).task_bias, wanted), 1e-6 * size);
      },
      2);
  EXPECT_GT(with_loops, 30);
}

TEST(OperationalSpaceTest, AxesOfTheWorldMeanOrdinaryAcceleration) {
  // A point on a wheel that turns at rate 2 about z: towards the axis with 2² r, in world axes; in
  // its own axes, at rest.
  Description robot = ground();
  add_link(robot, "wheel", 1.0, {0, 0, 0}, {1, 0, 0, 1, 0, 1});
  add_joint(robot, "axle", "revolute", "base", "wheel");
  const ModelPtr model = host().compile(robot);
  const Vec3<double> at{0.5, 0, 0};
  for (const auto axes : {EndEffector::Axes::world, EndEffector::Axes::link}) {
    TaskCase c{{model, {EndEffector::contact("wheel", at, axes)}},
               {{0.0}, {2.0}, {0.0}, {0.0}, {}}};
    for (const auto& [name, algorithm] : every<Space>(c.setup)) {
      const Space::Answer a = answer(*algorithm, c);
      const bool world = axes == EndEffector::Axes::world;
      EXPECT_NEAR(a.task_bias[0], world ? -2.0 : 0.0, 1e-15) << name;  // exact but for rounding
      EXPECT_NEAR(a.task_bias[1], 0.0, 1e-15) << name;
      EXPECT_NEAR(a.jacobian[1], 0.5, 1e-15) << name;
      EXPECT_NEAR(a.inverse_osim[4], 0.25, 1e-15) << name;
      EXPECT_EQ(a.rank, 1) << name;
    }
  }
}

// --- constrained dynamics ---------------------------------------------------------------------

Held::Answer answer(Held& algorithm, const TaskCase& c, const Values& acceleration) {
  const Wrenches<double> wrenches = c.state.wrenches(c.setup.model);
  return algorithm.evaluate(c.state.q, c.state.v, c.state.tau, acceleration, &wrenches);
}

/// M vdot + C - tau - J^T f, by inverse dynamics, against the largest of its terms.
double unbalanced(const TaskCase& c, const Matrices& x, const Held::Answer& a) {
  const Wrenches<double> wrenches = c.state.wrenches(c.setup.model);
  Values needed(x.nv);
  host()
      .create<InverseDynamics<double>>("c-rnea", c.setup.model)
      ->evaluate(c.state.q, c.state.v, a.vdot, needed, &wrenches);
  const Vector from_task = x.J.transpose() * vector(a.force);
  const double size =
      std::max({1.0, largest(needed), (x.M.cwiseAbs() * vector(a.vdot).cwiseAbs()).maxCoeff(),
                (x.J.cwiseAbs().transpose() * vector(a.force).cwiseAbs()).maxCoeff()});
  return (vector(needed) - vector(c.state.tau) - from_task).cwiseAbs().maxCoeff() / size;
}

/// Accelerations that the task can have: J x + (dJ/dt) v.
Values possible_acceleration(const TaskCase& c, const Matrices& x) {
  Rng rng(17);
  return numbers(x.J * vector(rng.vector(c.model().nv())) + vector(x.from.task_bias));
}

TEST(ConstrainedDynamicsTest, ConstraintsThatCanBeMetAreMet) {
  int checked = 0;
  for_each_task([&](const TaskCase& c) {
    const Matrices x(c);
    if (!well_conditioned(x) || x.nv == 0) return;
    ++checked;
    const Values a = possible_acceleration(c, x);
    const double size =
        std::max({1.0, largest(a), largest(x.from.task_bias), largest(x.from.free_acceleration)});
    for (const auto& [name, algorithm] : every<Held>(c.setup)) {
      const Held::Answer got = answer(*algorithm, c, a);
      const Vector lack = x.J * vector(got.vdot) + vector(x.from.task_bias) - vector(a);
      EXPECT_LE(lack.cwiseAbs().maxCoeff(), through_lambda * size) << name;
      EXPECT_LE(got.conflict, through_lambda * size) << name;
      EXPECT_EQ(got.rank, x.from.rank) << name;
      EXPECT_LE(unbalanced(c, x, got), through_lambda) << name;
    }
  });
  EXPECT_GT(checked, task_robots);
}

TEST(ConstrainedDynamicsTest, EveryAlgorithmAgreesWithTheOracle) {
  for_each_task(
      [](const TaskCase& c) {
        const Matrices x(c);
        if (!well_conditioned(x)) return;
        Rng rng(23);
        // What cannot be met has answers, too: the nearest.
        for (const Values& a : {possible_acceleration(c, x), rng.vector(static_cast<int>(x.m))}) {
          const Held::Answer wanted = answer(*host().create<Held>("dense", c.setup), c, a);
          for (const auto& [name, algorithm] : every<Held>(c.setup)) {
            const Held::Answer got = answer(*algorithm, c, a);
            EXPECT_LE(relative_difference(got.vdot, wanted.vdot), through_lambda) << name;
            EXPECT_LE(relative_difference(got.force, wanted.force), through_lambda) << name;
            EXPECT_NEAR(
                got.conflict, wanted.conflict,
                through_lambda * std::max(1.0, largest(a) + largest(x.from.free_acceleration)))
                << name;
            EXPECT_EQ(got.rank, wanted.rank) << name;
          }
        }
      },
      2);
}

TEST(ConstrainedDynamicsTest, ForcesAreTheSmallestAndMissesTheLeast) {
  for_each_task(
      [](const TaskCase& c) {
        const Matrices x(c);
        if (!well_conditioned(x) || x.from.rank == x.m) return;
        const Values a = Rng(29).vector(static_cast<int>(x.m));
        // Onto the range of J, in which smallest forces lie and to which misses are orthogonal.
        const Matrix range = x.A * x.osim;
        for (const auto& [name, algorithm] : every<Held>(c.setup)) {
          const Held::Answer got = answer(*algorithm, c, a);
          const Vector f = vector(got.force);
          EXPECT_LE(off(range * f, f), through_lambda) << name;
          const Vector miss = x.J * vector(got.vdot) + vector(x.from.task_bias) - vector(a);
          const double size = miss.cwiseAbs().maxCoeff() + largest(x.from.free_acceleration);
          EXPECT_LE((range * miss).cwiseAbs().maxCoeff(), through_lambda * std::max(1.0, size))
              << name;
        }
      },
      2);
}

/// A body in the air with two legs of three joints.
ModelPtr biped() {
  Description robot = ground();
  add_link(robot, "trunk", 10.0, {0, 0, 0.1}, {0.3, 0, 0, 0.2, 0, 0.25});
  add_joint(robot, "air", "floating", "base", "trunk");
  for (const std::string side : {"left_", "right_"}) {
    const auto leg = [&](const std::string& parent, const std::string& link, Vec3<double> axis,
                         Vec3<double> at) {
      add_link(robot, side + link, 1.0, {0, 0, -0.2}, {0.06, 0, 0, 0.06, 0, 0.01});
      add_joint(robot, side + link + "_joint", "revolute", parent, side + link, axis, {at, {}});
    };
    leg("trunk", "hip", {1, 0, 0}, {0, side == "left_" ? 0.1 : -0.1, 0});
    leg(side + "hip", "thigh", {0, 1, 0}, {0, 0, 0});
    leg(side + "thigh", "foot", {0, 1, 0}, {0, 0, -0.4});
  }
  return host().compile(robot);
}

std::vector<EndEffector> feet() {
  std::vector<EndEffector> all;
  for (const char* foot : {"left_foot", "right_foot"}) {
    for (const double x : {-0.1, 0.1}) {
      for (const double y : {-0.05, 0.05}) all.push_back(EndEffector::contact(foot, {x, y, -0.4}));
    }
  }
  return all;
}

TEST(ConstrainedDynamicsTest, FourContactsOnEachFootAreHalfRedundant) {
  const ModelPtr model = biped();
  TaskCase c{{model, feet()}, random_state(*model, 3)};
  c.state.v.assign(model->nv(), 0.0);  // in rest, corners that stand still contradict nothing
  const Matrices x(c);
  for (const auto& [name, algorithm] : every<Held>(c.setup)) {
    const Held::Answer a = answer(*algorithm, c, Values(24, 0.0));
    EXPECT_EQ(a.rank, 12) << name;  // both feet are welded: six rows each
    // Condition of J M^-1 J^T: the square of a lever arm of 5 cm against 1 m.
    EXPECT_LE(a.conflict, 1e-9) << name;
    EXPECT_LE(unbalanced(c, x, a), agreed) << name;
    EXPECT_LE((x.J * vector(a.vdot)).cwiseAbs().maxCoeff(), 1e-9) << name;
  }
}

TEST(ConstrainedDynamicsTest, ContradictoryContactsAreReportedAndSplitEvenly) {
  const ModelPtr model = biped();
  const Vec3<double> toe{0.1, 0, -0.4};
  TaskCase c{
      {model, {EndEffector::contact("left_foot", toe), EndEffector::contact("left_foot", toe)}},
      random_state(*model, 3)};
  const Matrices x(c);
  const Values pulled{1.0, 0, 0, 3.0, 0, 0};
  const Vector bias = vector(x.from.task_bias);
  for (const auto& [name, algorithm] : every<Held>(c.setup)) {
    const Held::Answer a = answer(*algorithm, c, pulled);
    EXPECT_EQ(a.rank, 3) << name;
    EXPECT_NEAR(a.conflict, 1.0, agreed) << name;
    const Vector got = x.J * vector(a.vdot) + bias;
    EXPECT_NEAR(got(0), 2.0, agreed) << name;
    EXPECT_NEAR(got(3), 2.0, agreed) << name;
    // One force in two equal halves.
    for (int i = 0; i < 3; ++i) EXPECT_NEAR(a.force[i], a.force[i + 3], 1e-7) << name;
    EXPECT_LE(unbalanced(c, x, a), agreed) << name;
  }
}

TEST(ConstrainedDynamicsTest, ComplianceLetsConstraintsGiveInProportionToTheirForces) {
  const ModelPtr model = biped();
  TaskCase c{{model, feet()}, random_state(*model, 3)};
  const Matrices x(c);
  const double compliance = 1e-3;
  const Values a = Rng(31).vector(24);
  for (const auto& [name, algorithm] : every<Held>(c.setup)) {
    algorithm->set_compliance(compliance);
    const Held::Answer got = answer(*algorithm, c, a);
    const Vector given = vector(a) - x.J * vector(got.vdot) - vector(x.from.task_bias);
    // Forces of some 1e3 N.
    EXPECT_LE(off(given, compliance * vector(got.force)), 1e-8) << name;
    EXPECT_NEAR(got.conflict, given.cwiseAbs().maxCoeff(), 1e-8) << name;
    EXPECT_LE(unbalanced(c, x, got), agreed) << name;
    EXPECT_EQ(got.rank, 12) << name;
  }
}

TEST(ConstrainedDynamicsTest, TheGroundCannotBePulledAndFeelsNothing) {
  const ModelPtr model = biped();
  const TaskCase c{{model, {EndEffector::weld("base"), EndEffector::contact("right_foot")}},
                   random_state(*model, 3)};
  for (const auto& [name, algorithm] : every<Held>(c.setup)) {
    Values a(9, 0.0);
    a[4] = 5.0;
    const Held::Answer got = answer(*algorithm, c, a);
    EXPECT_EQ(got.rank, 3) << name;
    EXPECT_NEAR(got.conflict, 5.0, agreed) << name;
    for (int i = 0; i < 6; ++i) EXPECT_EQ(got.force[i], 0.0) << name;
  }
}

}  // namespace
}  // namespace espalier::test::operational_space_test
