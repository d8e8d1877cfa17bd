#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "espalier/kernel/problems/dynamics/hybrid_dynamics.hpp"
#include "espalier/sensing/sensor_structure.hpp"
#include "sensing/solvers/instances.hpp"
#include "sensing/solvers/sparse_lu.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/sensor_robots.hpp"

// Inverse, forward and hybrid dynamics are dynamics from sensors, and their matrices have the
// shapes that Nori (2017) and theory/sparse 6 state.

namespace espalier::test::sensor_instances_test {
namespace {

// The issue asks for 1e-9 against the largest entry.
constexpr double tolerance = 1e-9;

using Matrix = Eigen::MatrixXd;

void expect_agreement(const ModelPtr& model, const test::State& s) {
  const auto forward = host().create<ForwardDynamics<double>>("sparse-forward", model);
  const auto inverse = host().create<InverseDynamics<double>>("sparse-inverse", model);
  const auto aba = host().create<ForwardDynamics<double>>("c-aba", model);
  const auto rnea = host().create<InverseDynamics<double>>("c-rnea", model);
  const Wrenches<double> wrenches = s.wrenches(model);
  std::vector<double> got(model->nv()), expected(model->nv());
  forward->evaluate(s.q, s.v, s.tau, got, &wrenches);
  aba->evaluate(s.q, s.v, s.tau, expected, &wrenches);
  EXPECT_LT(relative_difference(got, expected), tolerance) << "forward, " << model->name();
  inverse->evaluate(s.q, s.v, s.vdot, got, &wrenches);
  rnea->evaluate(s.q, s.v, s.vdot, expected, &wrenches);
  EXPECT_LT(relative_difference(got, expected), tolerance) << "inverse, " << model->name();

  Rng rng(7);
  espalier::Setup setup{model};
  for (const Coordinate& c : model->coordinates()) {
    if (rng.chance(0.5)) {
      setup.sensors.push_back({.kind = Sensor::Kind::acceleration, .joint = c.joint});
    }
  }
  std::vector<std::vector<double>> taus, vdots;
  for (const auto& [name, hybrid] : every<HybridDynamics<double>>(setup)) {
    std::vector<double> tau(model->nv()), vdot(model->nv());
    hybrid->evaluate(s.q, s.v, s.tau, tau, vdot, &wrenches);
    // The answer is a motion under forces: RNEA gives the forces for the motion.
    rnea->evaluate(s.q, s.v, vdot, expected, &wrenches);
    // The oracle's M is a sum over Jacobians in world axes, which costs a digit more.
    EXPECT_LT(relative_difference(tau, expected), (name == "dense" ? 10.0 : 1.0) * tolerance)
        << name << ", " << model->name();
    for (int j = 0; j < model->nv(); ++j) {
      EXPECT_NEAR(hybrid->is_accelerated(j) ? vdot[j] : tau[j], s.tau[j], 1e-9) << name;
    }
    taus.push_back(tau), vdots.push_back(vdot);
  }
  ASSERT_EQ(taus.size(), 2u);
  EXPECT_LT(relative_difference(taus[0], taus[1]), tolerance) << model->name();
  EXPECT_LT(relative_difference(vdots[0], vdots[1]), tolerance) << model->name();
}

TEST(SensorInstancesTest, AgreeOnRandomTrees) {
  for (unsigned long long seed = 1; seed <= 60; ++seed) {
    const ModelPtr model = random_tree(seed, 1 + static_cast<int>(seed % 12));
    expect_agreement(model, random_state(*model, seed));
  }
}

TEST(SensorInstancesTest, AgreeAtSpecialPositions) {
  for (unsigned long long seed = 1; seed <= 60; ++seed) {
    const ModelPtr model = random_tree(seed, 2 + static_cast<int>(seed % 8));
    test::State s = random_state(*model, seed);
    Rng rng(seed);
    s.q = special_position(*model, rng);
    expect_agreement(model, s);
  }
}

TEST(SensorInstancesTest, AgreeOnRandomClusterTrees) {
  for (unsigned long long seed = 1; seed <= 60; ++seed) {
    const ModelPtr model = random_cluster_tree(seed, 3 + static_cast<int>(seed % 3));
    test::State s = random_cluster_state(*model, seed);
    expect_agreement(model, s);
    // Neutral: joints at zero, frames aligned. Where it is a dead point, nothing is determined.
    model->neutral(s.q.data());
    if (examine(*model, s.q.data()).margin > 1e-3) expect_agreement(model, s);
  }
}

TEST(SensorInstancesTest, InverseDynamicsOfTreesAreTriangularWithoutFill) {
  for (unsigned long long seed = 1; seed <= 20; ++seed) {
    const ModelPtr model = random_tree(seed, 10);
    SensorSystem system(*model, inverse_sensors(*model));
    ASSERT_TRUE(system.square());
    const BlockForm form = block_form(system.rows(), system.column_start(), system.row_index());
    ASSERT_EQ(form.structural_rank, system.unknowns());
    EXPECT_EQ(static_cast<int>(form.block_start.size()) - 1, system.unknowns())
        << "blocks of size 1: a triangular matrix";
    const FixedLu lu(pattern_of(system), order_for(system, {}));
    EXPECT_EQ(lu.fill(), 0);
    EXPECT_EQ(lu.factor_multiplications(), 0) << "nothing to eliminate";
  }
}

/// The matrix form of the articulated-body algorithm, built from the robot's dense matrices:
/// W^L D W^R with W^L = W4 W3 W2 W1.
TEST(SensorInstancesTest, MatrixFormOfTheArticulatedBodyAlgorithmIsTriangular) {
  for (unsigned long long seed = 1; seed <= 20; ++seed) {
    const ModelPtr model = random_tree(seed, 7);
    const int bodies = model->body_count();
    // All torques and all external wrenches are measured.
    std::vector<Sensor> sensors = forward_sensors(*model);
    for (int i = 1; i <= bodies; ++i) {
      sensors.push_back({.kind = Sensor::Kind::wrench, .link = model->body_names()[i]});
    }
    SensorSystem system(*model, sensors);
    const test::State s = random_state(*model, seed);
    const std::vector<double> y(system.measurements(), 0.0);
    system.update(s.q.data(), s.v.data(), y.data(), model->gravity(), nullptr);
    const int n = system.unknowns();
    ASSERT_EQ(system.rows(), n);
    Matrix D = Matrix::Zero(n, n);
    for (int j = 0; j < n; ++j) {
      for (int e = system.column_start()[j]; e < system.column_start()[j + 1]; ++e) {
        D(system.row_index()[e], j) = system.values()[e];
      }
    }
    const Matrix original = D;

    // Blocks of D give X_i, S_i, I_i and the armature.
    const auto X = [&](int i) {
      return Matrix(original.block(system.acceleration_row(i),
                                   system.acceleration(model->body(i).parent), 6, 6));
    };
    const auto S = [&](int i) {
      const Body& b = model->body(i);
      return Matrix(original.block(system.acceleration_row(i), system.qdd(b.v), 6, b.nv));
    };
    const auto armature = [&](int i) {
      const Body& b = model->body(i);
      return Matrix(original.block(system.torque_row(b.v), system.qdd(b.v), b.nv, b.nv));
    };
    std::vector<Matrix> IA(bodies + 1), joint_inertia(bodies + 1);
    for (int i = 1; i <= bodies; ++i) {
      IA[i] = original.block(system.force_row(i), system.acceleration(i), 6, 6);
    }
    for (int i = bodies; i >= 1; --i) {
      joint_inertia[i] = S(i).transpose() * IA[i] * S(i) + armature(i);
      if (model->body(i).parent == 0) continue;
      const Matrix U = IA[i] * S(i);
      const Matrix Ia = IA[i] - U * inverse(joint_inertia[i]) * U.transpose();
      IA[model->body(i).parent] += X(i).transpose() * Ia * X(i);
    }

    Matrix WR = Matrix::Identity(n, n), W1 = WR, W2 = WR, W3 = WR, W4 = WR;
    for (int i = 1; i <= bodies; ++i) {
      const Body& b = model->body(i);
      const int tau = system.torque_row(b.v), a = system.acceleration_row(i);
      WR.block(system.joint_wrench(i), system.acceleration(i), 6, 6) = IA[i];
      W1.block(tau, a, b.nv, 6) = S(i).transpose() * IA[i];
      W2.block(tau, tau, b.nv, b.nv) = inverse(joint_inertia[i]);
      W3.block(a, tau, 6, b.nv) = -S(i);
      if (b.parent != 0) {
        W4.block(system.force_row(b.parent), a, 6, 6) = X(i).transpose() * IA[i];
      }
    }
    Matrix product = WR;
    for (const Matrix* left : {&D, &W1, &W2, &W3, &W4}) product = test::product(*left, product);

    std::vector<int> rows, columns;
    const auto add = [](std::vector<int>& list, int first, int count) {
      for (int k = 0; k < count; ++k) list.push_back(first + k);
    };
    for (int i = 1; i <= bodies; ++i) {  // what is measured
      const Body& b = model->body(i);
      add(columns, system.contacts()[i - 1].first, 6);
      for (int k = 0; k < b.nv; ++k) columns.push_back(system.torque(b.v + k));
    }
    // A sensor's row belongs to the column that it measures.
    const std::size_t measured = columns.size();
    for (std::size_t k = 0; k < measured; ++k) {
      for (int row = system.model_rows(); row < n; ++row) {
        // Links' frames may be turned against each other; the first entry marks the row's block.
        if (original(row, columns[k]) == 0.0) continue;
        if (std::find(rows.begin(), rows.end(), row) == rows.end()) rows.push_back(row);
      }
    }
    for (int i = bodies; i >= 1; --i) {
      add(columns, system.joint_wrench(i), 6);
      add(rows, system.force_row(i), 6);
    }
    for (int i = 1; i <= bodies; ++i) {
      add(columns, system.acceleration(i), 6);
      add(rows, system.acceleration_row(i), 6);
    }
    for (int i = 1; i <= bodies; ++i) {
      const Body& b = model->body(i);
      add(columns, system.qdd(b.v), b.nv);
      add(rows, system.torque_row(b.v), b.nv);
    }
    ASSERT_EQ(rows.size(), static_cast<std::size_t>(n));
    const Matrix triangle = product(rows, columns);
    // Products of inertias of order 1 to 1e2, 42 bodies' entries: rounding stays below 1e-10.
    EXPECT_LT(triangle.triangularView<Eigen::StrictlyUpper>().toDenseMatrix().cwiseAbs().maxCoeff(),
              1e-10)
        << model->name();
    EXPECT_GT(triangle.diagonal().cwiseAbs().minCoeff(), 0.5);
  }
}

TEST(SensorInstancesTest, FixedOrderHoldsAtAThousandPositions) {
  const ModelPtr model = random_tree(3, 12);
  const espalier::Setup setup{.model = model, .sensors = forward_sensors(*model)};
  SparseLu<double> sparse(setup);
  const auto aba = host().create<ForwardDynamics<double>>("aba", model);
  std::vector<double> vdot(model->nv());
  for (unsigned long long seed = 1; seed <= 1000; ++seed) {
    test::State s = random_state(*model, seed);
    if (seed % 10 == 0) {
      Rng rng(seed);
      s.q = special_position(*model, rng);
    }
    aba->evaluate(s.q, s.v, s.tau, vdot);
    ASSERT_LT(relative_difference(sparse.evaluate(s.q, s.v, s.tau).vdot, vdot), tolerance) << seed;
  }
  EXPECT_EQ(sparse.solver().fallbacks(), 0);
}

}  // namespace
}  // namespace espalier::test::sensor_instances_test
