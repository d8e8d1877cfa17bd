// The robots of the repository: all of them are usable, and what is known of them is true.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <tuple>

#include "tests/support/host.hpp"
#include "tests/support/state.hpp"

namespace espalier::robots_test {
namespace {

namespace fs = std::filesystem;
using test::host;

std::string path_of(const std::string& robot) { return ESPALIER_SOURCE_DIR "/robots/" + robot; }

std::vector<std::string> robots() {
  std::vector<std::string> names;
  for (const auto& file : fs::directory_iterator(path_of(""))) {
    if (!file.is_regular_file() || file.path().extension() == ".md") continue;
    names.push_back(file.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

using Root = CompileOptions::Root;
using MimicRule = CompileOptions::MimicRule;

class RobotsTest : public testing::TestWithParam<std::string> {};

TEST_P(RobotsTest, DoctorFindsNoErrors) {
  for (const Finding& f : diagnose(host().read(path_of(GetParam())), host().registry())) {
    EXPECT_NE(f.severity, Finding::Severity::error) << f.where << ": " << f.text;
  }
}

TEST_P(RobotsTest, EveryForwardDynamicsAgreesWithDense) {
  // Mimic joints are freed, so that algorithms for trees can run, too.
  const ModelPtr robot = host().load(path_of(GetParam()), {.mimic = MimicRule::ignore});
  const auto dense = host().create<ForwardDynamics<double>>("dense", robot);
  const int nv = robot->nv();
  std::vector<double> vdot(nv), expected(nv);
  for (const auto& [name, algorithm] : test::every<ForwardDynamics<double>>(robot)) {
    for (int seed = 0; seed < 20; ++seed) {
      const test::State s = test::random_state(*robot, seed);
      algorithm->evaluate(s.q, s.v, s.tau, vdot);
      dense->evaluate(s.q, s.v, s.tau, expected);
      // Rounding of 1e-16, times the condition of the mass matrices: up to 1e6 (humanoid).
      EXPECT_LT(test::relative_difference(vdot, expected), 1e-9) << name << ", seed " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RobotsTest, testing::ValuesIn(robots()), [](const auto& robot) {
  std::string name = robot.param;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<int>(c)); }, '_');
  return name;
});

/// Origin of a link in the world at given positions.
Vec3<double> position(const ModelPtr& robot, const std::string& link,
                      const std::vector<double>& q) {
  const auto kinematics = host().create<Kinematics<double>>("forward-kinematics", robot);
  const std::vector<double> rest(robot->nv());
  kinematics->evaluate(q, rest, rest);
  return kinematics->placement(robot->link(link)).r;
}
std::vector<double> neutral(const Model& robot) {
  std::vector<double> q(robot.nq());
  robot.neutral(q.data());
  return q;
}
// Rounding of coordinates of about a metre.
constexpr double tiny = 1e-12;

TEST(Ur5Test, ZeroPositionIsThePublishedOne) {
  const ModelPtr robot = host().load(path_of("ur5.urdf"));
  const Vec3<double> flange = position(robot, "flange", neutral(*robot));
  // x = a2 + a3, y = -(d4 + d6), z = d1 - d5.
  EXPECT_NEAR(flange.x, -0.81725, tiny);
  EXPECT_NEAR(flange.y, -0.19145, tiny);
  EXPECT_NEAR(flange.z, -0.005491, tiny);
}

TEST(PandaTest, ZeroPositionIsThePublishedOne) {
  const ModelPtr robot = host().load(path_of("panda.urdf"));
  const Vec3<double> hand = position(robot, "hand", neutral(*robot));
  // x = a7, z = d1 + d3 + d5 - flange.
  EXPECT_NEAR(hand.x, 0.088, tiny);
  EXPECT_NEAR(hand.y, 0.0, tiny);
  EXPECT_NEAR(hand.z, 0.333 + 0.316 + 0.384 - 0.107, tiny);
}

TEST(PandaTest, FingersFollowEachOtherOrAreFree) {
  EXPECT_EQ(host().load(path_of("panda.urdf"))->nv(), 8);
  EXPECT_EQ(host().load(path_of("panda.urdf"), {.mimic = MimicRule::ignore})->nv(), 9);
}

TEST(Solo12Test, StandsOnTheCornersOfARectangleAndWeighsTheSumOfThePublishedParts) {
  const ModelPtr robot = host().load(path_of("solo12.urdf"), {.root = Root::floating});
  EXPECT_EQ(robot->nv(), 18);
  EXPECT_NEAR(robot->mass(), 1.25123725 + 4 * (0.14196048 + 0.14737324 + 0.02318294), tiny);
  // Published: hips at 194.6 and 101.5 mm, then 37.45 and 9 mm outside, two segments of 160 mm.
  for (const auto& [leg, forward, left] :
       {std::tuple("front_left_foot", 1, 1), std::tuple("front_right_foot", 1, -1),
        std::tuple("hind_left_foot", -1, 1), std::tuple("hind_right_foot", -1, -1)}) {
    const Vec3<double> foot = position(robot, leg, neutral(*robot));
    EXPECT_NEAR(foot.x, forward * 0.1946, tiny) << leg;
    EXPECT_NEAR(foot.y, left * (0.1015 + 0.03745 + 0.009), tiny) << leg;
    EXPECT_NEAR(foot.z, -0.32, tiny) << leg;
  }
}

TEST(HumanoidTest, HasTheSizeOfAnAdult) {
  const ModelPtr robot = host().load(path_of("humanoid.urdf"), {.root = Root::floating});
  EXPECT_EQ(robot->nv(), 38);
  EXPECT_NEAR(robot->mass(), 73.0, 1e-6);  // the file has nine digits
  // Ankle height and lengths of the table: from the sole to the hips.
  const std::vector<double> q = neutral(*robot);
  const double leg = -position(robot, "left_foot", q).z + 0.039 * 1.741;
  EXPECT_NEAR(leg, 0.4222 + 0.4403 + 0.0679, 1e-4);
}

TEST(HumanoidTest, CentreOfMassIsWhereTheTablePutsIt) {
  const ModelPtr robot = host().load(path_of("humanoid.urdf"), {.root = Root::floating});
  const auto com = host().create<CenterOfMass<double>>("center-of-mass", robot);
  const std::vector<double> q = neutral(*robot), rest(robot->nv());
  const Vec3<double> c = com->evaluate(q, rest, rest).position;
  EXPECT_NEAR(c.y, 0.0, 1e-9);  // mirror images; the file has nine digits
  // Sum of mass fraction times height above the hips, by hand from de Leva's table: trunk and head
  // (chest and neck stand on the navel, 0.1457), arms from the shoulders at 0.5155, legs from 0.
  const double height =
      0.1117 * (0.1457 - 0.6115 * 0.1457) + 0.1633 * (0.1457 + 0.2155 * (1 - 0.4502)) +
      0.1596 * (0.1457 + 0.2155 + 0.2421 * (1 - 0.5066)) +
      0.0694 * (0.1457 + 0.2155 + 0.2421 + 0.2429 * (1 - 0.5002)) +
      2 * 0.0271 * (0.5155 - 0.5772 * 0.2817) + 2 * 0.0162 * (0.5155 - 0.2817 - 0.4574 * 0.2689) +
      2 * 0.0061 * (0.5155 - 0.2817 - 0.2689 - 0.79 * 0.0862) - 2 * 0.1416 * 0.4095 * 0.4222 -
      2 * 0.0433 * (0.4222 + 0.4395 * 0.4403) -
      2 * 0.0137 * (0.4222 + 0.4403 + 0.5 * 0.039 * 1.741);
  EXPECT_NEAR(c.z, height, 1e-8);  // the file has nine digits
}

#ifdef ESPALIER_SHARED_DIR
TEST(MiniCheetahTest, IsTheRobotOfMitsModelWithoutRotors) {
  const std::string reference = ESPALIER_SHARED_DIR "/robots/mini_cheetah_approximate.urdf";
  const ModelPtr ours = host().load(path_of("mini_cheetah.urdf"), {.root = Root::floating});
  Description description = host().read(reference);
  for (LinkDescription& link : description.links) {
    // The file has forgotten to turn the shank's inertia: it is that of a shank along x.
    if (link.name.ends_with("_knee_link")) std::swap(link.inertial->I.xx, link.inertial->I.zz);
  }
  const ModelPtr theirs = host().compile(description);
  ASSERT_EQ(ours->nv(), 18);
  ASSERT_EQ(theirs->nv(), 18);
  EXPECT_NEAR(ours->mass(), theirs->mass(), tiny);

  // Theirs turns hip and shank by 180 degrees about z: their angles are minus ours.
  struct Pair {
    int theirs;
    double sign;
  };
  std::vector<Pair> map(18);
  const auto pair = [&](const std::string& our, const std::string& their, double sign) {
    const Joint &a = ours->joint(our), &b = theirs->joint(their);
    for (int k = 0; k < a.nv; ++k) map[a.independent + k] = {b.independent + k, sign};
  };
  pair("root", "base_to_floating_base", 1);
  for (const auto& [leg, code] : {std::pair{"front_right", "FR"}, std::pair{"front_left", "FL"},
                                  std::pair{"hind_right", "HR"}, std::pair{"hind_left", "HL"}}) {
    const std::string name = leg, c = code;
    pair(name + "_abduction", "torso_to_" + c + "_abad_j", 1);
    pair(name + "_hip", c + "_abad_to_hip_j", -1);
    pair(name + "_knee", c + "_hip_to_knee_j", -1);
  }

  std::vector<double> v(18), their_v(18), q(ours->nq()), their_q(theirs->nq());
  for (int i = 0; i < 18; ++i) {
    v[i] = 0.3 * std::sin(5 * i + 1);
    their_v[map[i].theirs] = map[i].sign * v[i];
  }
  ours->integrate(neutral(*ours).data(), v.data(), q.data());
  theirs->integrate(neutral(*theirs).data(), their_v.data(), their_q.data());

  std::vector<double> M(18 * 18), their_M(18 * 18);
  host().create<MassMatrix<double>>("crba", ours)->evaluate(q, M);
  host().create<MassMatrix<double>>("crba", theirs)->evaluate(their_q, their_M);
  for (int i = 0; i < 18; ++i) {
    for (int j = 0; j < 18; ++j) {
      EXPECT_NEAR(M[18 * i + j],
                  map[i].sign * map[j].sign * their_M[18 * map[i].theirs + map[j].theirs], tiny)
          << i << " " << j;
    }
  }
}
#endif  // ESPALIER_SHARED_DIR

TEST(DoublePendulumTest, MassMatrixIsThatOfTheTextbook) {
  const ModelPtr robot = host().load(path_of("double_pendulum.yaml"));
  ASSERT_EQ(robot->nv(), 2);
  const double l1 = 1.0, l2 = 0.7, angle = 0.4;
  std::vector<double> q{0.3, angle}, M(4);
  host().create<MassMatrix<double>>("crba", robot)->evaluate(q, M);
  // Two rods of 1 kg.
  EXPECT_NEAR(M[3], l2 * l2 / 3, tiny);
  EXPECT_NEAR(M[1], l2 * l2 / 3 + l1 * l2 * std::cos(angle) / 2, tiny);
  EXPECT_NEAR(M[0], 4 * l1 * l1 / 3 + l2 * l2 / 3 + l1 * l2 * std::cos(angle), tiny);
}

}  // namespace
}  // namespace espalier::robots_test
