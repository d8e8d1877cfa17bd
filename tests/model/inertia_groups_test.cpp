#include "espalier/kernel/model/inertia/inertia_groups.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <chrono>
#include <cmath>
#include <ctime>

#include "espalier/kernel/model/compile/clusters/independent_choice.hpp"
#include "espalier/kernel/model/compile/variants.hpp"
#include "tests/support/dense_algebra.hpp"
#include "tests/support/host.hpp"
#include "tests/support/linkages.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/state.hpp"

// Motions that move no inertia: found when a model compiles, wherever they hide, and before an
// algorithm divides by them.

namespace espalier::test::inertia_groups_test {
namespace {

const std::string data = ESPALIER_SOURCE_DIR "/tests/model/data/";

std::string refusal(const std::string& file, CompileOptions::Root root = {}) {
  CompileOptions options;
  options.root = root;
  try {
    host().load(data + file, options);
  } catch (const InvalidModel& error) {
    return error.what();
  }
  return "accepted";
}
void expect_words(const std::string& text, const std::vector<std::string>& words) {
  for (const std::string& word : words) EXPECT_NE(text.find(word), std::string::npos) << text;
}

TEST(WeightlessMotionTest, JointsInALoopAreNamed) {
  expect_words(refusal("weightless_in_loop.urdf"), {"'ball", "'hinge'", "rates", "<inertial>"});
}

TEST(WeightlessMotionTest, RoundingsOfALoopAreNoInertia) {
  // The rod holds the lever still, and spins. Elimination gives the lever 1e-17 of that spin: the
  // square of it, times the lever's inertia, would be all that the mass matrix is made of.
  Description robot = ground();
  add_solid(robot, "lever"), add_link(robot, "rod");
  add_joint(robot, "hinge", "revolute", "base", "lever", {0, 0, 1});
  Pose beside;
  beside.xyz = {0.51, 0.43, 0.07}, beside.rpy = {0.3, 0.7, -0.2};
  add_joint(robot, "ball", "spherical", "base", "rod", {0, 0, 1}, beside);
  LoopDescription loop;
  loop.name = "closing", loop.type = "spherical";
  loop.predecessor = "lever", loop.successor = "rod";
  loop.predecessor_origin.xyz = {0.3, 0, 0};
  const Transform<double> X = beside.transform();
  loop.successor_origin.xyz = X.E * (loop.predecessor_origin.xyz - X.r);
  robot.loops.push_back(loop);
  try {
    host().compile(robot);
    ADD_FAILURE() << "accepted";
  } catch (const InvalidModel& error) {
    expect_words(error.what(), {"joint 'ball'", "no positive inertia", "<inertial>"});
  }
}

TEST(WeightlessMotionTest, MimickedLinksWithoutMassAreNamed) {
  expect_words(refusal("weightless_mimic.urdf"), {"joint 'j", "mass matrix", "<inertial>"});
}

TEST(WeightlessMotionTest, RootWithoutMassThatATiedClusterHangsOnIsNamed) {
  EXPECT_EQ(refusal("triangle_on_nothing.urdf"), "accepted");
  expect_words(refusal("triangle_on_nothing.urdf", CompileOptions::Root::floating),
               {"joint 'root'", "moves no inertia", "'root_link'", "rates"});
}

/// A wrist z - y - z of links without mass but the last: singular where the outer axes line up.
Description wrist() {
  Description robot = ground();
  add_link(robot, "first"), add_link(robot, "second"), add_solid(robot, "hand");
  add_joint(robot, "roll", "revolute", "base", "first", {0, 0, 1});
  add_joint(robot, "pitch", "revolute", "first", "second", {0, 1, 0});
  add_joint(robot, "turn", "revolute", "second", "hand", {0, 0, 1});
  return robot;
}

TEST(WeightlessMotionTest, AtTheNeutralPositionAloneItIsAWarning) {
  const ModelPtr model = host().compile(wrist());
  ASSERT_EQ(model->extras().warnings.size(), 1u);
  expect_words(model->extras().warnings[0].text, {"neutral position", "'roll'", "'turn'"});
}

TEST(WeightlessMotionTest, NoForwardDynamicsAnswersWhereAxesLineUp) {
  const ModelPtr model = host().compile(wrist());
  const std::vector<double> lined_up{0.3, 0.0, -0.2}, bent{0.3, 0.5, -0.2}, zero(3, 0.0);
  std::vector<double> reference(3), vdot(3);
  host().create<ForwardDynamics<double>>("dense", model)->evaluate(bent, zero, zero, reference);
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
    try {
      algorithm->evaluate(lined_up, zero, zero, vdot);
      ADD_FAILURE() << name << " answers " << vdot[0];
    } catch (const SingularMechanism& error) {
      expect_words(error.what(), {"forward-dynamics", "'roll'", "'turn'", "rates 1 : -1"});
    }
    algorithm->evaluate(bent, zero, zero, vdot);
    EXPECT_LE(relative_difference(vdot, reference), 1e-12) << name;  // M's condition is about 100
  }
}

TEST(WeightlessMotionTest, NotEvenAMicroradianBeside) {
  // Beside it the pivot is the square of the angle: 1e-14 of the locked inertia, rounding being
  // 1e-16.
  const ModelPtr model = host().compile(wrist());
  const auto aba = host().create<ForwardDynamics<double>>("aba", model);
  const std::vector<double> zero(3, 0.0);
  std::vector<double> vdot(3);
  EXPECT_THROW(aba->evaluate(std::vector<double>{0.3, 1e-7, 0}, zero, zero, vdot),
               SingularMechanism);
  EXPECT_NO_THROW(aba->evaluate(std::vector<double>{0.3, 1e-5, 0}, zero, zero, vdot));
}

TEST(WeightlessMotionTest, ABatchMarksTheLanesWhereAxesLineUp) {
  const ModelPtr model = host().compile(wrist());
  for (const Remainder remainder : {Remainder::packs, Remainder::single_calls}) {
    const auto batch = host().batch<ForwardDynamics>("aba", espalier::Setup{.model = model},
                                                     {.threads = 1, .remainder = remainder});
    constexpr int N = 11;
    std::vector<double> q(3 * N, 0.4), zero(3 * N, 0.0), vdot(3 * N);
    for (const int k : {2, 8, 10}) q[N + k] = 0.0;  // the pitch
    std::vector<BatchStatus> status(N);
    for (int repeat = 0; repeat < 2; ++repeat) {
      batch->evaluate(N, {.q = q, .v = zero, .tau = zero}, {{"vdot", vdot}}, status);
      for (int k = 0; k < N; ++k) {
        const bool singular = k == 2 || k == 8 || k == 10;
        EXPECT_EQ(status[k], singular ? BatchStatus::singular : BatchStatus::ok) << k;
        EXPECT_EQ(std::isfinite(vdot[k]), !singular) << k;
      }
    }
  }
}

TEST(WeightlessMotionTest, NobodyAnswersWhereTheInertiaOfNoBodyMakesTheMassMatrixIndefinite) {
  // About the roll: 0.3 + cos^2 - 1.2 sin^2 of the pitch, 1.3 at zero and -0.9 at a right angle.
  Description robot = ground();
  add_link(robot, "arm", 1.0, {0, 0, 0}, {0.3, 0, 0, 0.3, 0, 0.3});
  add_link(robot, "plate", 1.0, {0, 0, 0}, {-1.2, 0, 0, 1, 0, 1});
  add_joint(robot, "roll", "revolute", "base", "arm", {0, 0, 1});
  add_joint(robot, "pitch", "revolute", "arm", "plate", {0, 1, 0});
  const ModelPtr model = host().compile(robot);
  const std::vector<double> zero(2, 0.0), tau{1.3, 0.0};
  std::vector<double> vdot(2);
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
    algorithm->evaluate(zero, zero, tau, vdot);
    EXPECT_NEAR(vdot[0], 1.0, 1e-13) << name << ", a quotient of two sums";
    try {
      algorithm->evaluate(std::vector<double>{0.0, 1.5}, zero, tau, vdot);
      ADD_FAILURE() << name << " answers " << vdot[0];
    } catch (const SingularMechanism& error) {
      expect_words(error.what(), {"forward-dynamics", "'roll'", "not positive", "no body"});
    }
  }
  // Also as it is computed in while dampers act implicitly.
  const ModelPtr damped = with_armature(*model, std::vector<double>{0.1, 0.1});
  const auto aba = host().create<ForwardDynamics<double>>("aba", damped);
  EXPECT_THROW(aba->evaluate(std::vector<double>{0.0, 1.5}, zero, tau, vdot), SingularMechanism);
}

TEST(WeightlessMotionTest, MotionsThatHugeRatiosDrownAreNamed) {
  // The rotor follows the sum of both joints: beside 1e9 squared times its inertia, nothing is left
  // of the motion that keeps the sum.
  Description robot = chain_of(std::vector<std::string>{"revolute", "revolute"});
  add_solid(robot, "rotor");
  add_joint(robot, "spin", "revolute", "base", "rotor");
  robot.couplings.push_back({"gear", "link2", "rotor", 1e9, {"robot.test", 300}});
  try {
    host().compile(robot);
    ADD_FAILURE() << "accepted";
  } catch (const InvalidModel& error) {
    expect_words(error.what(), {"joint 'joint1'", "'joint2'", "no positive inertia"});
  }
  robot.couplings[0].ratio = 1e3;
  const ModelPtr model = host().compile(robot);
  EXPECT_TRUE(model->inertia_groups().empty());
  const State s = random_cluster_state(*model, 1);
  std::vector<double> reference(2), vdot(2);
  host().create<ForwardDynamics<double>>("dense", model)->evaluate(s.q, s.v, s.tau, reference);
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
    algorithm->evaluate(s.q, s.v, s.tau, vdot);
    EXPECT_LE(relative_difference(vdot, reference), 1e-8) << name;  // M's condition is 1e6
  }
}

TEST(WeightlessMotionTest, RobotsWithMassEverywhereAreNotLookedAt) {
  for (int seed = 0; seed < 20; ++seed) {
    ClusterRobotOptions options;
    options.seed = seed;
    const ModelPtr model = host().compile(random_cluster_robot(host().registry(), options));
    for (const auto& group : model->inertia_groups()) EXPECT_FALSE(group.guarded) << seed;
  }
}

/// Entries of a group that holds every cluster.
TEST(GroupInertiaTest, OfAllClustersIsTheMassMatrix) {
  for (int seed = 0; seed < 20; ++seed) {
    ClusterRobotOptions options;
    options.seed = seed;
    const ModelPtr model = host().compile(random_cluster_robot(host().registry(), options));
    const State s = random_cluster_state(*model, seed);
    const int n = model->nv();
    std::vector<double> M(n * n);
    any<MassMatrix<double>>(model)->evaluate(s.q, M);
    const auto groups =
        espalier::detail::find_inertia_groups(*model, espalier::detail::RatesOf::clusters, true);
    ASSERT_EQ(groups.size(), 1u);
    SpanningMotion<double> motion(*model);
    motion.update(s.q.data(), nullptr);
    espalier::detail::GroupInertia<double> group(*model, groups[0]);
    group.compose(motion, s.q.data());
    ASSERT_EQ(group.size(), n);
    const double size = *std::max_element(M.begin(), M.end());
    for (int i = 0; i < n; ++i) {
      // Sums of products over all bodies, in another order.
      for (int j = 0; j < n; ++j) EXPECT_NEAR(group(i, j), M[i * n + j], 1e-12 * size) << seed;
    }
    Eigen::MatrixXd dense(n, n);
    for (int i = 0; i < n * n; ++i) dense(i / n, i % n) = M[i];
    const double least = eigenvalues_of_symmetric(dense)(0);
    EXPECT_GT(group.least_pivot(), 0.0) << seed << ", least eigenvalue " << least;
  }
}

TEST(WeightlessMotionTest, LongChainsWithoutMassEndAtOnce) {
  Description robot = ground();
  std::string parent = "base";
  for (int i = 0; i < 3000; ++i) {
    const std::string link = "l" + std::to_string(i);
    add_link(robot, link);
    add_joint(robot, "j" + std::to_string(i), "revolute", parent, link, {0, 1.0 * (i % 2), 1});
    parent = link;
  }
  add_solid(robot, "end");
  add_joint(robot, "last", "revolute", parent, "end");
  EXPECT_THROW(host().compile(robot), InvalidModel);
}

// --- models made of models

/// A six-bar whose crank has no mass, and the wrist on its last bar.
Description wrist_on_six_bar() {
  Description robot = stephenson("output");
  for (LinkDescription& link : robot.links) {
    if (link.name == "crank_link") link.inertial.reset();
  }
  add_link(robot, "first"), add_link(robot, "second"), add_solid(robot, "hand");
  add_joint(robot, "roll", "revolute", "output_link", "first", {0, 0, 1});
  add_joint(robot, "pitch", "revolute", "first", "second", {0, 1, 0});
  add_joint(robot, "turn", "revolute", "second", "hand", {0, 0, 1});
  return robot;
}

TEST(InertiaOfVariantsTest, OtherIndependentJointsLeaveTheVerdictAsItIs) {
  ModelPtr model = host().compile(wrist_on_six_bar());
  std::vector<double> q(model->nq());
  model->neutral(q.data());
  const ModelPtr variant = with_joint_independent(model, q.data(), "crank");
  ASSERT_NE(variant, model);
  model.reset();  // what the variant knows is its own
  const Cluster *first = variant->clusters().data(), *end = first + variant->clusters().size();
  int tied = 0;
  for (const auto& group : variant->inertia_groups()) {
    for (const auto& member : group.members) {
      for (const auto& row : member.rows) {
        if (row.tied == nullptr) continue;
        EXPECT_TRUE(row.tied >= first && row.tied < end);
        ++tied;
      }
    }
  }
  EXPECT_GT(tied, 0);
  const int pitch = variant->joint("pitch").q;
  q[pitch] = 0.0;
  const auto aba = host().create<ForwardDynamics<double>>("c-aba", variant);
  const std::vector<double> zero(variant->nv(), 0.0);
  std::vector<double> vdot(variant->nv()), reference(variant->nv());
  try {
    aba->evaluate(q, zero, zero, vdot);
    ADD_FAILURE() << "answers " << vdot[0];
  } catch (const SingularMechanism& error) {
    expect_words(error.what(), {"'roll'", "'turn'"});
  }
  q[pitch] = 0.5;
  aba->evaluate(q, zero, zero, vdot);
  host().create<ForwardDynamics<double>>("dense", variant)->evaluate(q, zero, zero, reference);
  EXPECT_LE(relative_difference(vdot, reference), 1e-11);  // M's condition is about 1e3
}

TEST(InertiaOfVariantsTest, ArmatureMakesAWristRegular) {
  const ModelPtr model = host().compile(wrist());
  Description with = wrist();
  with.joints[0].armature = 0.01;
  const ModelPtr variant = with_armature(*model, std::vector<double>{0.01, 0.0, 0.0});
  const std::vector<double> lined_up{0.3, 0.0, -0.2}, zero(3, 0.0);
  std::vector<double> vdot(3), reference(3);
  host().create<ForwardDynamics<double>>("aba", variant)->evaluate(lined_up, zero, zero, vdot);
  host()
      .create<ForwardDynamics<double>>("aba", host().compile(with))
      ->evaluate(lined_up, zero, zero, reference);
  EXPECT_LE(relative_difference(vdot, reference), 1e-14);  // the same numbers
}

// --- the open tree

TEST(LagrangeMultiplierTest, RatiosThatMakeConstraintsOneAreRefused) {
  // Beside 1e9 times a joint's rate the inertia of its followers is 1e-18 of a constraint's pivot.
  Description robot = chain_of(std::vector<std::string>{"revolute", "revolute", "revolute"});
  robot.joints[1].mimic = Mimic{"joint1", 1e9, 0.0};
  robot.joints[2].mimic = Mimic{"joint1", -2e9, 0.0};
  const ModelPtr model = host().compile(robot);
  try {
    host().create<ForwardDynamics<double>>("lagrange-multiplier", model);
    ADD_FAILURE() << "accepted";
  } catch (const Unsupported& error) {
    expect_words(error.what(), {"'lagrange-multiplier'", "joint 'joint", "'c-aba'"});
  }
  robot.joints[1].mimic->multiplier = 100.0, robot.joints[2].mimic->multiplier = -200.0;
  EXPECT_NO_THROW(
      host().create<ForwardDynamics<double>>("lagrange-multiplier", host().compile(robot)));
}

TEST(LagrangeMultiplierTest, TheSmallestRotorCountsBesideTheHeaviestPartOfTheRobot) {
  // 1e-5 of the rotor's own times 300^2 are 0.9 beside the arm's inertia, armature or not.
  for (const double armature : {0.0, 1e9}) {
    Description robot = chain_of(std::vector<std::string>{"revolute", "revolute"});
    add_link(robot, "rotor", 0.01, {0, 0, 0}, {1e-5, 0, 0, 1e-5, 0, 1e-5});
    add_joint(robot, "spin", "revolute", "base", "rotor").mimic = Mimic{"joint1", 300.0, 0.0};
    add_link(robot, "pulley");  // its armature is too small for its inverse to be a number
    JointDescription& idle = add_joint(robot, "idle", "revolute", "base", "pulley");
    idle.mimic = Mimic{"joint1", 2.0, 0.0}, idle.armature = 4.9e-324;
    add_solid(robot, "flywheel");
    add_joint(robot, "turn", "revolute", "base", "flywheel").armature = armature;
    const ModelPtr model = host().compile(robot);
    const State s = random_cluster_state(*model, 1);
    std::vector<double> answer(model->nv()), reference(model->nv());
    host()
        .create<ForwardDynamics<double>>("lagrange-multiplier", model)
        ->evaluate(s.q, s.v, s.tau, answer);
    host().create<ForwardDynamics<double>>("c-aba", model)->evaluate(s.q, s.v, s.tau, reference);
    // The flywheel's acceleration is 1e-9 of the others', hence one by one.
    for (int j = 0; j < model->nv(); ++j)
      EXPECT_NEAR(answer[j], reference[j], 1e-11 * std::abs(reference[j])) << j << ", " << armature;
  }
}

TEST(WeightlessMotionTest, MultipliersOnATreeThatWeighsNothingAreRefusedByName) {
  // The leader moves nothing but what follows it: with the coupling open it weighs nothing.
  Description robot = ground();
  add_link(robot, "light"), add_solid(robot, "heavy");
  add_joint(robot, "leader", "revolute", "base", "light");
  add_joint(robot, "follower", "revolute", "base", "heavy").mimic = Mimic{"leader", 2.0, 0.0};
  const ModelPtr model = host().compile(robot);
  EXPECT_EQ(model->weightless_in_tree(), "'leader'");
  const Entry& entry = host().registry().find_algorithm("forward-dynamics", "lagrange-multiplier");
  const Verdict verdict = host().registry().can(entry, *model);
  EXPECT_FALSE(verdict.ok);
  expect_words(verdict.obstacle, {"spanning tree", "inertia"});
  EXPECT_THROW(host().create<ForwardDynamics<double>>("lagrange-multiplier", model), Unsupported);
}

TEST(WeightlessMotionTest, MultipliersOnATreeWithTheInertiaOfNoBodyAreRefusedByName) {
  // The rocker alone has -0.1 kg·m² about its pivot, which only the loop makes up for.
  Description robot = four_bar();
  for (LinkDescription& link : robot.links) {
    if (link.name == "rocker_link") link.inertial->I.zz = -0.14;
    if (link.name == "crank_link") link.inertial->I.zz = 1.0;
  }
  const ModelPtr model = host().compile(robot);
  const Entry& entry = host().registry().find_algorithm("forward-dynamics", "lagrange-multiplier");
  const Verdict verdict = host().registry().can(entry, *model);
  EXPECT_FALSE(verdict.ok);
  expect_words(verdict.obstacle, {"spanning tree", "'rocker'", "negative"});
  EXPECT_THROW(host().create<ForwardDynamics<double>>("lagrange-multiplier", model), Unsupported);
  // The mechanism's own inertia is positive, and everybody else agrees.
  const State s = random_cluster_state(*model, 1);
  std::vector<double> reference(1), vdot(1);
  host().create<ForwardDynamics<double>>("dense", model)->evaluate(s.q, s.v, s.tau, reference);
  int others = 0;
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
    algorithm->evaluate(s.q, s.v, s.tau, vdot);
    EXPECT_LE(relative_difference(vdot, reference), 1e-12) << name;  // M is about 1
    ++others;
  }
  EXPECT_GE(others, 5);
}

TEST(WeightlessMotionTest, MultipliersAgreeWhereverTheyRun) {
  for (const char* file : {"belt_chain.yaml", "geared_chain.yaml", "rod_ankle.yaml", "tello.yaml",
                           "mini_cheetah_geared.yaml", "four_bar_leg.yaml", "mit_humanoid.yaml"}) {
    const ModelPtr model = host().load(std::string(ESPALIER_SOURCE_DIR "/robots/") + file);
    const Entry& entry =
        host().registry().find_algorithm("forward-dynamics", "lagrange-multiplier");
    if (!host().registry().can(entry, *model).ok) continue;
    const State s = random_cluster_state(*model, 1);
    std::vector<double> a(model->nv()), b(model->nv());
    host()
        .create<ForwardDynamics<double>>("lagrange-multiplier", model)
        ->evaluate(s.q, s.v, s.tau, a);
    host().create<ForwardDynamics<double>>("c-aba", model)->evaluate(s.q, s.v, s.tau, b);
    EXPECT_LE(relative_difference(a, b), 1e-8) << file;  // condition of K H^-1 K^T with rotors
  }
}

}  // namespace
}  // namespace espalier::test::inertia_groups_test
