#include "algorithms/segments/turning_rows.hpp"

#include <set>

#include "algorithms/mass_matrix/composite_bodies.hpp"
#include "algorithms/segments/articulated/articulated_rows.hpp"
#include "algorithms/segments/articulated/floating_base.hpp"
#include "algorithms/segments/articulated/plain_run.hpp"
#include "algorithms/segments/composite/composite_rows.hpp"
#include "tests/algorithms/chains/chain_kernels.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

// Bodies side by side: algorithms/segments/turning_rows.hpp, composite_rows.hpp and
// articulated_rows.hpp, beside the same recursions body by body.

namespace espalier::test::turning_rows_test {
namespace {

constexpr int lanes = RowLanes<double>::size;
using Plan = TurningRows<lanes>;
using Place = Plan::Place;

/// Trees of every shape on revolute joints, on the ground and on a floating root.
template <class F>
void for_trees(F&& f) {
  using Shape = RobotOptions::Shape;
  int trees = 0;
  for (const Shape shape : {Shape::random, Shape::binary, Shape::star, Shape::chain}) {
    for (const int bodies : {1, 2, 7, 23, 60}) {
      for (const bool floating : {false, true}) {
        RobotOptions options;
        options.seed = 10 * bodies + static_cast<int>(shape);
        options.bodies = bodies;
        options.shape = shape;
        options.types = {"revolute"};
        options.floating_base = floating;
        if (floating && bodies == 1) continue;  // nothing hangs on the root
        const ModelPtr model = host().compile(random_robot(host().registry(), options));
        f("bodies " + std::to_string(bodies) + ", shape " +
              std::to_string(static_cast<int>(shape)) + (floating ? ", floating" : ""),
          model);
        ++trees;
      }
    }
  }
  EXPECT_EQ(trees, 36);
}

TEST(TurningRowsTest, EachBodyHasALaneOfItsOwn) {
  for_trees([](const std::string& name, const ModelPtr& model) {
    const Plan plan(*model);
    std::multiset<int> bodies;
    for (const Plan::Row& row : plan.rows) {
      for (const int b : row.body) {
        if (b > 0) bodies.insert(b);
      }
    }
    EXPECT_EQ(static_cast<int>(bodies.size()), model->active_body_count() - plan.root) << name;
    for (int i = plan.root + 1; i <= model->active_body_count(); ++i) {
      EXPECT_EQ(bodies.count(i), 1u) << name << ", body " << i;
    }
  });
}

TEST(TurningRowsTest, WaysLeadOverTheParentsToTheGround) {
  for_trees([](const std::string& name, const ModelPtr& model) {
    const Plan plan(*model);
    for (std::size_t r = 0; r < plan.rows.size(); ++r) {
      const Plan::Row& row = plan.rows[r];
      for (int k = 0; k < lanes; ++k) {
        int at = row.body[k];
        for (const auto& places : row.ways) {
          ASSERT_GE(places[k].row, 0) << name;
          ASSERT_LT(places[k].row, static_cast<int>(r)) << name;  // is placed before
          if (row.body[k] == 0) continue;
          at = model->body(at).parent;
          EXPECT_EQ(plan.rows[places[k].row].body[places[k].lane], at) << name;
        }
        if (row.body[k] > 0) EXPECT_EQ(model->body(at).parent, plan.root) << name;
      }
    }
  });
}

TEST(TurningRowsTest, ChildrenOfAFullRowStandInItsLanes) {
  RobotOptions options;
  options.bodies = 62;  // 2, 4, 8, 16 and 32 of a level
  options.shape = RobotOptions::Shape::binary;
  options.types = {"revolute"};
  options.welded = 0.0;
  const ModelPtr model = host().compile(random_robot(host().registry(), options));
  const Plan plan(*model);
  int aligned = 0;
  for (const Plan::Row& row : plan.rows) {
    if (row.ways.size() < 2) continue;
    bool in_lanes = true;
    for (int k = 0; k < lanes; ++k) {
      in_lanes = in_lanes && row.ways[0][k] == Place{row.ways[0][0].row, k};
    }
    aligned += in_lanes ? 1 : 0;
  }
  EXPECT_GE(aligned, static_cast<int>(plan.rows.size()) - 4);
  EXPECT_TRUE(plan.pays(*model));
}

TEST(TurningRowsTest, OtherJointsRotorsAndLoopsAreNotPassed) {
  const std::string robots = ESPALIER_SOURCE_DIR "/robots/";
  EXPECT_FALSE(Plan::can_pass(*host().load(robots + "tello.yaml")));
  EXPECT_FALSE(Plan::can_pass(*host().load(robots + "mini_cheetah_geared.yaml")));
  RobotOptions options;
  options.types = {"prismatic"};
  EXPECT_FALSE(Plan::can_pass(*host().compile(random_robot(host().registry(), options))));
  EXPECT_TRUE(Plan::can_pass(*host().load(robots + "ur5.urdf")));
}

/// E, x, J and Ic of each lane after a call, against sums of dense 6 x 6 congruences.
TEST(CompositeRowsTest, RowsHoldPlacesAndCompositesOfTheirBodies) {
  for_trees([](const std::string& name, const ModelPtr& model) {
    const Plan plan(*model);
    CompositeRows<double> rows(*model, plan);
    const State s = random_state(*model, 1);
    std::vector<double> M(model->nv() * model->nv());
    rows.compute(s.q.data(), M.data());

    SpanningMotion<double> motion(*model);
    motion.update(s.q.data(), nullptr);
    const int n = model->active_body_count();
    std::vector<Transform<double>> X(n + 1, Transform<double>::identity());  // from the root's axes
    std::vector<Matrix6d> Ic(n + 1);                                         // body axes
    for (int i = 1; i <= n; ++i) {
      if (i != plan.root) X[i] = motion.joints.X[i] * X[model->body(i).parent];
      Ic[i] = dense(model->folded_inertia(i));
    }
    for (int i = n; i > 0; --i) {
      const Matrix6d on_parent = dense(motion.joints.X[i]);
      if (model->body(i).parent > 0) {
        Ic[model->body(i).parent] += on_parent.transpose() * Ic[i] * on_parent;
      }
    }
    for (const CompositeRow<double>& row : rows.rows()) {
      for (int u = 0; u < row.size; ++u) {
        const int k = row.lane[u], b = row.body[k];
        const Mat3<double> E = one(row.E(), k);
        // A dozen levels of a dozen operations each.
        constexpr double rounding = 1e-12;
        for (int a = 0; a < 3; ++a) {
          for (int c = 0; c < 3; ++c) EXPECT_NEAR(E(a, c), X[b].E(a, c), rounding) << name;
        }
        const auto number = [&](int i) { return one(row.Ic[i], k); };
        const RigidInertia<double> I{
            number(0),
            {number(1), number(2), number(3)},
            {number(4), number(5), number(6), number(7), number(8), number(9)}};
        const Matrix6d turn = dense(Transform<double>{E, Vec3<double>::zero()});
        const Matrix6d expected = turn.transpose() * Ic[b] * turn;
        EXPECT_LT((dense(I) - expected).norm(), rounding * (1.0 + expected.norm())) << name;
        const Vec3<double> x = one(row.x(), k), J = cross(x, E.row[2]);
        for (int a = 0; a < 3; ++a) EXPECT_NEAR(one(row.seen[12 + a], k), J[a], rounding) << name;
      }
    }
  });
}

/// What the rows give is what the same recursion gives body by body.
TEST(CompositeRowsTest, MassMatricesAreThoseOfPlainRuns) {
  for_trees([](const std::string& name, const ModelPtr& model) {
    CompositeRows<double> rows(*model, Plan(*model));
    CompositeBodiesOver<double, PlainRun, FloatingBase, ClusterOnOne, ClusterOnSeveral> plain(
        *model);
    SpanningMotion<double> motion(*model);
    const std::size_t n = model->nv() * model->nv();
    std::vector<double> expected(n), M(n, 7.0);
    for (int k = 0; k < 3; ++k) {
      const State s = random_state(*model, k);
      motion.update(s.q.data(), nullptr);
      plain.compute(s.q.data(), motion, expected.data());
      rows.compute(s.q.data(), M.data());
      double largest = 0.0;
      for (const double x : expected) largest = std::max(largest, std::fabs(x));
      // Sums in another order: a few units in the last place of the largest, for each body.
      for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(M[i], expected[i], 1e-13 * largest) << name;
    }
  });
}

/// The articulated-body recursion body by body, as aba.hpp has it.
struct PlainAba {
  explicit PlainAba(const Model& model) : schedule(model, lanes), state(model, schedule) {}
  void compute(const State& s, const Vec3<double>& gravity, const Wrenches<double>* wrenches,
               double* vdot) {
    state.update(s.q.data(), s.v.data(), gravity);
    schedule.outward([&](const auto& segment) { forward_velocities(segment, state); });
    if (wrenches != nullptr) state.apply(*wrenches);
    schedule.inward([&](const auto& segment) { eliminate(segment, state, s.tau.data()); });
    schedule.outward([&](const auto& segment) { forward_accelerations(segment, state, vdot); });
  }
  Schedule<PlainRun, FloatingBase> schedule;
  ArticulatedState<double> state;
};

TEST(ArticulatedRowsTest, AccelerationsAreThoseOfPlainRuns) {
  for_trees([](const std::string& name, const ModelPtr& model) {
    ArticulatedRows<double> rows(*model, Plan(*model));
    PlainAba plain(*model);
    std::vector<double> expected(model->nv()), vdot(expected);
    Random random;
    Wrenches<double> wrenches(model);
    for (const Link& link : model->links()) wrenches.add(link, random.force());
    const Vec3<double> gravity{0.3, -0.2, -9.81};
    for (int k = 0; k < 4; ++k) {
      const State s = random_state(*model, k);
      const Wrenches<double>* external = k % 2 == 0 ? nullptr : &wrenches;
      plain.compute(s, gravity, external, expected.data());
      rows.compute(s.q.data(), s.v.data(), s.tau.data(), vdot.data(), external, gravity);
      double largest = 0.0;
      for (const double x : expected) largest = std::max(largest, std::fabs(x));
      // Chains of 60 bodies lose five digits in either order of sums, bushy trees one.
      for (std::size_t i = 0; i < vdot.size(); ++i) {
        EXPECT_NEAR(vdot[i], expected[i], 1e-11 * largest) << name;
      }
    }
  });
}

}  // namespace
}  // namespace espalier::test::turning_rows_test
