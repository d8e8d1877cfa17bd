// The robots composed of subsystems: they are the robots that others have written down flat.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/formats/support.hpp"
#include "tests/support/host.hpp"
#include "tests/support/state.hpp"
#include "tests/support/transmission_chain.hpp"

namespace espalier::composed_robots_test {
namespace {

namespace fs = std::filesystem;
using test::host;
using Root = CompileOptions::Root;

const fs::path own = fs::path(ESPALIER_SOURCE_DIR) / "robots";

#ifdef ESPALIER_SHARED_DIR
// Extras: robots and results of others beside the repository.
const fs::path shared = ESPALIER_SHARED_DIR;

/// The same joint in two models; `sign` is -1 where one turns against the other.
struct SameJoint {
  std::string ours, theirs;
  double sign = 1.0;
};

/// Where each of our rates is among theirs.
struct Index {
  int theirs;
  double sign;
};
std::vector<Index> match(const Model& ours, const Model& theirs,
                         const std::vector<SameJoint>& joints) {
  std::vector<Index> map(ours.nv(), {-1, 0.0});
  for (const SameJoint& pair : joints) {
    const Joint &a = ours.joint(pair.ours), &b = theirs.joint(pair.theirs);
    for (int k = 0; k < a.nv; ++k) map.at(a.independent + k) = {b.independent + k, pair.sign};
  }
  return map;
}

/// At a random state, both have the same mass matrix and accelerate in the same way.
void expect_same_dynamics(const ModelPtr& ours, const ModelPtr& theirs,
                          const std::vector<SameJoint>& joints) {
  const int nv = ours->nv();
  ASSERT_EQ(nv, theirs->nv());
  EXPECT_NEAR(ours->mass(), theirs->mass(), 1e-12);  // rounding of a sum of tens of numbers
  const std::vector<Index> map = match(*ours, *theirs, joints);
  for (const Index& i : map) ASSERT_GE(i.theirs, 0) << "a joint is not matched";

  std::vector<double> v(nv), tau(nv), their_v(nv), their_tau(nv);
  State a(ours), b(theirs);
  for (const SameJoint& pair : joints) {
    const Joint& joint = ours->joint(pair.ours);
    if (joint.nv == 6) {
      const std::vector<double> pose{0.3, -0.2, 0.5, 0.1, 0.5, -0.7, 0.5};  // of norm 1
      a.set_position(pair.ours, pose);
      b.set_position(pair.theirs, pose);
      continue;
    }
    const double q = 0.8 * std::sin(7 * joint.independent + 1);
    a.set_position(pair.ours, q);
    b.set_position(pair.theirs, pair.sign * q);
  }
  for (int i = 0; i < nv; ++i) {
    v[i] = std::sin(5 * i + 1), tau[i] = 3 * std::cos(3 * i);
    their_v[map[i].theirs] = map[i].sign * v[i];
    their_tau[map[i].theirs] = map[i].sign * tau[i];
  }

  std::vector<double> M(nv * nv), their_M(nv * nv), mapped_M(nv * nv);
  test::any<MassMatrix<double>>(ours)->evaluate(a.q(), M);
  test::any<MassMatrix<double>>(theirs)->evaluate(b.q(), their_M);
  std::vector<double> vdot(nv), their_vdot(nv), mapped(nv);
  test::any<ForwardDynamics<double>>(ours)->evaluate(a.q(), v, tau, vdot);
  test::any<ForwardDynamics<double>>(theirs)->evaluate(b.q(), their_v, their_tau, their_vdot);
  for (int i = 0; i < nv; ++i) {
    mapped[i] = map[i].sign * their_vdot[map[i].theirs];
    for (int j = 0; j < nv; ++j) {
      mapped_M[nv * i + j] =
          map[i].sign * map[j].sign * their_M[nv * map[i].theirs + map[j].theirs];
    }
  }
  EXPECT_LT(test::relative_difference(M, mapped_M), 1e-13);  // rounding of sums of positive terms
  EXPECT_LT(test::relative_difference(vdot, mapped),
            1e-10);  // the same, times M's condition of 1e4
}

TEST(MiniCheetahGearedTest, IsTheRobotOfMitsModel) {
  const fs::path file = shared / "robots" / "mini_cheetah.urdf";
  Description theirs = host().read(file);
  for (LinkDescription& link : theirs.links) {
    // The file has forgotten to turn the shank's inertia: it is that of a shank along x.
    if (link.name.ends_with("_knee_link")) std::swap(link.inertial->I.xx, link.inertial->I.zz);
  }
  std::vector<SameJoint> joints{{"root", "base_to_floating_base"}};
  for (const auto& [leg, code] : {std::pair{"front_right", "FR"}, std::pair{"front_left", "FL"},
                                  std::pair{"hind_right", "HR"}, std::pair{"hind_left", "HL"}}) {
    const std::string name = leg, c = code;
    joints.push_back({name + ".abduction.link", "torso_to_" + c + "_abad_j"});
    // Theirs turns hip and shank by 180 degrees about z: their angles are minus ours.
    joints.push_back({name + ".hip.link", c + "_abad_to_hip_j", -1});
    joints.push_back({name + ".knee.link", c + "_hip_to_knee_j", -1});
  }
  expect_same_dynamics(host().load(own / "mini_cheetah_geared.yaml", {.root = Root::floating}),
                       host().compile(theirs), joints);
}

TEST(MitHumanoidTest, IsTheRobotOfMitsModel) {
  const fs::path file = shared / "robots" / "mit_humanoid.urdf";
  std::vector<SameJoint> joints{{"root", "world_to_base"}};
  for (const std::string side : {"left", "right"}) {
    const std::string leg = side + "_leg.", arm = side + "_arm.";
    joints.push_back({leg + "hip_yaw.link", "base_to_" + side + "_hipz_link"});
    joints.push_back({leg + "hip_roll.link", side + "_hipz_to_hipx_link"});
    joints.push_back({leg + "hip_pitch.link", side + "_hipx_to_hipy_link"});
    joints.push_back({leg + "knee_ankle.link1", side + "_hipy_to_knee_link"});
    joints.push_back({leg + "knee_ankle.link2", side + "_knee_to_ankle"});
    joints.push_back({arm + "shoulder_pitch.link", "base_to_" + side + "_shouldery_link"});
    joints.push_back({arm + "shoulder_roll.link", side + "_shouldery_shoulderx_link"});
    joints.push_back({arm + "shoulder_yaw.link", side + "_shoulderx_shoulderz_link"});
    joints.push_back({arm + "elbow.link", side + "_shoulderz_elbow_link"});
  }
  expect_same_dynamics(host().load(own / "mit_humanoid.yaml", {.root = Root::floating}),
                       host().load(file), joints);
}

TEST(Jvrc1GearedTest, IsThePublishedRobot) {
  const fs::path file = shared / "robots" / "jvrc1_humanoid.urdf";
  Description theirs = host().read(file);
  std::map<std::string, Vec3<double>> axis;
  for (JointDescription& joint : theirs.joints) {
    axis[joint.child] = joint.axis;
    // The file has the right hip 87 mm lower than the left one.
    if (joint.name.starts_with("pelvis-to-right-hip")) joint.origin.xyz.z = 0.0;
  }
  for (LinkDescription& link : theirs.links) {
    // ... and rotors that no rigid body can be, all of them on end.
    if (!link.name.ends_with("-rotor")) continue;
    const Vec3<double>& a = axis.at(link.name);
    const auto about = [](double along) { return along == 0.0 ? 2.5984e-5 : 5.1512e-5; };
    link.inertial->I = {about(a.x), 0, 0, about(a.y), 0, about(a.z)};
  }
  std::vector<SameJoint> joints{{"root", "base_to_pelvis"},
                                {"waist_yaw.link", "pelvis-to-waist-yaw"},
                                {"waist_pitch.link", "waist-yaw-to-waist-pitch"},
                                {"waist_roll.link", "waist-pitch-to-waist-roll"},
                                {"neck.neck_yaw", "waist-roll-to-neck-yaw"},
                                {"neck.neck_roll", "neck-yaw-to-neck-roll"},
                                {"neck.neck_pitch", "neck-roll-to-neck-pitch"}};
  for (const std::string side : {"left", "right"}) {
    const std::string leg = side + "_leg.", arm = side + "_arm.", s = side + "-";
    joints.push_back({leg + "hip_pitch.link", "pelvis-to-" + s + "hip-pitch"});
    joints.push_back({leg + "hip_roll.link", s + "hip-pitch-to-hip-roll"});
    joints.push_back({leg + "hip_yaw.link", s + "hip-roll-to-hip-yaw"});
    joints.push_back({leg + "knee.link", s + "hip-yaw-to-knee"});
    joints.push_back({leg + "ankle_roll.link", s + "knee-to-ankle-roll"});
    joints.push_back({leg + "ankle_pitch.link", s + "ankle-roll-to-ankle-pitch"});
    joints.push_back({arm + "shoulder_pitch.link", "waist-roll-to-" + s + "shoulder-pitch"});
    joints.push_back({arm + "shoulder_roll.link", s + "shoulder-pitch-to-shoulder-roll"});
    joints.push_back({arm + "shoulder_yaw.link", s + "shoulder-roll-to-shoulder-yaw"});
    joints.push_back({arm + "elbow_pitch.link", s + "shoulder-yaw-to-elbow-pitch"});
    joints.push_back({arm + "elbow_yaw.link", s + "elbow-pitch-to-elbow-yaw"});
    joints.push_back({arm + "wrist_roll", s + "elbow-yaw-to-wrist-roll"});
    joints.push_back({arm + "wrist_yaw", s + "wrist-roll-to-wrist-yaw"});
  }
  expect_same_dynamics(host().load(own / "jvrc1_geared.yaml", {.root = Root::floating}),
                       host().compile(theirs), joints);
}

// --- Tello ---------------------------------------------------------------------------------------

std::vector<double> numbers(const nlohmann::json& list) { return list.get<std::vector<double>>(); }

/// Name in tello.yaml of a joint in the vectors: "joint_of:left-hip-rotor-1" is "left.hip.rotor1".
std::string tello_joint(std::string name) {
  name = name.substr(name.find(':') + 1);
  if (name == "torso") return "root";
  const std::string side = name.substr(0, name.find('-')), rest = name.substr(side.size() + 1);
  static const std::map<std::string, std::string> names{{"hip-clamp", "hip_clamp.link"},
                                                        {"hip-clamp-rotor", "hip_clamp.rotor"},
                                                        {"hip-rotor-1", "hip.rotor1"},
                                                        {"hip-rotor-2", "hip.rotor2"},
                                                        {"gimbal", "hip.gimbal"},
                                                        {"thigh", "hip.thigh"},
                                                        {"knee-ankle-rotor-1", "knee_ankle.rotor1"},
                                                        {"knee-ankle-rotor-2", "knee_ankle.rotor2"},
                                                        {"shin", "knee_ankle.shin"},
                                                        {"foot", "knee_ankle.foot"}};
  return side + "." + names.at(rest);
}

TEST(TelloTest, MatchesThePublishedModelsResults) {
  const fs::path file = shared / "vectors" / "loop_cpp_TelloFixed.json";
  std::ifstream stream(file);
  const auto data = nlohmann::json::parse(stream);
  const ModelPtr tello = host().load(own / "tello.yaml", {.root = Root::floating});
  const int nv = tello->nv();
  ASSERT_EQ(nv, data["nv_independent"].get<int>());
  std::vector<int> place;  // of their independent rates among ours
  for (const auto& cluster : data["clusters"]) {
    for (const auto& joint : cluster["independent_joints"]) {
      const Joint& ours = tello->joint(tello_joint(joint));
      ASSERT_GE(ours.independent, 0) << ours.name;
      for (int k = 0; k < ours.nv; ++k) place.push_back(ours.independent + k);
    }
  }
  const auto ours = [&](const nlohmann::json& list) {
    const std::vector<double> theirs = numbers(list);
    std::vector<double> result(nv);
    for (int i = 0; i < nv; ++i) result[place[i]] = theirs[i];
    return result;
  };
  const auto forward = test::any<ForwardDynamics<double>>(tello);
  const auto inverse = test::any<InverseDynamics<double>>(tello);
  const auto mass = test::any<MassMatrix<double>>(tello);
  for (const auto& state : data["states"]) {
    std::vector<double> q(tello->nq()), vdot(nv), tau(nv), M(nv * nv), expected_M(nv * nv);
    for (const auto& [name, position] : state["spanning_position"].items()) {
      std::vector<double> x = numbers(position);
      if (x.size() == 7) x = {x[0], x[1], x[2], x[4], x[5], x[6], x[3]};  // w comes first there
      std::copy(x.begin(), x.end(), q.begin() + tello->joint(tello_joint(name)).q);
    }
    const std::vector<double> v = ours(state["yd"]);
    forward->evaluate(q, v, ours(state["tau"]), vdot);
    inverse->evaluate(q, v, ours(state["ydd_in"]), tau);
    mass->evaluate(q, M);
    for (int i = 0; i < nv; ++i) {
      const std::vector<double> row = numbers(state["expected"]["mass_matrix"][i]);
      for (int j = 0; j < nv; ++j) expected_M[nv * place[i] + place[j]] = row[j];
    }
    // Their states meet the constraints to 1e-15 or so; the rest is rounding and condition.
    EXPECT_LT(test::relative_difference(M, expected_M), 1e-10);
    EXPECT_LT(test::relative_difference(tau, ours(state["expected"]["tau_crnea"])), 1e-10);
    EXPECT_LT(test::relative_difference(vdot, ours(state["expected"]["ydd_caba"])), 1e-8);
  }
}
#endif  // ESPALIER_SHARED_DIR

TEST(TelloTest, ArmsAreThoseOfTheHumanoid) {
  const ModelPtr tello = host().load(own / "tello.yaml", {.root = Root::floating});
  const ModelPtr with = host().load(own / "tello_with_arms.yaml", {.root = Root::floating});
  EXPECT_EQ(with->nv(), tello->nv() + 8);
  // Four links and four rotors of 0.05 kg in each arm.
  EXPECT_NEAR(with->mass() - tello->mass(),
              2 * (0.788506 + 0.80125 + 0.905588 + 0.34839 + 4 * 0.05), 1e-12);
}

// --- mechanisms ----------------------------------------------------------------------------------

/// Chains are read from memory; their modules lie in the folder of robots.
const ReadOptions modules{{ESPALIER_SOURCE_DIR "/robots"}, false};

TEST(ChainTest, EveryLengthOfGearsAndBeltsIsARobot) {
  for (const int links : {2, 6, 40}) {
    for (const std::string& text : {test::geared_chain(links), test::belt_chain(links)}) {
      const ModelPtr model =
          host().compile(host()
                             .registry()
                             .format_for("chain.yaml")
                             .read(text, "chain.yaml", host().registry(), modules));
      EXPECT_EQ(model->nv(), links);
      EXPECT_NEAR(model->mass(), links * 1.055, 1e-11);  // a link and a rotor; sum of 80 numbers
      EXPECT_EQ(model->active_body_count(), links);      // rotors are folded
    }
  }
}

TEST(ChainTest, TheFilesAreChainsOfSix) {
  for (const auto& [file, text] : {std::pair{"geared_chain.yaml", test::geared_chain(6)},
                                   std::pair{"belt_chain.yaml", test::belt_chain(6)}}) {
    Description made = host()
                           .registry()
                           .format_for("chain.yaml")
                           .read(text, "chain.yaml", host().registry(), modules);
    const Description read = host().read(own / file);
    made.name = read.name;
    test::expect_same(made, read);
  }
}

TEST(FourBarLegTest, IsAssembledInItsZeroPosition) {
  const ModelPtr leg = host().load(own / "four_bar_leg.yaml");
  EXPECT_EQ(leg->nv(), 5);
  const State state(leg);
  // The file has seven digits of the Achilles rod's end; no joint has to move by more than that.
  for (const double q : state.q()) EXPECT_NEAR(q, 0.0, 1e-6);
}

TEST(FourBarLegTest, FootFollowsItsCrankLikeAParallelogram) {
  const ModelPtr leg = host().load(own / "four_bar_leg.yaml");
  State state(leg);
  const double turn = 0.5;
  std::vector<double> q = state.q();
  q[leg->joint("ankle.crank").q] = turn;
  ASSERT_EQ(close(*leg, state.q().data(), q.data()).verdict, Closure::Verdict::closed);
  // Bars of 55 and 55.4 mm, 350.05 and 350.12 mm: within 0.45 mm / 55 mm of a parallelogram.
  EXPECT_NEAR(q[leg->joint("ankle.rocker").q], turn, 0.45 / 55);
  EXPECT_NEAR(q[leg->joint("foot_motor").q], 50 * turn, 1e-10);
}

TEST(RodAnkleTest, BothCranksPitchAndOpposedOnesRoll) {
  const ModelPtr ankle = host().load(own / "rod_ankle.yaml");
  EXPECT_EQ(ankle->nv(), 3);
  const State start(ankle);
  const auto turned = [&](double first, double second) {
    std::vector<double> q = start.q();
    q[ankle->joint("ankle.crank1").q] = first;
    q[ankle->joint("ankle.crank2").q] = second;
    EXPECT_EQ(close(*ankle, start.q().data(), q.data()).verdict, Closure::Verdict::closed);
    EXPECT_NEAR(q[ankle->joint("motor1").q], 50 * first, 1e-10);
    return std::pair{q[ankle->joint("ankle.cross").q], q[ankle->joint("ankle.foot").q]};
  };
  const auto [pitch, roll] = turned(0.1, 0.1);
  const auto [pitch_opposed, roll_opposed] = turned(0.1, -0.1);
  // Cranks of 57 mm, rods' ends 54 mm from the ankle; the left and right rods differ in length.
  EXPECT_NEAR(pitch, 0.1, 0.02);
  EXPECT_NEAR(roll, 0.0, 0.02);
  EXPECT_NEAR(pitch_opposed, 0.0, 0.02);
  EXPECT_GT(std::abs(roll_opposed), 0.2);  // 18 mm off the plane: 54 / 18 times as fast
}

TEST(RobotFilesTest, AllComposedRobotsGoToUrdfAndBackWithoutLoss) {
  const Format &yaml = host().registry().format_for("a.yaml"),
               &urdf = host().registry().format_for("a.urdf");
  int count = 0;
  for (const auto& file : fs::directory_iterator(own)) {
    if (file.path().extension() != ".yaml") continue;
    SCOPED_TRACE(file.path());
    const Description robot = host().read(file.path());
    test::expect_same(urdf.read(urdf.write(robot), "written.urdf"), robot);
    test::expect_same(yaml.read(yaml.write(robot), "written.yaml"), robot);
    ++count;
  }
  EXPECT_GE(count, 10);
}

#ifdef ESPALIER_SHARED_DIR
TEST(RobotFilesTest, SharedRobotsLoadAndCompile) {
  int count = 0;
  for (const auto& file : fs::directory_iterator(shared / "robots")) {
    SCOPED_TRACE(file.path());
    const Description robot = host().read(file.path());
    const ModelPtr model = host().compile(robot);
    EXPECT_GT(model->nv(), 0);
    // What was written as YAML compiles to the same robot.
    const Format& yaml = host().registry().format_for("a.yaml");
    const ModelPtr again = host().compile(yaml.read(yaml.write(robot), "written.yaml"));
    EXPECT_EQ(again->nv(), model->nv());
    EXPECT_EQ(again->mass(), model->mass());
    ++count;
  }
  EXPECT_GT(count, 0);
}
#endif  // ESPALIER_SHARED_DIR

}  // namespace
}  // namespace espalier::composed_robots_test
