#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "algorithms/chains/groups.hpp"
#include "espalier/kernel/spatial/second_moments.hpp"
#include "espalier/plugins/registrar.hpp"
#include "tests/support/host.hpp"
#include "tests/support/random_cluster_robot.hpp"
#include "tests/support/random_robot.hpp"
#include "tests/support/simple_robot.hpp"
#include "tests/support/state.hpp"

// Chains of bodies on revolute joints: their frames, their groups, and the algorithms that pass
// them by kernels of their own.

namespace espalier::test::chain_test {
namespace {

using Shape = RobotOptions::Shape;

ChainPlan plan_of(const Model& model) { return ChainPlan(model, ChainJoints::of(model)); }

Mat3<double> rotation_x(double s, double c) { return {{{1, 0, 0}, {0, c, s}, {0, -s, c}}}; }

ModelPtr turning_robot(Shape shape, int bodies, bool floating_base, unsigned long long seed) {
  RobotOptions options;
  options.shape = shape, options.bodies = bodies, options.floating_base = floating_base;
  options.seed = seed;
  options.types = {"revolute", "continuous"};
  return host().compile(random_robot(host().registry(), options));
}

/// All forward and inverse dynamics with wrenches, and all mass matrices.
void expect_agreement(const ModelPtr& model, unsigned long long seed) {
  const State s =
      model->is_tree() ? random_state(*model, seed) : random_cluster_state(*model, seed);
  const Wrenches<double> wrenches = s.wrenches(model);
  // Agreed in the project's specification; rounding of these trees is far below.
  constexpr double agreed = 1e-9;
  std::vector<double> first;
  for (const auto& [name, algorithm] : every<ForwardDynamics<double>>(model)) {
    std::vector<double> vdot(s.v.size());
    algorithm->evaluate(s.q, s.v, s.tau, vdot, &wrenches);
    if (first.empty()) first = vdot;
    EXPECT_LE(relative_difference(vdot, first), agreed) << name << " on " << model->name();
  }
  first.clear();
  for (const auto& [name, algorithm] : every<InverseDynamics<double>>(model)) {
    std::vector<double> tau(s.v.size());
    algorithm->evaluate(s.q, s.v, s.vdot, tau, &wrenches);
    if (first.empty()) first = tau;
    EXPECT_LE(relative_difference(tau, first), agreed) << name << " on " << model->name();
  }
  first.clear();
  for (const auto& [name, algorithm] : every<MassMatrix<double>>(model)) {
    std::vector<double> M(s.v.size() * s.v.size(), std::numeric_limits<double>::quiet_NaN());
    algorithm->evaluate(s.q, M);
    if (first.empty()) first = M;
    EXPECT_LE(relative_difference(M, first), agreed) << name << " on " << model->name();
  }
}

/// @returns the number of bodies whose frames were compared
int expect_placements(const Model& model, const ChainPlan& plan) {
  int seen = 0;
  for (const Chain& chain : plan.chains) {
    // The base_frame: shifted by r, then turned about z.
    Transform<double> before{rotation_z(chain.sin_base, chain.cos_base), chain.r};
    for (const ChainBody& b : chain.bodies) {
      const Transform<double> own{
          rotation_z(b.sin_theta, b.cos_theta) * rotation_x(b.sin_alpha, b.cos_alpha),
          {b.a, 0.0, b.d}};
      // From the frame before to this one at q = 0, by the chain's numbers and by the model.
      const Transform<double> chains = own * before;
      const Transform<double> models = b.F * model.body(b.body).placement;
      for (int i = 0; i < 3; ++i) {
        // Rounding of products of four rotations, and of slides along nearly parallel axes.
        EXPECT_NEAR(chains.r[i], models.r[i], 1e-12);
        for (int j = 0; j < 3; ++j) EXPECT_NEAR(chains.E(i, j), models.E(i, j), 1e-13);
      }
      before = b.F;  // the next placement starts from the model's frame of this body
      ++seen;
    }
  }
  return seen;
}

TEST(ChainPlanTest, FourNumbersAreThePlacements) {
  int seen = 0;
  for (unsigned long long seed = 1; seed <= 40; ++seed) {
    const ModelPtr model = turning_robot(Shape::random, 12, seed % 2 == 0, seed);
    seen += expect_placements(*model, plan_of(*model));
  }
  EXPECT_GT(seen, 300);
}

/// Six links that turn about z, each by `rpy` from the one before, at `xyz` or at random origins.
ModelPtr turned_arm(const Vec3<double>& rpy, const std::optional<Vec3<double>>& xyz = {}) {
  RobotOptions options;
  options.shape = Shape::chain, options.bodies = 6, options.welded = 0.0;
  options.types = {"revolute"};
  Description robot = random_robot(host().registry(), options);
  for (JointDescription& joint : robot.joints) {
    joint.axis = {0, 0, 1};
    joint.origin = {xyz.value_or(joint.origin.xyz), rpy};
  }
  return host().compile(robot);
}

TEST(ChainPlanTest, AxesThatLeanAcrossTheirLinkEndNoChain) {
  // As in a file that has 3.14159265359; a lean of any size has its normal along the link.
  for (const double angle : {2e-13, 1e-9, 1e-4, 9e-3}) {
    const Vec3<double> back{0.0, 3.141592653589793 + angle, 0.0};  // opposite to the one before
    for (const Vec3<double>& link : {Vec3<double>{0, -0.41, 0.1}, Vec3<double>{0, 0, 0.2}}) {
      const ModelPtr across = turned_arm(back, link);
      EXPECT_EQ(plan_of(*across).chains.size(), 1u) << angle;
      EXPECT_EQ(expect_placements(*across, plan_of(*across)), 6) << angle;
      expect_agreement(across, 5);
    }
    const ModelPtr along = turned_arm(back, Vec3<double>{0.41, 0, 0.1});  // no normal but far away
    EXPECT_GT(plan_of(*along).chains.size(), 1u) << angle;
    expect_agreement(along, 5);
  }
}

TEST(ChainPlanTest, RightAnglesAndZerosOfARealRobotAreExact) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/humanoid.urdf",
                                     {.root = CompileOptions::Root::floating});
  const ChainPlan plan = plan_of(*model);
  int exact = 0, all = 0;
  for (const Chain& chain : plan.chains) {
    for (const ChainBody& b : chain.bodies) {
      ++all;
      exact += b.sin_alpha == 0.0 || b.cos_alpha == 0.0 ? 1 : 0;
    }
  }
  EXPECT_EQ(all, 32);
  EXPECT_EQ(exact, all);
}

TEST(ChainPlanTest, RegroupingLeavesNoRodsOnAxes) {
  for (unsigned long long seed = 1; seed <= 20; ++seed) {
    const ModelPtr model = turning_robot(Shape::random, 12, seed % 2 == 0, seed);
    const ChainPlan plan = plan_of(*model);
    double mass = 0.0, regrouped = 0.0;
    for (int i = 0; i <= model->active_body_count(); ++i) {
      mass += model->folded_inertia(i).m;
      regrouped += plan.inertia[i].m;
      if (plan.chain_of[i] < 0) continue;
      EXPECT_EQ(plan.inertia[i].m, 0.0);
      EXPECT_EQ(plan.inertia[i].h.z, 0.0);
      const Sym3<double> Sigma = Moments<double>::from(plan.inertia[i]).Sigma;
      // Rounding of a sum of moments.
      EXPECT_NEAR(Sigma.zz, 0.0, 1e-14 * (std::fabs(Sigma.xx) + std::fabs(Sigma.yy)));
    }
    EXPECT_NEAR(regrouped, mass, 1e-12 * mass);
  }
}

TEST(ChainPlanTest, RotorsOfARealRobotSpinAboutTheJointsAxes) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/mit_humanoid.yaml",
                                     {.root = CompileOptions::Root::floating});
  int geared = 0;
  const ChainPlan plan = plan_of(*model);
  for (const Chain& chain : plan.chains) {
    for (const ChainBody& b : chain.bodies) {
      geared += b.axial != 0.0 ? 1 : 0;
      EXPECT_EQ(b.momentum.x, 0.0);
      EXPECT_EQ(b.momentum.y, 0.0);
      EXPECT_EQ(b.momentum.z, 0.0);
    }
  }
  EXPECT_GE(geared, 14);
}

TEST(ChainGroupsTest, ArmsAndLegsOfAHumanoidAreComputedAtOnce) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/humanoid.urdf",
                                     {.root = CompileOptions::Root::floating});
  const ChainPlan plan = plan_of(*model);
  const ChainGroups groups(plan, 4);
  std::size_t largest = 0;
  for (const auto& group : groups.groups) largest = std::max(largest, group.size());
  EXPECT_EQ(largest, 4u);
}

TEST(ChainPlanTest, LimbsMayEndWhereTheyBranch) {
  const ModelPtr model = host().load(ESPALIER_SOURCE_DIR "/robots/humanoid.urdf",
                                     {.root = CompileOptions::Root::floating});
  const ChainPlan plan(*model, ChainJoints::of(*model), ChainPlan::Branches::end);
  std::multiset<std::size_t> lengths;
  for (const Chain& chain : plan.chains) lengths.insert(chain.bodies.size());
  EXPECT_EQ(lengths, (std::multiset<std::size_t>{3, 3, 6, 6, 7, 7}));  // torso, neck, legs, arms
}

TEST(ChainGroupsTest, ParentsComeFirst) {
  for (unsigned long long seed = 1; seed <= 30; ++seed) {
    const ModelPtr model = turning_robot(Shape::random, 40, seed % 2 == 0, seed);
    const ChainPlan plan = plan_of(*model);
    for (const int lanes : {1, 4}) {
      const ChainGroups groups(plan, lanes);
      std::vector<int> place(plan.chains.size(), -1);
      for (std::size_t g = 0; g < groups.groups.size(); ++g) {
        for (const int l : groups.groups[g]) {
          EXPECT_EQ(place[l], -1) << "chain in two groups";
          place[l] = static_cast<int>(g);
        }
      }
      for (std::size_t l = 0; l < plan.chains.size(); ++l) {
        ASSERT_GE(place[l], 0) << "chain in no group";
        const int parent = plan.chain_of[plan.chains[l].parent];
        if (parent >= 0) EXPECT_LT(place[parent], place[l]);
      }
    }
  }
}

TEST(ChainTest, AllAlgorithmsAgreeOnTreesOfTurningJoints) {
  for (const Shape shape : {Shape::random, Shape::chain, Shape::star, Shape::binary}) {
    for (const bool floating : {false, true}) {
      for (unsigned long long seed = 1; seed <= 8; ++seed) {
        expect_agreement(turning_robot(shape, 3 + 2 * static_cast<int>(seed), floating, seed),
                         seed);
      }
    }
  }
}

TEST(ChainTest, AllAlgorithmsAgreeOnLongChains) {
  for (const int bodies : {19, 20, 21, 22, 60}) {  // mass matrices take chains of up to 20
    for (const bool floating : {false, true}) {
      expect_agreement(turning_robot(Shape::chain, bodies, floating, bodies), 1);
    }
  }
  for (unsigned long long seed = 1; seed <= 5; ++seed) {
    expect_agreement(turning_robot(Shape::random, 120, seed % 2 == 0, seed), seed);
  }
}

TEST(ChainTest, AllAlgorithmsAgreeWhereOtherJointsStandBetween) {
  for (unsigned long long seed = 1; seed <= 20; ++seed) {
    RobotOptions options;
    options.bodies = 25, options.seed = seed;
    options.types = {"revolute", "revolute", "revolute", "prismatic", "spherical"};
    options.floating_base = seed % 2 == 0;
    expect_agreement(host().compile(random_robot(host().registry(), options)), seed);
  }
}

/// Turns about its axis by `times` q, and says so by a dense subspace if `times` is not 1.
template <int times>
struct Turning {
  static constexpr int nq = 1, nv = 1;
  using Subspace = std::conditional_t<times == 1, RevoluteAxes, Dense<1>>;
  explicit Turning(const JointSpec& /*joint*/) {}
  template <class T>
  RotationZ<T> position(const T* q) const {
    return RotationZ<T>::by(q[0] * double(times));
  }
  template <class T>
  void subspace(const T* /*q*/, Motion<T>* S) const {
    S[0] = {{T(0.0), T(0.0), T(double(times))}, Vec3<T>::zero()};
  }
};

TEST(ChainTest, JointsThatTurnByAnotherAngleThanTheirPositionAreNotOfThem) {
  Registry registry;
  Registrar registrar("turning.so");
  registrar.joint<Turning<1>>({.name = "once", .summary = "turns by q"});
  registrar.joint<Turning<2>>({.name = "twice", .summary = "turns by 2 q"});
  registry.commit(std::move(registrar));
  for (const std::vector<std::string>& types :
       {std::vector<std::string>{"twice", "twice", "twice"}, {"once", "once", "twice", "once"}}) {
    const ModelPtr model = Model::compile(chain_of(types), registry);
    expect_agreement(model, 5);
    // As the same chain of other joints does at the angles.
    const ModelPtr plain =
        Model::compile(chain_of(std::vector<std::string>(types.size(), "once")), registry);
    State s = random_state(*model, 5);
    std::vector<double> vdot(types.size()), expected = vdot;
    host().create<ForwardDynamics<double>>("aba", model)->evaluate(s.q, s.v, s.tau, vdot);
    for (std::size_t i = 0; i < types.size(); ++i) {
      if (types[i] != "twice") continue;
      s.q[i] *= 2, s.v[i] *= 2, s.tau[i] /= 2, vdot[i] *= 2;
    }
    host().create<ForwardDynamics<double>>("aba", plain)->evaluate(s.q, s.v, s.tau, expected);
    EXPECT_LE(relative_difference(vdot, expected), 1e-9);
  }
}

TEST(ChainTest, AllAlgorithmsAgreeOnBeltPairs) {
  int coupled = 0, with_others = 0;
  for (unsigned long long seed = 1; seed <= 60; ++seed) {
    ClusterRobotOptions options;
    options.seed = seed, options.floating_base = seed % 2 == 0;
    options.kinds = {"parallel_parents", "parallel_parents", "belt_pair", "geared", "body"};
    const ModelPtr model = host().compile(random_cluster_robot(host().registry(), options));
    for (const Chain& chain : plan_of(*model).chains) {
      for (const ChainBody& b : chain.bodies) {
        if (b.coupling == 0.0) continue;
        ++coupled;
        with_others += chain.bodies.size() > 2 ? 1 : 0;
      }
    }
    expect_agreement(model, seed);
  }
  EXPECT_GT(coupled, 50);
  EXPECT_GT(with_others, 20);
}

TEST(ChainTest, AllAlgorithmsAgreeOnRotorsAboutAndAsideOfTheAxes) {
  int about = 0, transverse = 0, together = 0;
  for (unsigned long long seed = 1; seed <= 60; ++seed) {
    ClusterRobotOptions options;
    options.seed = seed, options.floating_base = seed % 2 == 0, options.parts = 12;
    options.kinds = {"geared", "geared", "parallel_parents", "geared_joint"};
    const ModelPtr model = host().compile(random_cluster_robot(host().registry(), options));
    for (const Chain& chain : plan_of(*model).chains) {
      int of_chain = 0;
      for (const ChainBody& b : chain.bodies) {
        const bool is_transverse = dot(b.momentum, b.momentum) > 0.0;
        (is_transverse ? transverse : about) += b.reflected > 0.0 ? 1 : 0;
        of_chain |= is_transverse ? 1 : 2;
      }
      together += of_chain == 3 ? 1 : 0;
    }
    expect_agreement(model, seed);
  }
  EXPECT_GT(about, 50);
  EXPECT_GT(transverse, 50);
  EXPECT_GT(together, 20);
}

/// @returns how many there are
int expect_pairs_together(const Model& model) {
  int pairs = 0;
  for (const auto branches : {ChainPlan::Branches::longest, ChainPlan::Branches::end}) {
    const ChainPlan plan(model, ChainJoints::of(model), branches);
    pairs = 0;
    for (const Cluster& c : model.clusters()) {
      if (!is_belt_pair(model, c)) continue;
      ++pairs;
      EXPECT_EQ(plan.chain_of[c.first], plan.chain_of[c.first + 1]);
      EXPECT_EQ(plan.index_in[c.first] + 1, plan.index_in[c.first + 1]);
    }
  }
  return pairs;
}

TEST(ChainPlanTest, BeltPairsStayTogether) {
  // A longer chain hangs on the first link of the pair than on the second.
  for (unsigned long long seed = 1; seed <= 20; ++seed) {
    ClusterRobotOptions options;
    options.seed = seed, options.parts = 12;
    options.kinds = {"parallel_parents", "geared"};
    const ModelPtr model = host().compile(random_cluster_robot(host().registry(), options));
    expect_pairs_together(*model);
  }
}

/// A leg whose knee is driven by a belt from the pelvis, with a foot, and a flap on the thigh.
Description leg_with_flap(double ratio, double rotor_inertia, bool yaw) {
  Description robot;
  robot.name = "leg";
  const auto link = [&](const std::string& name, double mass, double I) {
    LinkDescription& added = robot.links.emplace_back();
    added.name = name;
    added.inertial = Inertial{{{0.01, 0.02, -0.2}, {0, 0, 0}}, mass, {2 * I, 0, 0, 2 * I, 0, I}};
  };
  const auto joint = [&](const std::string& parent, const std::string& child,
                         const Vec3<double>& axis, const Vec3<double>& xyz) {
    JointDescription& added = robot.joints.emplace_back();
    added.name = child + "_joint", added.type = "revolute";
    added.parent = parent, added.child = child, added.axis = axis, added.origin.xyz = xyz;
  };
  link("pelvis", 10, 0.3), link("hip", 1, 0.01), link("thigh", 3, 0.04), link("shank", 2, 0.03);
  link("foot", 1, 0.002), link("flap", 0.4, 0.002);
  LinkDescription& rotor = robot.links.emplace_back();
  rotor.name = "rotor";
  rotor.inertial = Inertial{{}, 0.0, {0, 0, 0, 0, 0, 0}};
  if (rotor_inertia > 0.0) {
    const double I = rotor_inertia;
    rotor.inertial = Inertial{{}, 0.1, {I, 0, 0, 2 * I, 0, I}};  // about y, its axis
  }
  const std::string parent = yaw ? "hip" : "pelvis";
  joint("pelvis", "hip", {0, 0, 1}, {0, 0.1, 0});
  joint(parent, "thigh", {0, 1, 0}, {0, 0, 0});
  joint("thigh", "shank", {0, 1, 0}, {0, 0, -0.4});
  joint("shank", "foot", {1, 0, 0}, {0, 0, -0.4});
  joint("thigh", "flap", {1, 0, 0}, {0, 0.1, -0.1});
  joint(parent, "rotor", {0, 1, 0}, {0, 0, 0});
  robot.joints.back().independent = false;
  CouplingDescription& belt = robot.couplings.emplace_back();
  belt.name = "belt", belt.predecessor = "shank", belt.successor = "rotor", belt.ratio = ratio;
  return robot;
}

// Where nothing is between the rates of a pair, its second body still goes with the first.
TEST(ChainTest, BeltPairsWithoutInertiaBetweenTheirRatesStayTogether) {
  for (const double ratio : {1.0, -1.0, 6.0}) {
    for (const double rotor_inertia : {0.0, 1e-3}) {
      for (const bool yaw : {false, true}) {
        const Description robot = leg_with_flap(ratio, rotor_inertia, yaw);
        for (const auto root : {CompileOptions::Root::fixed, CompileOptions::Root::floating}) {
          const ModelPtr model = host().compile(robot, {.root = root});
          EXPECT_EQ(expect_pairs_together(*model), 1) << ratio << ", " << rotor_inertia;
          expect_agreement(model, 1);
        }
      }
    }
  }
}

TEST(ChainTest, AxesMayBeNearlyParallelOrNearlyAtRightAngles) {
  for (const double angle : {0.1, 1e-2, 9e-3, 1e-4, 1e-8, 1e-12, 1e-15, 0.0}) {
    for (const double turn : {0.0, 1.5707963267948966, 3.141592653589793}) {
      expect_agreement(turned_arm({turn + angle, angle, 0.0}), 5);
    }
  }
}

/// Three arms of two, three and four joints on the ground: lanes of the shorter ones end early.
ModelPtr three_arms() {
  Description robot;
  robot.name = "arms";
  robot.links.push_back({"base", {}, {}});
  Rng rng(3);
  for (int arm = 0; arm < 3; ++arm) {
    std::string from = "base";
    for (int i = 0; i < 2 + arm; ++i) {
      const std::string name = std::to_string(arm) + "_" + std::to_string(i);
      LinkDescription link;
      link.name = "link" + name;
      link.inertial = random_inertial(rng, 0.3);
      robot.links.push_back(link);
      robot.joints.push_back(random_joint(rng, host().registry().joint_type("revolute"),
                                          "joint" + name, from, link.name, 0.3));
      from = link.name;
    }
  }
  return host().compile(robot);
}
const Joint& joint_of_arm(const Model& model, int arm, int i) {
  return model.joint("joint" + std::to_string(arm) + "_" + std::to_string(i));
}

TEST(ChainTest, WhatIsNoNumberStaysInItsChainInMassMatrices) {
  const ModelPtr model = three_arms();
  const State s = random_state(*model, 1);
  const std::size_t nv = s.v.size();
  const auto crba = host().create<MassMatrix<double>>("crba", model);
  std::vector<double> whole(nv * nv), M(nv * nv);
  crba->evaluate(s.q, whole);
  for (int arm = 0; arm < 3; ++arm) {
    State broken = s;
    broken.q[joint_of_arm(*model, arm, 1).q] = std::numeric_limits<double>::quiet_NaN();
    crba->evaluate(broken.q, M);
    const int first = joint_of_arm(*model, arm, 0).v;
    EXPECT_TRUE(std::isnan(M[first * (nv + 1)])) << "arm " << arm;
    for (std::size_t i = 0; i < nv; ++i) {
      for (std::size_t j = 0; j < nv; ++j) {
        const auto of_arm = [&](std::size_t rate) {
          return rate >= static_cast<std::size_t>(first) &&
                 rate < static_cast<std::size_t>(first + 2 + arm);
        };
        if (of_arm(i) && of_arm(j)) continue;
        EXPECT_EQ(M[i * nv + j], whole[i * nv + j]) << "arm " << arm << ": " << i << ", " << j;
      }
    }
  }
}

TEST(ChainTest, WhatIsNoNumberStaysInItsChain) {
  const ModelPtr model = three_arms();
  const State s = random_state(*model, 1);
  for (int arm = 0; arm < 3; ++arm) {
    State broken = s;
    const int v = joint_of_arm(*model, arm, 1).v;
    broken.tau[v] = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> vdot(s.v.size()), whole(s.v.size());
    const auto aba = host().create<ForwardDynamics<double>>("aba", espalier::Setup{model});
    aba->evaluate(s.q, s.v, s.tau, whole);
    aba->evaluate(broken.q, broken.v, broken.tau, vdot);
    for (int other = 0; other < 3; ++other) {
      for (int i = 0; i < 2 + other; ++i) {
        const Joint& joint = joint_of_arm(*model, other, i);
        if (other == arm) {
          EXPECT_TRUE(std::isnan(vdot[joint.v])) << joint.name;
        } else {
          EXPECT_EQ(vdot[joint.v], whole[joint.v]) << joint.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace espalier::test::chain_test
