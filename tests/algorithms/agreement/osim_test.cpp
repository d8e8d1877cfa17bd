#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <set>

#include "algorithms/inverse_osim/pv_osim.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/task_robots.hpp"

// J M^-1 J^T by every registered method, on random trees and on random robots with transmissions
// and loops.

namespace espalier::test::osim_test {
namespace {

// Agreed in the project's specification, relative to the largest entry. Rounding is amplified by
// gear ratios of 100 and positions a hundredth away from dead points: by some 1e5.
constexpr double agreed = 1e-9;

using Values = std::vector<double>;
using Matrix = Eigen::MatrixXd;
using Osim = InverseOsim<double>;

Matrix rows_of(const Values& values, long rows) {
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  return Eigen::Map<const RowMajor>(values.data(), rows, static_cast<long>(values.size()) / rows);
}

Values answer(Osim& algorithm, const State& s) {
  const int m = algorithm.task().size();
  Values out(m * m);
  algorithm.evaluate(s.q, out);
  return out;
}
Values reference(const TaskCase& c) {
  return answer(*host().create<Osim>("dense", c.setup), c.state);
}

/// J from body Jacobians in link axes, with what an end-effector's rows mean written out.
Matrix jacobian(const TaskCase& c) {
  const Model& model = c.model();
  const auto kinematics = any<Kinematics<double>>(c.setup.model);
  kinematics->evaluate(c.state.q, c.state.v, c.state.v);
  const auto bodies = any<BodyJacobians<double>>(c.setup.model);
  bodies->evaluate(c.state.q);
  std::vector<Eigen::VectorXd> rows;
  for (const EndEffector& e : c.setup.end_effectors) {
    const Link& link = model.link(e.link);
    Values J(6 * model.nv());
    bodies->jacobian(link, J);
    Matrix at = rows_of(J, 6);  // moved to the point
    const Eigen::Vector3d r(e.offset.x, e.offset.y, e.offset.z);
    for (int j = 0; j < model.nv(); ++j) {
      const Eigen::Vector3d w = at.col(j).head<3>();
      at.col(j).tail<3>() += w.cross(r);
    }
    if (e.axes == EndEffector::Axes::world) {
      const Mat3<double> E = kinematics->placement(link).E;
      Eigen::Matrix3d R;
      for (int i = 0; i < 9; ++i) R(i % 3, i / 3) = E(i / 3, i % 3);  // transposed: link to world
      at.topRows(3) = (R * at.topRows(3)).eval();
      at.bottomRows(3) = (R * at.bottomRows(3)).eval();
    }
    for (const EndEffector::Row& row : e.rows) {
      rows.emplace_back(at.transpose() * Eigen::Map<const Eigen::Matrix<double, 6, 1>>(row.data()));
    }
  }
  Matrix J(rows.size(), model.nv());
  for (std::size_t i = 0; i < rows.size(); ++i) J.row(i) = rows[i];
  return J;
}

TEST(InverseOsimTest, RotorsOnAllLegsCarryEndEffectors) {
  // Legs are computed side by side; what their folded rotors carry goes beside that.
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/mini_cheetah_geared.yaml",
                                     {.root = CompileOptions::Root::floating});
  struct Setup setup {
    model
  };
  for (const Rotor& rotor : model->rotors()) {
    setup.end_effectors.push_back(
        EndEffector::contact(model->body_names()[rotor.body], {0.01, 0.02, 0.03}));
  }
  ASSERT_EQ(setup.end_effectors.size(), 12u);
  std::vector<double> q(model->nq()), wanted(36 * 36), got(wanted.size());
  model->random(5, q.data());
  host().create<InverseOsim<double>>("dense", setup)->evaluate(q, wanted);
  for (const auto& [name, algorithm] : every<InverseOsim<double>>(setup)) {
    algorithm->evaluate(q, got);
    EXPECT_LE(relative_difference(got, wanted), 1e-9) << name;  // as on the random robots
  }
}

TEST(InverseOsimTest, RobotsHaveEveryKindOfEndEffector) {
  std::set<int> sizes;
  int nested = 0, shared = 0, in_clusters = 0, on_rotors = 0, on_ground = 0, fixed = 0, world = 0,
      deficient = 0;
  for_each_task([&](const TaskCase& c) {
    const Model& model = c.model();
    const Task task(model, c.setup.end_effectors);
    sizes.insert(task.size());
    fixed += model.nv() < 6 || model.body(1).nv != 6;
    std::set<int> bodies;
    for (const Task::Part& part : task.parts()) {
      shared += !bodies.insert(part.body).second;
      world += part.world;
      on_ground += part.body == 0;
      on_rotors += part.body > model.active_body_count();
      if (part.body != 0)
        in_clusters += model.clusters()[model.body(part.body).cluster].constrained;
    }
    for (const int body : bodies) {
      for (int b = body; b != 0; b = model.body(b).parent) {
        nested += b != body && bodies.count(b) > 0;
      }
    }
    const Eigen::VectorXd singular = singular_values(rows_of(reference(c), task.size()));
    deficient += singular.minCoeff() < 1e-12 * singular.maxCoeff();
  });
  for (const int size : {1, 3, 6, 12, 24}) EXPECT_TRUE(sizes.count(size)) << size;
  for (const int count : {nested, shared, in_clusters, on_ground, fixed, world, deficient}) {
    EXPECT_GT(count, 50);
  }
  EXPECT_GT(on_rotors, 20);
}

TEST(InverseOsimTest, OracleIsWhatBodyJacobiansAndMassMatrixGive) {
  for_each_task(
      [](const TaskCase& c) {
        const Matrix J = jacobian(c);
        const long nv = c.model().nv();
        Values M(nv * nv);
        host().create<MassMatrix<double>>("c-crba", c.setup.model)->evaluate(c.state.q, M);
        const Matrix wanted = product(J, solved(rows_of(M, nv), J.transpose()));
        const Matrix got = rows_of(reference(c), J.rows());
        EXPECT_LE((got - wanted).cwiseAbs().maxCoeff(),
                  agreed * std::max(1.0, wanted.cwiseAbs().maxCoeff()));
      },
      2);
}

TEST(InverseOsimTest, AllAlgorithmsAgree) {
  for_each_task([](const TaskCase& c) {
    const Values wanted = reference(c);
    const auto all = every<Osim>(c.setup);
    // Four for any robot and five for trees, besides the oracle and projected-efpa.
    EXPECT_GE(all.size(), c.model().is_tree() ? 11u : 6u);
    for (const auto& [name, algorithm] : all) {
      EXPECT_LE(relative_difference(answer(*algorithm, c.state), wanted), agreed) << name;
    }
  });
}

TEST(InverseOsimTest, IsSymmetricAndPositiveSemidefinite) {
  for_each_task(
      [](const TaskCase& c) {
        for (const auto& [name, algorithm] : every<Osim>(c.setup)) {
          const Matrix A = rows_of(answer(*algorithm, c.state), algorithm->task().size());
          const double size = std::max(1.0, A.cwiseAbs().maxCoeff());
          EXPECT_LE((A - A.transpose()).cwiseAbs().maxCoeff(), agreed * size) << name;
          EXPECT_GE(eigenvalues_of_symmetric(A)(0), -agreed * size) << name;
        }
      },
      2);
}

TEST(InverseOsimTest, RanksOfDependentRowsAreThoseOfJ) {
  int deficient = 0;
  for_each_task(
      [&](const TaskCase& c) {
        const Matrix J = jacobian(c);
        // 1e-7: squared in J M^-1 J^T, and far from rounding there as well.
        const auto rank = [](const Matrix& A, double tolerance) {
          const Eigen::VectorXd values = singular_values(A);
          return (values.array() > tolerance * values.maxCoeff()).count();
        };
        const long wanted = rank(J, 1e-7);
        deficient += wanted < J.rows();
        // Inverse masses of rows may differ by many powers of ten, so only zeros must be zeros.
        for (const auto& [name, algorithm] : every<Osim>(c.setup)) {
          EXPECT_LE(rank(rows_of(answer(*algorithm, c.state), J.rows()), 1e-11), wanted) << name;
        }
      },
      4);
  EXPECT_GT(deficient, 10);
}

TEST(InverseOsimTest, TreeNamesAndClusterNamesAreOneCodeOnTrees) {
  for (int seed = 0; seed < 40; ++seed) {
    const TaskCase c = on_tree(seed);
    for (const char* name : {"efpa", "kjr", "pv-osim", "pv-osimr"}) {
      EXPECT_EQ(answer(*host().create<Osim>(name, c.setup), c.state),
                answer(*host().create<Osim>("c-" + std::string(name), c.setup), c.state))
          << name;
    }
  }
}

TEST(InverseOsimTest, TreeNamesRefuseLoopsAndPointToTheClusterNames) {
  for (int seed = 0; seed < 40; ++seed) {
    const TaskCase c = on_clusters(seed);
    if (c.model().is_tree()) continue;
    for (const std::string name : {"efpa", "kjr", "pv-osim", "pv-osimr", "ltl-osim"}) {
      try {
        host().create<Osim>(name, c.setup);
        ADD_FAILURE() << name << " took a robot with loops";
      } catch (const Unsupported& error) {
        const std::string text = error.what();
        const std::string other = name == "ltl-osim" ? "'c-efpa'" : "'c-" + name + "'";
        EXPECT_NE(text.find(other), std::string::npos) << text;
        EXPECT_NE(text.find(c.model().first_constrained()->name), std::string::npos) << text;
      }
    }
  }
}

TEST(InverseOsimTest, EachLaneOfAPackIsWhatDoubleGives) {
  for (int seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const TaskCase c = seed % 2 == 0 ? on_tree(seed) : on_clusters(seed);
    State states[Pack::size];
    std::vector<Pack> q(c.model().nq());
    for (int k = 0; k < Pack::size; ++k) {
      states[k] = random_cluster_state(c.model(), 100 * seed + k);
      for (std::size_t i = 0; i < q.size(); ++i) q[i].set(k, states[k].q[i]);
    }
    for (const auto& [name, algorithm] : every<InverseOsim<Pack>>(c.setup)) {
      std::vector<Pack> together(algorithm->task().size() * algorithm->task().size());
      algorithm->evaluate(q, together);
      const auto alone = host().create<Osim>(name, c.setup);
      for (int k = 0; k < Pack::size; ++k) {
        Values got;
        for (const Pack& x : together) got.push_back(lane(x, k));
        EXPECT_LE(relative_difference(got, answer(*alone, states[k])), agreed) << name;
      }
    }
  }
}

TEST(InverseOsimTest, CountingGivesTheValues) {
  for (int seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const TaskCase c = seed % 2 == 0 ? on_tree(seed) : on_clusters(seed);
    Inputs inputs;
    inputs.q = c.state.q;
    for (const auto& [name, algorithm] : every<InverseOsim<Count>>(c.setup)) {
      const Values wanted = answer(*host().create<Osim>(name, c.setup), c.state);
      for (const bool fold : {false, true}) {
        fold_constants() = fold;
        Results results;
        algorithm->solve(inputs, results);
        fold_constants() = false;
        ASSERT_EQ(results.size(), 1u);
        EXPECT_EQ(results[0].rows, Result::Axis::task);
        EXPECT_LE(relative_difference(results[0].values, wanted), agreed) << name;
      }
    }
  }
}

// Which bodies start a new bundle is a matter of cost only: every choice is tried where there are
// few, and 64 of them where there are many.
TEST(InverseOsimTest, NoChoiceBetweenNodesAndStacksChangesTheResult) {
  for (int seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const TaskCase c = seed % 2 == 0 ? on_tree(seed % 24) : on_clusters(seed);
    const Values wanted = reference(c);
    const int bodies = c.model().body_count() + 1;
    Rng rng(seed);
    const int choices = bodies <= 6 ? 1 << bodies : 64;
    for (int choice = 0; choice < choices; ++choice) {
      std::vector<bool> starts(bodies);
      for (int i = 0; i < bodies; ++i) {
        starts[i] = bodies <= 6 ? (choice >> i & 1) != 0 : rng.chance(0.5);
      }
      PvOsimBase<double> algorithm(c.setup, starts);
      EXPECT_LE(relative_difference(answer(algorithm, c.state), wanted), agreed) << choice;
    }
  }
}

TEST(InverseOsimTest, ASecondCallDoesNotDependOnTheFirst) {
  for (int seed = 0; seed < 40; ++seed) {
    const TaskCase c = seed % 2 == 0 ? on_tree(seed) : on_clusters(seed);
    const State other = random_cluster_state(c.model(), 7000 + seed);
    for (const auto& [name, algorithm] : every<Osim>(c.setup)) {
      const Values first = answer(*algorithm, c.state);
      answer(*algorithm, other);
      EXPECT_EQ(answer(*algorithm, c.state), first) << name;
    }
  }
}

}  // namespace
}  // namespace espalier::test::osim_test
