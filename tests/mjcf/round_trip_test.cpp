#include <Eigen/Dense>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "formats/mjcf/mjcf.hpp"
#include "formats/sdf/sdf.hpp"
#include "formats/urdf/urdf.hpp"
#include "formats/yaml/yaml.hpp"
#include "tests/formats/support.hpp"
#include "tests/support/host.hpp"
#include "tests/support/simple_robot.hpp"

// Robots of the repository through every format: the same mass matrix and bias forces.

namespace espalier::test::round_trip_test {
namespace {

using Matrix = Eigen::Matrix<double, -1, -1, Eigen::RowMajor>;

/// Mass matrix and bias of a robot, by the names of its independent coordinates.
struct Numbers {
  std::vector<std::string> names;
  Matrix M;
  Eigen::VectorXd h;
};

/// A joint's name; SDF wants links and joints to differ in name and adds "_joint" where they do
/// not.
std::string plain(const std::string& name) {
  return name.ends_with("_joint") ? name.substr(0, name.size() - 6) : name;
}

/// At positions that are given by name; those of other joints follow.
Numbers numbers(const ModelPtr& robot, const std::map<std::string, double>& positions) {
  Numbers out;
  const int nv = robot->nv();
  std::vector<double> q(robot->nq());
  robot->neutral(q.data());
  for (const Joint& joint : robot->joints()) {
    const auto given = positions.find(plain(joint.name));
    if (joint.nq == 1 && given != positions.end()) q[joint.q] = given->second;
  }
  Eigen::VectorXd v(nv);
  for (const Coordinate& c : robot->coordinates()) {
    for (int k = 0; k < c.size; ++k) {
      out.names.push_back(plain(c.joint) + "[" + std::to_string(c.component + k) + "]");
      v[c.start + k] =
          std::sin(static_cast<double>(std::hash<std::string>{}(out.names.back()) % 100));
    }
  }
  out.M.resize(nv, nv), out.h.resize(nv);
  any<MassMatrix<double>>(robot)->evaluate(q, out.M);  // symmetric: either order of storage
  any<BiasForce<double>>(robot)->evaluate(q, v, out.h);
  return out;
}

/// Two descriptions of a robot compute the same mass matrix and bias.
void expect_the_same(const Description& robot, const Description& back) {
  // Positions are given by name for joints of one rate, so that a root that floats is held.
  const CompileOptions options{.root = CompileOptions::Root::fixed};
  const ModelPtr a = host().compile(robot, options), b = host().compile(back, options);
  // Spanning positions that close all loops, by name.
  std::vector<double> q(a->nq());
  a->random(3, q.data());
  std::map<std::string, double> positions;
  for (const Joint& joint : a->joints()) {
    if (joint.nq == 1) positions[plain(joint.name)] = q[joint.q];
  }
  const Numbers x = numbers(a, positions), y = numbers(b, positions);
  ASSERT_EQ(x.names.size(), y.names.size());
  const double size = x.M.cwiseAbs().maxCoeff(), force = 1.0 + x.h.cwiseAbs().maxCoeff();
  for (std::size_t i = 0; i < x.names.size(); ++i) {
    const auto I = std::find(y.names.begin(), y.names.end(), x.names[i]) - y.names.begin();
    ASSERT_LT(static_cast<std::size_t>(I), y.names.size()) << x.names[i];
    EXPECT_NEAR(x.h[i], y.h[I], 1e-9 * force) << x.names[i];
    for (std::size_t j = 0; j < x.names.size(); ++j) {
      const auto J = std::find(y.names.begin(), y.names.end(), x.names[j]) - y.names.begin();
      ASSERT_LT(static_cast<std::size_t>(J), y.names.size()) << x.names[j];
      EXPECT_NEAR(x.M(i, j), y.M(I, J), 1e-9 * size) << x.names[i] << ", " << x.names[j];
    }
  }
}

Description again(const Format& format, const Description& robot) {
  return format.read(format.write(robot), "written", host().registry());
}

template <class F>
void expect_the_same_after(const std::string& file) {
  SCOPED_TRACE(file);
  const Description robot = host().read(file);
  expect_the_same(robot, again(F(), robot));
}

/// All robots in robots/.
std::vector<std::string> robots() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(ESPALIER_SOURCE_DIR "/robots")) {
    const auto ending = entry.path().extension();
    if (ending == ".urdf" || ending == ".yaml") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Of each robot: the same numbers, or a refusal that names the joint that the format has not.
/// @return how many were refused
template <class F>
int through() {
  int refused = 0;
  EXPECT_GE(robots().size(), 15u);
  for (const std::string& file : robots()) {
    try {
      expect_the_same_after<F>(file);
    } catch (const Unsupported& error) {
      ++refused;
      // Beams are joints with equations of their own.
      EXPECT_NE(std::string(error.what()).find("'elastic_"), std::string::npos) << error.what();
    }
  }
  return refused;
}

TEST(RoundTripTest, RobotsThroughMjcf) { EXPECT_EQ(through<MjcfFormat>(), 1); }
TEST(RoundTripTest, RobotsThroughSdf) { EXPECT_EQ(through<SdfFormat>(), 1); }
TEST(RoundTripTest, RobotsThroughUrdf) { EXPECT_EQ(through<UrdfFormat>(), 0); }
TEST(RoundTripTest, RobotsThroughYaml) { EXPECT_EQ(through<YamlFormat>(), 0); }

/// As `convert A B` of a file in the format A: each robot comes to each format, and on to each
/// other one.
TEST(RoundTripTest, RobotsFromAnyFormatToAnyOther) {
  const UrdfFormat urdf;
  const YamlFormat yaml;
  const MjcfFormat mjcf;
  const SdfFormat sdf;
  const std::vector<std::pair<const char*, const Format*>> formats = {
      {"urdf", &urdf}, {"yaml", &yaml}, {"mjcf", &mjcf}, {"sdf", &sdf}};
  int pairs = 0;
  for (const std::string& file : robots()) {
    // Its beams are joints that two of the formats lack.
    const bool elastic = file.find("elastic_arm") != std::string::npos;
    const Description robot = host().read(file);
    for (const auto& [from, first] : formats) {
      if (elastic && (first == &mjcf || first == &sdf)) continue;
      const Description there = again(*first, robot);
      for (const auto& [to, second] : formats) {
        if (first == second || (elastic && (second == &mjcf || second == &sdf))) continue;
        SCOPED_TRACE(file + " from " + from + " to " + to);
        expect_the_same(robot, again(*second, there));
        ++pairs;
      }
    }
  }
  EXPECT_GE(pairs, 15 * 12 + 2);
}

/// States, inputs, contacts and joints of every kind that MJCF has two of: kept by URDF, YAML, and
/// by MJCF in its texts; listed as lost by SDF.
Description with_everything() {
  Description robot = host().read(ESPALIER_SOURCE_DIR "/robots/double_pendulum.yaml");
  const std::string tip = robot.links.back().name;
  int i = 0;
  for (const char* type : {"universal", "cylindrical", "helical", "spherical"}) {
    LinkDescription link;
    link.name = std::string("link of ") + type;
    link.inertial = Inertial{{{0.1, 0.2, 0.3}, {0, 0, 0}}, 1.0 + i, {0.2, 0, 0, 0.3, 0, 0.4}};
    JointDescription joint;
    joint.name = std::string("a ") + type, joint.type = type;
    joint.parent = i == 0 ? tip : robot.links.back().name, joint.child = link.name;
    joint.origin = {{0.1 * ++i, 0, 0}, {0, 0.3, 0}};
    joint.axis = {0, 0, 1};
    if (joint.type == "helical") joint.parameters = {{"pitch", {0.02}}}, joint.limits.upper = 1.0;
    if (joint.type == "universal") joint.parameters = {{"axis2", {0, 1, 0}}};
    robot.links.push_back(link), robot.joints.push_back(joint);
  }
  const std::string first = robot.joints.front().name;
  NamedState home;
  home.name = "home";
  home.positions = {{first, {0.3}}, {"a universal", {0.1, -0.2}}, {"a spherical", {0, 0, 0, 1}}};
  home.velocities = {{"a cylindrical", {0.5, 0.25}}};
  robot.states = {home};
  ActuatorDescription both, limited;
  both.name = "both", both.gear = {{first, {2.0}}, {"a helical", {-1.0}}};
  limited.name = "limited", limited.gear = {{first, {1.0}}}, limited.upper = 3.0;
  robot.actuators = {both, limited};
  robot.excluded_contacts = {{robot.links[0].name, tip, {}}};
  return robot;
}

template <class F>
void expect_all_kept() {
  const Description robot = with_everything();
  const Description back = F().read(F().write(robot), "written", host().registry());
  ASSERT_EQ(back.states.size(), 1u);
  EXPECT_EQ(back.states[0].name, "home");
  EXPECT_EQ(back.states[0].positions, robot.states[0].positions);
  EXPECT_EQ(back.states[0].velocities, robot.states[0].velocities);
  ASSERT_EQ(back.actuators.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(back.actuators[i].name, robot.actuators[i].name);
    EXPECT_EQ(back.actuators[i].gear, robot.actuators[i].gear);
    EXPECT_EQ(back.actuators[i].upper, robot.actuators[i].upper);
    EXPECT_EQ(back.actuators[i].lower, robot.actuators[i].lower);
  }
  ASSERT_EQ(back.excluded_contacts.size(), 1u);
  EXPECT_EQ(back.excluded_contacts[0].first, robot.excluded_contacts[0].first);
  ASSERT_EQ(back.joints.size(), robot.joints.size());
  ASSERT_EQ(back.links.size(), robot.links.size());
  for (const JointDescription& joint : robot.joints) {
    const auto same = std::find_if(back.joints.begin(), back.joints.end(),
                                   [&](const JointDescription& j) { return j.name == joint.name; });
    ASSERT_NE(same, back.joints.end()) << joint.name;
    EXPECT_EQ(same->type, joint.type);
    EXPECT_EQ(same->parent, joint.parent);
    EXPECT_EQ(same->child, joint.child);
    EXPECT_EQ(same->parameters, joint.parameters);
    EXPECT_EQ(same->limits.upper, joint.limits.upper);
  }
  EXPECT_NO_THROW(host().compile(back));
}

TEST(RoundTripTest, StatesInputsContactsAndJointsOfTwoRatesAreKept) {
  expect_all_kept<UrdfFormat>();
  expect_all_kept<YamlFormat>();
  expect_all_kept<MjcfFormat>();
}

/// A robot that floats, with a state and an input that name its root, comes back so.
template <class F>
void expect_root_kept() {
  Description robot = host().read(ESPALIER_SOURCE_DIR "/robots/tello.yaml");
  ASSERT_EQ(robot.floating, true);
  NamedState fallen;
  fallen.name = "fallen";
  fallen.positions = {{"root", {0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5}}};
  fallen.velocities = {{"root", {0.1, 0.2, 0.3, 0.4, 0.5, 0.6}}};
  ActuatorDescription thruster;
  thruster.name = "thruster", thruster.gear = {{"root", {1, 0, 2, 0, 0, 0}}};
  robot.states = {fallen}, robot.actuators = {thruster};
  for (const std::string& loss : F().losses(robot)) EXPECT_EQ(loss.find("root"), loss.npos) << loss;
  if (std::is_same_v<F, MjcfFormat>) {  // about the body's axes; the three forces come first
    EXPECT_NE(F().write(robot).find("gear=\"0 0 0 1 0 2\""), std::string::npos);
  }
  for (const std::optional<bool> floats : {std::optional(true), std::optional(false), {}}) {
    robot.floating = floats;
    if (!floats.value_or(false)) robot.states.clear(), robot.actuators.clear();
    const Description back = again(F(), robot);
    EXPECT_EQ(back.floating, floats);
    EXPECT_EQ(back.links.size(), robot.links.size());
    EXPECT_EQ(back.joints.size(), robot.joints.size());
    ASSERT_EQ(back.states.size(), robot.states.size());
    ASSERT_EQ(back.actuators.size(), robot.actuators.size());
    EXPECT_EQ(host().compile(back)->nv(), host().compile(robot)->nv());
    if (robot.states.empty()) continue;
    EXPECT_EQ(back.states[0].positions, fallen.positions);
    EXPECT_EQ(back.states[0].velocities, fallen.velocities);
    EXPECT_EQ(back.actuators[0].gear, thruster.gear);
  }
}

TEST(RoundTripTest, WhetherTheRootFloatsIsKept) {
  expect_root_kept<UrdfFormat>();
  expect_root_kept<YamlFormat>();
  expect_root_kept<MjcfFormat>();
}

TEST(RoundTripTest, RobotsThatFloatHangOnAFreeJointInMjcf) {
  const Description robot = host().read(ESPALIER_SOURCE_DIR "/robots/tello.yaml");
  EXPECT_NE(MjcfFormat().write(robot).find("<freejoint name=\"root\"/>"), std::string::npos);
}

/// What MuJoCo calls the ground can be no link that moves there.
TEST(RoundTripTest, MovingLinksAreNotCalledWorld) {
  Description robot = host().read(ESPALIER_SOURCE_DIR "/robots/double_pendulum.yaml");
  for (JointDescription& joint : robot.joints) {
    if (joint.parent == robot.links.front().name) joint.parent = "world";
  }
  robot.links.front().name = "world",
  robot.links.front().inertial = Inertial{{}, 1, {1, 0, 0, 1, 0, 1}};
  robot.floating = true;
  EXPECT_THROW(MjcfFormat().write(robot), Unsupported);
  EXPECT_THROW(SdfFormat().write(robot), Unsupported);
}

TEST(RoundTripTest, WhatMuJoCoRefusesIsListed) {
  Description robot = host().read(ESPALIER_SOURCE_DIR "/robots/double_pendulum.yaml");
  const auto listed = [&](const char* what) {
    const std::vector<std::string> all = MjcfFormat().losses(robot);
    return std::any_of(all.begin(), all.end(),
                       [&](const std::string& loss) { return loss.find(what) != loss.npos; });
  };
  LinkDescription& tip = robot.links.back();
  tip.inertial = Inertial{{}, 1, {1, 0, 0, 1, 0, 1}};
  EXPECT_FALSE(listed(("'" + tip.name + "'").c_str()));
  tip.inertial->I = {1, 0, 0, 1, 0, 3};
  EXPECT_TRUE(listed("those of no rigid body"));
  tip.inertial->I = {0, 0, 0, 0, 0, 0};
  EXPECT_TRUE(listed("moves without mass, or without inertia"));
  tip.inertial.reset();
  EXPECT_TRUE(listed("moves without mass, or without inertia"));
}

TEST(RoundTripTest, UrdfSaysWhatARootMayBe) {
  const std::string text = R"(<robot name="r"><link name="a"/><espalier root="flying"/></robot>)";
  expect_in(message_of<InvalidModel>([&] { UrdfFormat().read(text, "r.urdf", host().registry()); }),
            {"r.urdf", "root is 'flying', expected 'fixed' or 'floating'"});
}

TEST(RoundTripTest, SdfListsStatesInputsAndContactsAsLost) {
  Description robot = with_everything();
  std::erase_if(robot.links, [](const auto& l) {  // SDF has no cylindrical joint
    return l.name == "link of cylindrical" || l.name == "link of helical" ||
           l.name == "link of spherical";
  });
  std::erase_if(robot.joints, [](const auto& j) {
    return j.type == "cylindrical" || j.type == "helical" || j.type == "spherical";
  });
  robot.states[0].positions.erase("a spherical");
  robot.states[0].velocities.erase("a cylindrical");
  robot.actuators[0].gear.erase("a helical");
  std::string all;
  for (const std::string& loss : SdfFormat().losses(robot)) all += loss + "; ";
  for (const char* thing : {"'home'", "'both'", "'limited'", "contact"}) {
    EXPECT_NE(all.find(thing), std::string::npos) << thing << " in: " << all;
  }
}

// Sites share their names, joints of two rates become two, and SDF keeps some names for itself.
TEST(RoundTripTest, NamesThatTheFormatsNeedThemselvesAreWrittenAsOthers) {
  Description robot = chain_of(std::vector<std::string>{"universal", "cylindrical", "revolute"});
  robot.joints[0].name = "j", robot.joints[1].name = "j_2", robot.joints[2].name = "j_2_2";
  for (int k : {1, 2}) {
    robot.links[k].frames.push_back({"tip", {{0.1 * k, 0, 0}, {0, 0, 0}}, {}});
  }
  const std::vector<std::string> lost = MjcfFormat().losses(robot);
  const std::string mjcf = MjcfFormat().write(robot);
  EXPECT_TRUE(std::any_of(lost.begin(), lost.end(), [](const std::string& what) {
    return what.find("frame 'tip': is called") != std::string::npos;
  }));
  const Description back = MjcfFormat().read(mjcf, "robot.xml", host().registry());
  ASSERT_EQ(back.joints.size(), robot.joints.size());
  for (std::size_t i = 0; i < robot.joints.size(); ++i) {
    EXPECT_EQ(back.joints[i].name, robot.joints[i].name);
    EXPECT_EQ(back.joints[i].type, robot.joints[i].type);
  }
  expect_the_same(robot, back);

  Description reserved = chain_of(std::vector<std::string>{"revolute", "revolute"});
  reserved.joints[0].name = "world", reserved.joints[1].name = "__model__";
  reserved.links[1].frames.push_back({"world", {{0.1, 0, 0}, {0, 0, 0}}, {}});
  const std::string sdf = SdfFormat().write(reserved);
  const Description again = SdfFormat().read(sdf, "robot.sdf", host().registry());
  EXPECT_NE(sdf.find("<joint name=\"world_joint\" espalier:name=\"world\""), std::string::npos);
  for (int k : {0, 1}) {
    const std::string& name = reserved.joints[k].name;
    const auto found =
        std::find_if(again.joints.begin(), again.joints.end(),
                     [&](const JointDescription& joint) { return joint.name == name; });
    ASSERT_NE(found, again.joints.end()) << name;
    EXPECT_EQ(found->child, reserved.joints[k].child);
    EXPECT_NEAR(found->origin.xyz.x, reserved.joints[k].origin.xyz.x, 1e-12);
  }
  reserved.links[1].name = reserved.joints[0].child = reserved.joints[1].parent = "__x__";
  EXPECT_THROW(SdfFormat().write(reserved), Unsupported);
}

}  // namespace
}  // namespace espalier::test::round_trip_test
