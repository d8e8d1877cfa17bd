#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "cli/allocations.hpp"
#include "espalier/sensing/sensor_dynamics.hpp"
#include "espalier/sensing/sensor_structure.hpp"
#include "sensing/solvers/sparse_lu.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/sensor_robots.hpp"
#include "tests/support/sensor_sets.hpp"

// The order of pivots: found off-line, saved and loaded, used without allocation, left where it
// does not hold.

namespace espalier::test::sensor_order_test {
namespace {

using Dynamics = SensorDynamics<double>;

/// A chain of revolute joints; `plain`: with axes at right angles as of Denavit and Hartenberg.
ModelPtr chain(int bodies, bool plain) {
  Description robot = ground();
  Rng rng(static_cast<unsigned long long>(bodies));
  std::string parent = "base";
  constexpr double right_angle = 1.5707963267948966;
  for (int i = 1; i <= bodies; ++i) {
    const std::string link = "link" + std::to_string(i);
    add_link(robot, link);
    robot.links.back().inertial = random_inertial(rng, 0.3);
    const Pose pose = plain ? Pose{{0.3, 0, 0}, {right_angle * (i % 3 - 1), 0, 0}}
                            : Pose{rng.vec3(0.3), rng.vec3(3.0)};
    add_joint(robot, "joint" + std::to_string(i), "revolute", parent, link, {0, 0, 1}, pose);
    parent = link;
  }
  return host().compile(robot);
}

espalier::Setup forward(const ModelPtr& model) {
  return {.model = model, .sensors = forward_sensors(*model)};
}

TEST(SensorOrderTest, BlockFormFindsRankAndBlocks) {
  // Rows 0 and 2 have entries in column 1 alone: one of them is too many.
  const BlockForm poor = block_form(3, {0, 1, 4, 5}, {1, 0, 1, 2, 1});
  EXPECT_EQ(poor.structural_rank, 2);
  EXPECT_TRUE(poor.row_order.empty());
  // [x x 0; x x 0; 0 x x]: a block of two and one of one.
  const std::vector<int> start{0, 2, 5, 6}, rows{0, 1, 0, 1, 2, 2};
  const BlockForm form = block_form(3, start, rows);
  EXPECT_EQ(form.structural_rank, 3);
  ASSERT_EQ(form.block_start.size(), 3u);
  std::vector<int> row_at(3), column_at(3);
  for (int k = 0; k < 3; ++k) row_at[form.row_order[k]] = k, column_at[form.column_order[k]] = k;
  const auto block = [&](int k) { return k < form.block_start[1] ? 0 : 1; };
  for (int j = 0; j < 3; ++j) {
    for (int e = start[j]; e < start[j + 1]; ++e) {
      EXPECT_LE(block(row_at[rows[e]]), block(column_at[j])) << "upper triangular";
    }
  }
}

TEST(SensorOrderTest, FixedLuSolvesRandomSparseSystems) {
  Rng rng(1);
  for (int trial = 0; trial < 50; ++trial) {
    const int n = 5 + rng.below(40);
    SparsePattern pattern;
    pattern.column_start = {0};
    std::vector<std::vector<double>> samples(4);
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n, n);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        if (i != (j + 3) % n && !rng.chance(0.1)) continue;
        pattern.row_index.push_back(i);
        for (auto& s : samples) s.push_back(rng.uniform());
        A(i, j) = samples[0].back();
      }
      pattern.column_start.push_back(static_cast<int>(pattern.row_index.size()));
    }
    PivotOrder order = find_pivots(pattern, samples, {});
    if (order.size() == 0) continue;  // no pivots good for four matrices at once
    FixedLu lu(pattern, order);
    ASSERT_EQ(lu.factor(samples[0].data()), -1);
    const std::vector<double> b = rng.vector(n);
    std::vector<double> x(n);
    lu.solve(b.data(), x.data());
    const Eigen::VectorXd expected = solved(A, Eigen::Map<const Eigen::VectorXd>(b.data(), n));
    const double size = expected.cwiseAbs().maxCoeff();
    for (int i = 0; i < n; ++i) EXPECT_NEAR(x[i], expected(i), 1e-8 * size);
  }
}

TEST(SensorOrderTest, AZeroPivotIsNoticed) {
  const SparsePattern pattern{{0, 2, 4}, {0, 1, 0, 1}};
  const std::vector<double> good{4.0, 1.0, 1.0, 3.0};
  const PivotOrder order = find_pivots(pattern, {good, good, good, good}, {});
  ASSERT_EQ(order.size(), 2);
  FixedLu lu(pattern, order);
  EXPECT_EQ(lu.factor(good.data()), -1);
  const std::vector<double> singular{4.0, 2.0, 2.0, 1.0}, none(4, std::nan(""));
  EXPECT_GE(lu.factor(singular.data()), 0);
  EXPECT_GE(lu.factor(none.data()), 0);
  EXPECT_EQ(lu.factor(good.data()), -1) << "as if nothing had happened";
  std::vector<double> x(2);
  const std::vector<double> b{9.0, 7.0};  // A (20 / 11, 19 / 11)
  lu.solve(b.data(), x.data());
  EXPECT_NEAR(x[0], 20.0 / 11.0, 1e-15);
  EXPECT_NEAR(x[1], 19.0 / 11.0, 1e-15);
}

TEST(SensorOrderTest, CostOfForwardDynamicsGrowsWithTheNumberOfBodies) {
  // theory/sparse 6 counts 681 + 597 operations for each body by the safe order, 569 + 492 with
  // plain geometry. Block triangular form takes the forces along the axes out beforehand.
  for (const bool plain : {false, true}) {
    long last = 0;
    for (const int bodies : {50, 100}) {
      const auto sparse = host().create<Dynamics>("sparse-lu", forward(chain(bodies, plain)));
      const Dynamics::Operations count = sparse->operations();
      EXPECT_LE(count.multiplications, (plain ? 569 : 681) * bodies);
      EXPECT_LE(count.additions, (plain ? 492 : 597) * bodies);
      EXPECT_GT(count.multiplications, 224 * bodies) << "more than the articulated-body algorithm";
      if (last > 0) {
        EXPECT_NEAR(static_cast<double>(count.multiplications), 2.0 * last, 0.05 * last);
      }
      last = count.multiplications;
    }
  }
}

TEST(SensorOrderTest, SymbolicResultsAreSavedAndLoaded) {
  const ModelPtr model = random_tree(6, 8);
  espalier::Setup setup = forward(model);
  const test::State s = random_state(*model, 1);
  for (const char* name : {"sparse-lu", "map"}) {
    setup.symbolic.clear();
    const auto first = host().create<Dynamics>(name, setup);
    const std::vector<double> expected = first->evaluate(s.q, s.v, s.tau).vdot;
    setup.symbolic = first->symbolic();
    ASSERT_FALSE(setup.symbolic.empty());
    const auto second = host().create<Dynamics>(name, setup);
    EXPECT_EQ(second->symbolic(), setup.symbolic);
    EXPECT_EQ(second->operations().entries, first->operations().entries);
    EXPECT_EQ(second->evaluate(s.q, s.v, s.tau).vdot, expected) << "bit by bit";
  }
}

TEST(SensorOrderTest, SymbolicResultsThatDoNotFitAreRefused) {
  const ModelPtr model = random_tree(6, 4);
  espalier::Setup setup = forward(model);
  const std::string good = host().create<Dynamics>("sparse-lu", setup)->symbolic();
  const auto refusal = [&](const std::string& symbolic) -> std::string {
    setup.symbolic = symbolic;
    try {
      host().create<Dynamics>("sparse-lu", setup);
    } catch (const InvalidModel& error) {
      return error.what();
    }
    return "";
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
  };
  EXPECT_EQ(refusal(good), "");
  EXPECT_NE(refusal("nonsense").find("first line is 'nonsense', expected 'espalier symbolic 1'"),
            std::string::npos);
  EXPECT_NE(refusal(with("rows ", "rows 5 5 ")).find("no permutation"), std::string::npos);
  EXPECT_NE(refusal(with("rows ", "rows x ")).find("no number"), std::string::npos);
  EXPECT_NE(refusal(with("blocks 0", "blocks 1")).find("blocks do not ascend"), std::string::npos);
  EXPECT_NE(refusal(with("row_exponents ", "row_exponents 999 ")).find("exponents are not"),
            std::string::npos);
  EXPECT_NE(refusal(good.substr(0, good.find("blocks"))).find("expected 'blocks'"),
            std::string::npos);
  // Two rows exchanged leave entries out.
  const std::size_t start = good.find("rows ") + 5;
  std::string list = good.substr(start, good.find('\n', start) - start);
  const std::size_t space = list.find(' ');
  const std::string swapped = list.substr(list.rfind(' ') + 1) +
                              list.substr(space, list.rfind(' ') - space) + " " +
                              list.substr(0, space);
  EXPECT_NE(refusal(with(list, swapped)).find("block upper triangular"), std::string::npos);
  // Of another set of sensors.
  setup.sensors = inverse_sensors(*model);
  EXPECT_NE(refusal(good).find("another robot, other sensors"), std::string::npos);
}

TEST(SensorOrderTest, WhereThePivotsFailTheMatrixIsFactoredAnew) {
  // A set whose order is found at random positions, and a position at which one of its pivots
  // vanishes though the matrix is regular: an accelerometer on a joint's axis tells the joint
  // before it.
  Rng rng(2);
  int anew = 0;
  for (unsigned long long seed = 1; seed <= 60; ++seed) {
    const ModelPtr model = random_tree(seed, 3);
    SensorSets sets(model, seed);
    const auto sensors = sets.well_posed();
    if (!sensors) continue;
    const espalier::Setup setup{.model = model, .sensors = *sensors};
    SparseLu<double> sparse(setup);
    const auto dense = host().create<Dynamics>("dense", setup);
    const std::vector<double> y = rng.vector(sparse.system().measurements());
    test::State s = random_state(*model, seed);
    for (int k = 0; k < 10; ++k) {
      s.q = special_position(*model, rng);
      const long before = sparse.solver().fallbacks();
      std::vector<double> got;
      try {
        got = sparse.evaluate(s.q, s.v, y).tau;
      } catch (const SingularMechanism&) {
        continue;  // singular at this position, and said so
      }
      if (sparse.solver().fallbacks() == before) continue;
      ++anew;
      try {
        EXPECT_LT(relative_difference(got, dense->evaluate(s.q, s.v, y).tau), 1e-6) << seed;
      } catch (const SingularMechanism&) {  // on the edge of what the oracle calls regular
      }
    }
  }
  EXPECT_GT(anew, 0) << "the way is tried";
}

TEST(SensorOrderTest, EvaluationTakesNoMemory) {
  if (!cli::allocation_count()) GTEST_SKIP() << "this C library gives no way to count allocations";
  for (const ModelPtr& model : {random_tree(3, 12), random_cluster_tree(2, 6)}) {
    const test::State s =
        model->is_tree() ? random_state(*model, 1) : random_cluster_state(*model, 1);
    const Wrenches<double> wrenches = s.wrenches(model);
    const espalier::Setup setup = forward(model);
    for (const char* name : {"sparse-lu", "map"}) {
      const auto algorithm = host().create<Dynamics>(name, setup);
      if (name == std::string("map")) algorithm->set_variances(true);
      for (int call = 0; call < 2; ++call) {
        const long before = *cli::allocation_count();
        algorithm->evaluate(s.q, s.v, s.tau, &wrenches);
        EXPECT_EQ(*cli::allocation_count() - before, 0) << name << ", call " << call;
      }
    }
  }
}

}  // namespace
}  // namespace espalier::test::sensor_order_test
