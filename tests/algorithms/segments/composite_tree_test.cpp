#include "algorithms/segments/composite/composite_tree.hpp"

#include "algorithms/mass_matrix/composite_bodies.hpp"
#include "espalier/plugins/registrar.hpp"
#include "tests/algorithms/chains/chain_kernels.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/state.hpp"

// Mass matrices of trees body by body: algorithms/segments/composite/composite_frame.hpp and
// composite_tree.hpp.

namespace espalier::test::composite_tree_test {
namespace {

// --- one body, against dense 6 x 6 algebra -------------------------------------------------------

Quad quad(const Vec3<double>& a) { return QuadFrame::quad(a); }
void expect_three(const Quad& x, const Vec3<double>& expected) {
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(x[i], expected[i], tolerance<double>);
  EXPECT_EQ(x[3], 0.0);
}
/// Its composite body about its own origin, world axes.
Matrix6d dense_composite(const CompositeFrame& b, double mass) {
  const auto& S = b.composite.Sigma;
  const Moments<double> moments{
      mass, three(b.composite.h), {S[0][0], S[0][1], S[0][2], S[1][1], S[1][2], S[2][2]}};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < i; ++j) EXPECT_NEAR(S[i][j], S[j][i], tolerance<double>);
  }
  return dense(moments.articulated());
}
/// A frame of any place, with a composite body of any moments.
CompositeFrame random_frame(Random& random) {
  CompositeFrame b = CompositeFrame::world();
  const Mat3<double> E = random.rotation();
  for (int k = 0; k < 3; ++k) b.at.axes[k] = quad(E.row[k]);
  b.at.origin = quad(random.vec());
  b.composite.h = quad(random.vec());
  const Sym3<double> S = random.sym();
  b.composite.Sigma = {quad({S.xx, S.xy, S.xz}), quad({S.xy, S.yy, S.yz}),
                       quad({S.xz, S.yz, S.zz})};
  return b;
}
/// From the world to the body.
Transform<double> transform_of(const CompositeFrame& b) {
  const auto& axes = b.at.axes;
  return {{{three(axes[0]), three(axes[1]), three(axes[2])}}, three(b.at.origin)};
}

/// Calls f(constants, q, c, s, the joint's transform) for joints of both kinds on placements of
/// every kind.
template <class F>
void for_joints(Random& random, F&& f) {
  std::vector<Transform<double>> placements = transforms(random);
  const double a = random.number();
  placements.push_back({rpy_to_E({a, 0.0, 0.0}), random.vec()});
  int turned_about_x = 0;
  for (const Transform<double>& P : placements) {
    for (const bool slides : {false, true}) {
      CompositeFrame::Constants b;
      b.placement = P;
      b.moments = Moments<double>::from(random.rigid());
      b.mass = b.moments.m;
      b.slides = slides;
      b.turned_about_x = CompositeFrame::Constants::is_turned_about_x(P);
      turned_about_x += b.turned_about_x ? 1 : 0;
      const double q = random.number(), c = std::cos(q), s = std::sin(q);
      f(b, q, c, s,
        slides ? Transform<double>{Mat3<double>::identity(), {0, 0, q}}
               : Transform<double>{rotation_z(s, c), Vec3<double>::zero()});
    }
  }
  EXPECT_GE(turned_about_x, 8);
}

TEST(CompositeFrameTest, BodiesStandWhereTheirTransformsSay) {
  Random random;
  for_joints(random, [&](const auto& b, double q, double c, double s, const auto& joint) {
    const CompositeFrame parent = random_frame(random);
    CompositeFrame body = CompositeFrame::world();
    const CompositeFrame::Place place = body.place(b, parent.at, &q, &c, &s);
    const Transform<double> X = joint * b.placement * transform_of(parent);
    for (const CompositeFrame::Place& at : {place, body.at}) {
      for (int k = 0; k < 3; ++k) expect_three(at.axes[k], X.E.row[k]);
      expect_three(at.origin, X.r);
    }
    Vector6d S = Vector6d::Zero();
    S[b.slides ? 5 : 2] = 1.0;
    const Vector6d J = inverse(dense(X)) * S;
    expect_three(body.w, {J[0], J[1], J[2]});
    expect_three(body.v, {J[3], J[4], J[5]});
    const Matrix6d turn = dense(Transform<double>{X.E, Vec3<double>::zero()});
    expect_near(dense_composite(body, b.mass),
                turn.transpose() * dense(b.moments.articulated()) * turn, tolerance<double>);
  });
}

TEST(CompositeFrameTest, CompositesAreAddedByTheDenseCongruence) {
  Random random;
  for (int k = 0; k < 20; ++k) {
    const CompositeFrame body = random_frame(random);
    CompositeFrame parent = random_frame(random);
    const double mass = random.number(), own = random.number();
    const Matrix6d before = dense_composite(parent, own);
    const Quad r = body.at.origin - parent.at.origin;
    parent.composite += body.composite.shifted(mass, r);
    const Matrix6d X = dense(Transform<double>{Mat3<double>::identity(), three(r)});
    expect_near(dense_composite(parent, own + mass),
                before + X.transpose() * dense_composite(body, mass) * X, tolerance<double>);
  }
}

TEST(CompositeFrameTest, WrenchIsTheCompositeInertiaTimesTheMotion) {
  Random random;
  for_joints(random, [&](const auto& b, double q, double c, double s, const auto&) {
    CompositeFrame body = CompositeFrame::world();
    body.place(b, random_frame(random).at, &q, &c, &s);
    body.composite = random_frame(random).composite;
    const Matrix6d X = dense(Transform<double>{Mat3<double>::identity(), three(body.at.origin)});
    const Vector6d F = X.transpose() * dense_composite(body, b.mass) * X *
                       dense(Motion<double>{three(body.w), three(body.v)});
    const CompositeFrame::Wrench wrench = body.wrench(b, body.composite);
    expect_near(dense(Force<double>{three(wrench.n), three(wrench.f)}), F, tolerance<double>);
  });
}

// --- whole trees ---------------------------------------------------------------------------------

/// Trees of every shape on joints that turn and slide, on the ground and on a floating root, whose
/// rates are in depth-first order.
template <class F>
void for_trees(F&& f) {
  using Shape = RobotOptions::Shape;
  int trees = 0, partial = 0;
  for (const Shape shape : {Shape::random, Shape::binary, Shape::star, Shape::chain}) {
    for (const int bodies : {1, 2, 3, 4, 5, 6, 7, 9, 23, 60}) {
      for (const bool floating : {false, true}) {
        RobotOptions options;
        options.seed = 10 * bodies + static_cast<int>(shape);
        options.bodies = bodies;
        options.shape = shape;
        options.types = {"revolute", "prismatic", "revolute"};
        options.floating_base = floating;
        const ModelPtr model = host().compile(random_robot(host().registry(), options));
        if (!CompositeTree::can_pass(*model)) continue;
        partial += model->nv() % 4 != 0 ? 1 : 0;
        f("bodies " + std::to_string(bodies) + ", shape " +
              std::to_string(static_cast<int>(shape)) + (floating ? ", floating" : ""),
          model);
        ++trees;
      }
    }
  }
  EXPECT_GE(trees, 60);
  EXPECT_GE(partial, 30);
}

/// By plain runs of bodies.
std::vector<double> expected_matrix(const Model& model, const State& s) {
  CompositeBodiesOver<double, PlainRun, FloatingBase, ClusterOnOne, ClusterOnSeveral> plain(model);
  SpanningMotion<double> motion(model);
  motion.update(s.q.data(), nullptr);
  std::vector<double> M(static_cast<std::size_t>(model.nv()) * model.nv());
  plain.compute(s.q.data(), motion, M.data());
  return M;
}

TEST(CompositeTreeTest, MassMatricesAreThoseOfPlainRuns) {
  for_trees([](const std::string& name, const ModelPtr& model) {
    CompositeTree tree(*model);
    JointTurns<double> turns(*model);
    std::vector<double> M(static_cast<std::size_t>(model->nv()) * model->nv());
    std::vector<double> zeros(M.size(), 1.0);
    StructuralZeros(*model, model->nv()).write(zeros.data());
    for (int k = 0; k < 3; ++k) {
      const State s = random_state(*model, k);
      const std::vector<double> expected = expected_matrix(*model, s);
      turns.update(s.q.data());
      std::fill(M.begin(), M.end(), std::numeric_limits<double>::quiet_NaN());
      tree.compute(s.q.data(), k == 1 ? &turns : nullptr, M.data());
      double largest = 0.0;
      for (const double x : expected) largest = std::max(largest, std::fabs(x));
      // Sums in another order: a few units in the last place of the largest, for each body.
      for (std::size_t i = 0; i < M.size(); ++i) {
        EXPECT_NEAR(M[i], expected[i], 1e-13 * largest) << name << ", " << i;
        if (zeros[i] == 0.0) EXPECT_EQ(M[i], 0.0) << name << ", " << i;
      }
    }
  });
}

TEST(CompositeTreeTest, TheLowerTriangleAloneIsThatOfAll) {
  for_trees([](const std::string& name, const ModelPtr& model) {
    CompositeTree all(*model), lower(*model);
    lower.leave_out_upper_triangle();
    const int n = model->nv();
    std::vector<double> M(n * n, 0.0), expected(n * n);
    for (int i = 0; i < n; ++i) {
      for (int j = i + 1; j < n; ++j) M[i * n + j] = std::numeric_limits<double>::quiet_NaN();
    }
    for (int k = 0; k < 2; ++k) {  // zeros of the first time stay
      const State s = random_state(*model, k);
      all.compute(s.q.data(), nullptr, expected.data());
      lower.compute(s.q.data(), nullptr, M.data());
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) EXPECT_EQ(M[i * n + j], expected[i * n + j]) << name;
      }
    }
  });
}

TEST(CompositeTreeTest, OtherJointsRotorsAndLoopsAreNotPassed) {
  const std::string robots = ESPALIER_SOURCE_DIR "/robots/";
  EXPECT_FALSE(CompositeTree::can_pass(*host().load(robots + "tello.yaml")));
  EXPECT_FALSE(CompositeTree::can_pass(*host().load(robots + "mini_cheetah_geared.yaml")));
  RobotOptions options;
  options.types = {"spherical"};
  EXPECT_FALSE(CompositeTree::can_pass(*host().compile(random_robot(host().registry(), options))));
  EXPECT_TRUE(CompositeTree::can_pass(*host().load(robots + "ur5.urdf")));
  EXPECT_TRUE(CompositeTree::can_pass(*host().load(robots + "humanoid.urdf")));
}

/// Moves along its axis at its rate, but stands elsewhere than at its position.
template <int offset>
struct Sliding {
  static constexpr int nq = 1, nv = 1;
  using Subspace = PrismaticAxes;
  explicit Sliding(const JointSpec& /*joint*/) {}
  template <class T>
  TranslationZ<T> position(const T* q) const {
    return {q[0] + T(double(offset))};
  }
};

TEST(CompositeTreeTest, JointsThatSlideElsewhereThanToTheirPositionAreNotPassed) {
  Registry registry;
  Registrar registrar("sliding.so");
  registrar.joint<Sliding<0>>({.name = "there", .summary = "slides to q"});
  registrar.joint<Sliding<1>>({.name = "elsewhere", .summary = "slides to q + 1"});
  registry.commit(std::move(registrar));
  for (const char* type : {"there", "elsewhere"}) {
    Description robot;
    robot.name = type;
    robot.links.push_back({.name = "base"});
    LinkDescription tip{.name = "tip"};
    tip.inertial = Inertial{.mass = 1.0, .I = {1, 0, 0, 1, 0, 1}};
    robot.links.push_back(tip);
    robot.joints.push_back({.name = "slide", .type = type, .parent = "base", .child = "tip"});
    EXPECT_EQ(CompositeTree::can_pass(*Model::compile(robot, registry)), type[0] == 't') << type;
  }
}

}  // namespace
}  // namespace espalier::test::composite_tree_test
