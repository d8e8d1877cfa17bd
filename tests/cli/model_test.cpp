#include <algorithm>

#include "tests/cli/run.hpp"

/// Commands that look at a model: info, check, graph, convert, list.

namespace espalier::test::model_test {
namespace {

const std::string pendulum = data("pendulum.urdf");
const std::string gripper = data("gripper.urdf");

Json json_of(const std::string& arguments) {
  const Answer a = run(arguments + " --json");
  EXPECT_EQ(a.code, 0) << arguments << "\n" << a.err;
  return a.json();
}

TEST(InfoTest, SaysWhatTheModelIsMadeOf) {
  const Json out = json_of("info " + pendulum);
  EXPECT_EQ(out["model"], "pendulum");
  EXPECT_EQ(out["dof"], 1);
  EXPECT_EQ(out["mass"], 2.0);
  EXPECT_EQ(out["tree"], true);
  ASSERT_EQ(out["bodies"].size(), 1u);
  EXPECT_EQ(out["bodies"][0]["name"], "bob");
  EXPECT_EQ(out["bodies"][0]["parent"], "base");
  EXPECT_EQ(out["bodies"][0]["links"], Json::parse(R"(["bob", "tip"])"));
  EXPECT_EQ(out["ground"]["links"], Json::parse(R"(["base"])"));
  ASSERT_EQ(out["joints"].size(), 1u);
  const Json& joint = out["joints"][0];
  EXPECT_EQ(joint["name"], "swing");
  EXPECT_EQ(joint["type"], "revolute");
  EXPECT_EQ(joint["damping"], 0.2);
  EXPECT_EQ(joint["friction"], 0.05);
  EXPECT_EQ(joint["limits"],
            Json::parse(R"({"lower": -1.5, "upper": 1.5, "velocity": 3.0, "effort": 20.0})"));
  EXPECT_EQ(out["coordinates"], Json::parse(R"([{"joint": "swing", "start": 0, "size": 1}])"));
}

TEST(InfoTest, FloatingRootAddsSixDegreesOfFreedom) {
  const Json out = json_of("info " + gripper + " --root floating --mimic ignore");
  EXPECT_EQ(out["dof"], 8);
  EXPECT_EQ(out["nq"], 9);
  EXPECT_EQ(out["root"], "floating");
  EXPECT_EQ(out["mimic"], "ignore");
}

TEST(InfoTest, RobotsSayWhetherTheyFloatAndTheOptionSaysOtherwise) {
  const std::string tello = "info " ESPALIER_SOURCE_DIR "/robots/tello.yaml";
  EXPECT_EQ(json_of(tello)["dof"], 16);
  EXPECT_EQ(json_of(tello)["root"], "floating");
  EXPECT_EQ(json_of(tello + " --root fixed")["dof"], 10);
  EXPECT_EQ(json_of("info " + pendulum)["root"], "fixed");
}

/// Columns of the widest line: bytes that begin a character.
std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto columns = std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    });
    most = std::max(most, static_cast<std::size_t>(columns));
  }
  return most;
}

TEST(InfoTest, TablesFitAHundredColumnsUnlessAllIsAskedFor) {
  for (const std::string robot : {"tello", "jvrc1_geared", "four_bar_leg"}) {
    const std::string words = "info " ESPALIER_SOURCE_DIR "/robots/" + robot + ".yaml";
    EXPECT_LE(widest(run(words).out), 100u) << robot;
    EXPECT_GT(widest(run(words + " --wide").out), 100u) << robot;
  }
  EXPECT_LE(widest(run("list").out), 100u);
  EXPECT_GT(widest(run("list --wide").out), 300u);
  EXPECT_LE(widest(run("list algorithms --model " ESPALIER_SOURCE_DIR "/robots/tello.yaml").out),
            100u);
}

/// Whether each of the words stands whole in one line of a text.
void expect_whole(const std::string& text, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    EXPECT_NE(text.find(name), std::string::npos) << "no '" << name << "' in:\n" << text;
  }
}

TEST(InfoTest, NamesAreNeverBroken) {
  for (const std::string robot :
       {"tello.yaml", "jvrc1_geared.yaml", "mini_cheetah_geared.yaml", "panda.urdf"}) {
    const std::string words = "info " ESPALIER_SOURCE_DIR "/robots/" + robot;
    const Json out = json_of(words);
    const std::string text = run(words).out;
    for (const Json& joint : out["joints"]) expect_whole(text, {joint["name"], joint["parent"]});
    for (const Json& cluster : out["clusters"]) {
      if (cluster["constrained"] == false) continue;
      expect_whole(text, cluster["constraints"]);
      expect_whole(text, cluster["bodies"]);
      expect_whole(text, cluster["output_bodies"]);
    }
  }
}

TEST(InfoTest, ClustersOfOneKindStandBelowWhatTheyAre) {
  const std::string out = run("info " ESPALIER_SOURCE_DIR "/robots/mini_cheetah_geared.yaml").out;
  EXPECT_NE(out.find("\n12 clusters, each: gear (one constant ratio"), std::string::npos) << out;
  EXPECT_EQ(out.find("one constant ratio"), out.rfind("one constant ratio")) << "said once";
  expect_whole(out, {"\n  hind_left.knee.link+hind_left.knee.rotor\n",
                     "\n    tied by hind_left.knee.link:rotor\n",
                     "\n    on hind_left.hip.link; independent: hind_left.knee.link\n"});
  const std::string gear = run("info " + gripper).out;
  EXPECT_NE(gear.find("\n1 cluster: gear"), std::string::npos) << gear;
}

TEST(InfoTest, UrdfNamedXmlIsToldFromMjcf) {
  const TemporaryFile file(".xml", "<robot name='r'><link name='a'/></robot>");
  expect_refused("info '" + file.path() + "'", 1, {"expected <mujoco>", "name the file .urdf"});
}

TEST(EvalTest, MatricesAreCutIntoBlocksOfAHundredColumns) {
  const std::string tello = ESPALIER_SOURCE_DIR "/robots/tello.yaml";
  const std::string out = run("eval '" + tello + "' --random 1 --algorithm c-crba").out;
  EXPECT_LE(widest(out), 100u) << out;
  // Rows are named in each block.
  std::size_t rows = 0;
  for (std::size_t at = 0; (at = out.find("\nroot[0]", at)) != std::string::npos; ++at) ++rows;
  EXPECT_GE(rows, 3u) << out;
}

TEST(InfoTest, XacroIsRecognisedByItsName) {
  const TemporaryFile file(".urdf.xacro", "<robot/>");
  expect_refused("info '" + file.path() + "'", 1, {"is xacro", "run xacro first"});
}

TEST(InfoTest, ClustersNameWhatTiesThem) {
  const Json out = json_of("info " + gripper);
  EXPECT_EQ(out["tree"], false);
  const auto tied = std::find_if(out["clusters"].begin(), out["clusters"].end(),
                                 [](const Json& c) { return c["constrained"] == true; });
  ASSERT_NE(tied, out["clusters"].end());
  EXPECT_EQ((*tied)["bodies"].size(), 2u);
  EXPECT_EQ((*tied)["independent"], Json::parse(R"(["left_slide"])"));
  EXPECT_EQ((*tied)["output_bodies"], Json::parse(R"(["palm"])"));
  EXPECT_EQ((*tied)["implicit"], false);
  EXPECT_FALSE((*tied)["constraints"].empty());
  const Answer text = run("info " + gripper);
  EXPECT_NE(text.out.find("dependent"), std::string::npos) << text.out;
}

TEST(CheckTest, GoodModelsAreUsable) {
  const Answer a = run("check " + gripper);
  EXPECT_EQ(a.code, 0) << a.out;
  EXPECT_NE(a.out.find("gripper: usable, 0 errors"), std::string::npos) << a.out;
  const Json out = json_of("check " + gripper);
  EXPECT_EQ(out["usable"], true);
  EXPECT_EQ(out["errors"], 0);
}

TEST(CheckTest, MasslessLeafIsNamedWithItsLineAndIsExitCodeOne) {
  const Answer text = run("check " + data("massless_leaf.urdf"));
  EXPECT_EQ(text.code, 1);
  for (const char* word : {"error: ", "ghost", "massless_leaf.urdf:5", "not usable", "1 error"}) {
    EXPECT_NE(text.out.find(word), std::string::npos) << word << "\n" << text.out;
  }
  const Answer a = run("check " + data("massless_leaf.urdf") + " --json");
  EXPECT_EQ(a.code, 1);
  const Json out = a.json();
  EXPECT_EQ(out["usable"], false);
  EXPECT_EQ(out["findings"][0]["severity"], "error");
  EXPECT_NE(out["findings"][0]["where"].get<std::string>().find(":"), std::string::npos);
}

TEST(CheckTest, WhatOtherCommandsComputeIsDoubtful) {
  const Answer a = run("check '" ESPALIER_SOURCE_DIR "/robots/mini_cheetah.urdf'");
  EXPECT_EQ(a.code, 1);
  EXPECT_NE(a.out.find("doubtful (other commands compute it as written), 1 error"),
            std::string::npos)
      << a.out;
}

/// What `check` says of a robot with one joint, of which these are the type and what else it has.
Answer check_knee(const std::string& type, const std::string& rest) {
  const TemporaryFile file(".urdf", R"(<robot name="r"><link name="a"/><link name="b"><inertial>
<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="knee" type=")" + type + R"("><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>
)" + rest + "</joint></robot>");
  return run("check '" + file.path() + "'");
}

TEST(CheckTest, AnglesInDegreesAreDoubted) {
  const Answer a = check_knee("continuous", R"(<origin rpy="0 0 180"/>)");
  EXPECT_EQ(a.code, 0) << a.out;
  EXPECT_NE(a.out.find("joint 'knee': its rpy is 0 0 180 rad, expected less than two turns (are "
                       "these degrees?)"),
            std::string::npos)
      << a.out;
}

TEST(CheckTest, LimitsWithoutTheNeutralPositionAndInDegreesAreWarnings) {
  const Answer a =
      check_knee("revolute", R"(<limit lower="-140" upper="-6" effort="1" velocity="1"/>)");
  EXPECT_EQ(a.code, 0) << a.out;
  for (const char* word : {"joint 'knee': its neutral position is 0, expected one within", "-140",
                           "are these degrees?", "2 warnings"}) {
    EXPECT_NE(a.out.find(word), std::string::npos) << word << "\n" << a.out;
  }
}

TEST(CheckTest, MassesOnAxesThatStandStillAreDoubted) {
  const auto check = [](const std::string& com) {
    const TemporaryFile file(".yaml", R"(espalier: 1
name: bars
links: {base: {}}
subsystems:
  leg:
    type: four_bar
    connect: {base: base}
    parameters: {crank: 0.1, coupler: 0.4, rocker: 0.25, pivot: [0.4, 0], angle: 0.7,
                 crank_mass: 200, )" + com +
                                          R"(rocker_mass: 1, rocker_com: [0.1, 0, 0],
                 coupler_mass: 1, coupler_com: [0.2, 0, 0]}
)");
    return run("check '" + file.path() + "'").out;
  };
  const std::string told = check("");
  for (const char* word : {"link 'leg.crank'", "'leg.crank' is 0 kg·m²", "200 kg", "1 warning"}) {
    EXPECT_NE(told.find(word), std::string::npos) << word << "\n" << told;
  }
  EXPECT_NE(check("crank_com: [0.05, 0, 0], ").find("0 warnings"), std::string::npos);
}

TEST(CheckTest, LoopsThatWeldAreDoubted) {
  // Five joints about y: two freedoms with a pin about y, one with a pin about another axis.
  const auto check = [](const std::string& axis) {
    const TemporaryFile file(".yaml", R"(espalier: 1
name: five_bar
links:
  base: {}
  left: {mass: 1, com: [0, 0, -0.2], inertia: [0.02, 0.02, 0.001, 0, 0, 0]}
  coupler: {mass: 0.5, com: [0.15, 0, 0], inertia: [0.001, 0.01, 0.01, 0, 0, 0]}
  right: {mass: 1, com: [0, 0, -0.2], inertia: [0.02, 0.02, 0.001, 0, 0, 0]}
  link: {mass: 0.5, com: [-0.1, 0, 0], inertia: [0.001, 0.01, 0.01, 0, 0, 0]}
joints:
  a: {type: revolute, parent: base, child: left, axis: [0, 1, 0]}
  b: {type: revolute, parent: left, child: coupler, axis: [0, 1, 0], xyz: [0, 0, -0.4]}
  c: {type: revolute, parent: base, child: right, axis: [0, 1, 0], xyz: [0.5, 0, 0]}
  d: {type: revolute, parent: right, child: link, axis: [0, 1, 0], xyz: [0, 0, -0.4]}
loops:
  pin: {type: revolute, )" + axis +
                                          R"(predecessor: {link: coupler, xyz: [0.3, 0, 0]},
        successor: {link: link, xyz: [-0.2, 0, 0]}}
)");
    return run("check '" + file.path() + "'").out;
  };
  const std::string told = check("");
  for (const char* word : {"loop 'pin'", "'link' on link 'coupler' is none", "1 warning"}) {
    EXPECT_NE(told.find(word), std::string::npos) << word << "\n" << told;
  }
  const std::string right = check("axis: [0, 1, 0], ");
  EXPECT_NE(right.find("0 warnings"), std::string::npos) << right;
}

TEST(CheckTest, TiesThatSayWhatOthersSayAreDoubted) {
  const std::string robot = R"(espalier: 1
name: two
links:
  base: {}
  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}
  b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}
joints:
  j: {type: revolute, parent: base, child: a, axis: [0, 0, 1]}
  k: {type: revolute, parent: base, child: b, axis: [0, 0, 1]}
couplings:
  g: {predecessor: a, successor: b, ratio: 2}
)";
  const TemporaryFile one(".yaml", robot),
      two(".yaml", robot + "  h: {predecessor: a, successor: b, ratio: 2}\n");
  EXPECT_NE(run("check '" + one.path() + "'").out.find("0 warnings"), std::string::npos);
  const std::string told = run("check '" + two.path() + "'").out;
  EXPECT_NE(told.find("'h': number of degrees of freedom that it takes is 0"), std::string::npos)
      << told;
  EXPECT_NE(told.find("1 warning"), std::string::npos) << "one of the two is enough: " << told;
}

TEST(CheckTest, MisspelledElementsMakeAModelUnusable) {
  std::string text = contents(ESPALIER_CLI_DATA "/gripper.urdf");
  text.insert(text.find("</robot>"), "<couplin name='g'/>");
  const TemporaryFile file(".urdf", text);
  const Answer a = run("check '" + file.path() + "'");
  EXPECT_EQ(a.code, 1) << a.out;
  EXPECT_NE(a.out.find("element <couplin> is unknown, expected <coupling>"), std::string::npos)
      << a.out;
  const Answer lax = run("info '" + file.path() + "'");
  EXPECT_EQ(lax.code, 0);
  EXPECT_NE(lax.err.find("<couplin>"), std::string::npos) << lax.err;
}

TEST(CheckTest, FilesThatCannotBeReadAreFindings) {
  const TemporaryFile garbage(".urdf", "<robot name='r'><link name='a'></robot>");
  for (const std::string& path : {garbage.path(), std::string("/no/such/robot.urdf")}) {
    const Answer a = run("check '" + path + "' --json");
    EXPECT_EQ(a.code, 1);
    const Json out = a.json();
    EXPECT_EQ(out["usable"], false);
    EXPECT_EQ(out["errors"], 1);
    EXPECT_NE(out["findings"][0]["text"].get<std::string>().find(path), std::string::npos);
  }
}

TEST(CheckTest, NamedStatesAreJudgedAsEvalDoes) {
  const auto robot = [](const std::string& states) {
    const std::string solid = ": {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}";
    return "espalier: 1\nname: r\nlinks: {base: {}, a" + solid + ", b" + solid + ", c" + solid +
           "}\njoints:\n"
           "  ball: {type: spherical, parent: base, child: a}\n"
           "  lead: {type: revolute, parent: base, child: c}\n"
           "  follow: {type: revolute, parent: base, child: b, mimic: {joint: lead}}\n"
           "states: {s: " +
           states + "}\n";
  };
  for (const auto& [states, words] : std::vector<std::pair<std::string, std::string>>{
           {"{positions: {ball: [0, 0, 1]}}", "q of joint 'ball'"},
           {"{positions: {ball: [0, 0, 0, 0]}}", "off its manifold"},
           {"{velocities: {ball: [1, 2]}}", "v of joint 'ball'"}}) {
    const TemporaryFile file(".yaml", robot(states));
    const Answer check = run("check " + file.path());
    EXPECT_EQ(check.code, 1) << check.out;
    const Answer eval = run("eval " + file.path() + " --state s");
    EXPECT_NE(eval.code, 0);
    EXPECT_NE(eval.err.find(words), std::string::npos) << eval.err;
    const std::string said = eval.err.substr(std::string("espalier: ").size());
    EXPECT_NE(check.out.find(said), std::string::npos) << check.out << said;
  }
  const TemporaryFile off(".yaml", robot("{positions: {lead: 1, follow: 2}}"));
  const Answer doubted = run("check " + off.path());
  EXPECT_EQ(doubted.code, 0) << doubted.out;
  EXPECT_NE(doubted.out.find("warning: "), std::string::npos) << doubted.out;
  const TemporaryFile good(".yaml", robot("{positions: {ball: [0, 0, 0.6, 0.8]}}"));
  EXPECT_NE(run("check " + good.path()).out.find("usable, 0 errors, 0 warnings"),
            std::string::npos);
}

TEST(CheckTest, MissingMeshesAreWarningsThatNameLinkFileAndLine) {
  const TemporaryFile mesh(".stl", "solid nothing\nendsolid nothing\n");
  const std::string name = std::filesystem::path(mesh.path()).filename();
  const TemporaryFile robot(".urdf",
                            "<robot name='r'>\n<link name='base'>\n<visual><geometry>"
                            "<mesh filename='meshes/" +
                                name + "'/></geometry></visual></link></robot>");
  const Json missing = json_of("check " + robot.path());
  EXPECT_EQ(missing["usable"], true);
  ASSERT_EQ(missing["warnings"], 1);
  const std::string text = missing["findings"][0]["text"];
  for (const std::string& part : {std::string("'base'"), robot.path() + ":3", "meshes/" + name}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in: " << text;
  }
  // A folder above the file's own has to be named, or asked for.
  const std::filesystem::path folder = std::filesystem::path(mesh.path()).parent_path();
  const std::filesystem::path meshes = folder / (name + "_folder");
  std::filesystem::create_directories(meshes / "meshes");
  std::filesystem::copy_file(mesh.path(), meshes / "meshes" / name);
  EXPECT_EQ(json_of("check " + robot.path() + " --search " + meshes.string())["warnings"], 0);
  std::filesystem::remove_all(meshes);
}

TEST(CheckTest, IncludedModelsAreLookedForInFoldersThatAreNamed) {
  const std::string models = ESPALIER_SOURCE_DIR "/tests/sdf/models";
  const TemporaryFile world(
      ".sdf",
      "<sdf version='1.9'><model name='m'><link name='a'/><include>"
      "<uri>model://camera</uri></include><joint name='j' type='fixed'>"
      "<parent>a</parent><child>camera::housing</child></joint></model></sdf>");
  const std::string info = "info " + world.path() + " --search " + models;
  EXPECT_EQ(json_of(info + " --root fixed")["dof"], 1);
  EXPECT_EQ(json_of(info)["dof"], 7)
      << "nothing holds a model of SDF that no joint ties to the world";
  EXPECT_NE(run("info " + world.path()).err.find("missing"), std::string::npos);
}

TEST(GraphTest, EachKindIsGraphviz) {
  for (const std::string kind : {"connectivity", "tree", "clusters", "subsystems"}) {
    const Answer a = run("graph " + gripper + " --kind " + kind);
    EXPECT_EQ(a.code, 0) << a.err;
    EXPECT_NE(a.out.find("graph "), std::string::npos) << a.out;
    EXPECT_EQ(a.out.find_last_of('}') + 2, a.out.size());
    const Json out = json_of("graph " + gripper + " --kind " + kind);
    EXPECT_EQ(out["kind"], kind);
  }
  EXPECT_NE(run("graph " + gripper).out.find("left_slide"), std::string::npos);
}

TEST(GraphTest, EachKindIsNodesAndEdgesInJson) {
  for (const std::string kind : {"connectivity", "tree", "clusters", "subsystems"}) {
    const Json out = Json::parse(run("graph " + gripper + " --format json --kind " + kind).out);
    EXPECT_GE(out["nodes"].size(), 1u) << kind;
    EXPECT_GE(out["edges"].size() + 1, out["nodes"].size()) << kind;
  }
  expect_refused("graph " + gripper + " --format gif", 2, {"gif"});
}

TEST(GraphTest, WritesAFileInsteadOfStandardOutput) {
  const TemporaryFile file(".dot");
  const Answer a = run("graph " + gripper + " -o '" + file.path() + "'");
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(a.out, "");
  EXPECT_EQ(contents(file.path()), run("graph " + gripper).out);
  expect_refused("graph " + gripper + " -o /no/such/folder/x.dot", 1, {"/no/such/folder/x.dot"});
}

TEST(ConvertTest, RobotsComeBackTheSame) {
  for (const std::string robot : {"pendulum.urdf", "gripper.urdf"}) {
    const TemporaryFile yaml(".yaml"), urdf(".urdf");
    ASSERT_EQ(run("convert " + data(robot) + " -o '" + yaml.path() + "'").code, 0);
    ASSERT_EQ(run("convert '" + yaml.path() + "' -o '" + urdf.path() + "'").code, 0);
    const std::string eval = " --algorithm dense --random 3 --json";
    const Json original = run("eval " + data(robot) + eval).json();
    for (const std::string& path : {yaml.path(), urdf.path()}) {
      const Answer again = run("eval '" + path + "'" + eval);
      ASSERT_EQ(again.code, 0) << again.err;
      // Frames go through roll, pitch and yaw: the last digit may change.
      const double a = original["vdot"].front(), b = again.json()["vdot"].front();
      EXPECT_NEAR(a, b, 1e-12 * std::max(1.0, std::abs(a)));
    }
  }
}

TEST(ConvertTest, UnknownEndingsAreRefused) {
  expect_refused("convert " + gripper + " -o /tmp/x.robot", 2, {".robot", ".urdf", ".yaml"});
  expect_refused("convert " + gripper, 2, {"--output"});
}

TEST(ListTest, EverySectionIsThere) {
  const Json out = json_of("list");
  for (const char* key :
       {"joints", "loop_joints", "sub_mechanisms", "laws", "formats", "algorithms", "integrators",
        "qp_solvers", "problems", "plugins", "search_path"}) {
    EXPECT_TRUE(out.contains(key)) << key;
  }
  EXPECT_EQ(run("list").code, 0);
}

TEST(ListTest, SubMechanismsLawsAndLoopJointsExplainThemselves) {
  const auto entry = [](const std::string& section, const std::string& key, const char* name) {
    const Json out = json_of("list " + section);
    const auto found = std::find_if(out[key].begin(), out[key].end(),
                                    [&](const Json& e) { return e["name"] == name; });
    return found == out[key].end() ? Json() : *found;
  };
  const Json four_bar = entry("sub-mechanisms", "sub_mechanisms", "four_bar");
  EXPECT_EQ(four_bar["inputs"], Json::parse(R"(["base"])"));
  EXPECT_EQ(four_bar["outputs"], Json::parse(R"(["crank", "coupler", "rocker"])"));
  EXPECT_EQ(four_bar["parameters"][0], "crank");
  EXPECT_GT(four_bar["sample"]["crank"], 0.0);
  const Json law = entry("laws", "laws", "four_bar");
  EXPECT_EQ(law["positions"], 3);
  EXPECT_EQ(law["equations"], 2);
  EXPECT_EQ(law["explicit"], false);
  EXPECT_EQ(law["branches"], 2);
  EXPECT_FALSE(law["sample"].contains("crank_mass"));  // laws have no bodies
  EXPECT_EQ(entry("loop-joints", "loop_joints", "rod")["parameters"], Json::parse(R"(["length"])"));
  EXPECT_NE(run("list sub-mechanisms").out.find("crank_mass|com|inertia"), std::string::npos);
}

TEST(ListTest, AlgorithmsExplainThemselves) {
  const Json out = json_of("list algorithms");
  EXPECT_EQ(out.size(), 1u);
  const auto aba = std::find_if(out["algorithms"].begin(), out["algorithms"].end(),
                                [](const Json& a) { return a["name"] == "aba"; });
  ASSERT_NE(aba, out["algorithms"].end());
  EXPECT_EQ((*aba)["problem"], "forward-dynamics");
  EXPECT_EQ((*aba)["cost"], "O(n)");
  EXPECT_EQ((*aba)["capabilities"]["exact"], true);
  EXPECT_EQ((*aba)["capabilities"]["couplings"], false);
  EXPECT_EQ((*aba)["scalars"], Json::parse(R"(["double", "pack", "count", "float-pack"])"));
  EXPECT_NE((*aba)["plugin"].get<std::string>().find(".so"), std::string::npos);
  EXPECT_FALSE(aba->contains("can"));
}

TEST(ListTest, SaysWhatStandsInTheWayOnAModel) {
  const Json out = json_of("list algorithms --problem forward-dynamics --model " + gripper);
  for (const Json& a : out["algorithms"]) {
    EXPECT_EQ(a["problem"], "forward-dynamics");
    EXPECT_EQ(a["can"] == true, a["obstacle"] == "");
    if (a["name"] == "dense") {
      EXPECT_EQ(a["can"], true);
    }
    if (a["name"] == "aba") {
      EXPECT_EQ(a["can"], false);
      EXPECT_NE(std::find(a["alternatives"].begin(), a["alternatives"].end(), "dense"),
                a["alternatives"].end());
    }
  }
}

TEST(ListTest, AlgorithmsOfAModelHaveALineEachAndEachObstacleANote) {
  const std::string words = "list algorithms --model " ESPALIER_SOURCE_DIR "/robots/panda.urdf";
  const Json all = json_of(words)["algorithms"];
  const std::string out = run(words).out;
  std::vector<std::string> obstacles;
  std::istringstream lines(out);
  std::string line;
  std::getline(lines, line);
  for (const char* column : {"algorithm", "problem", "on panda"}) {
    EXPECT_NE(line.find(column), std::string::npos) << line;
  }
  for (const Json& a : all) {
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_TRUE(line.starts_with(a["name"].get<std::string>() + " ")) << line;
    EXPECT_NE(line.find(" " + a["problem"].get<std::string>() + " "), std::string::npos) << line;
    std::string end = "  can";
    if (a["can"] == false) {
      const auto known = std::find(obstacles.begin(), obstacles.end(), a["obstacle"]);
      end = "  cannot [" + std::to_string(known - obstacles.begin() + 1) + "]";
      if (known == obstacles.end()) obstacles.push_back(a["obstacle"]);
    }
    EXPECT_TRUE(line.ends_with(end)) << line;
  }
  ASSERT_EQ(obstacles.size(), 1u) << "the fingers' coupling";
  EXPECT_NE(out.find("\n\n[1] cluster 'left_finger+right_finger' is tied by a coupling"),
            std::string::npos)
      << out;
  // Wide: everything in one row.
  expect_whole(run(words + " --wide").out, {obstacles[0], "scalars", "summary", "cost"});
}

TEST(ListTest, PluginsOfThisProjectHaveItsVersion) {
  const std::string told = run("--version").out;
  const std::string version = told.substr(0, told.find('\n'));
  const Json plugins = json_of("list plugins")["plugins"];
  EXPECT_GE(plugins.size(), 10u);
  for (const Json& plugin : plugins) {
    EXPECT_EQ("espalier " + plugin["version"].get<std::string>(), version) << plugin["name"];
  }
  const std::string out = run("list plugins").out;
  EXPECT_TRUE(out.starts_with("plugin")) << out;
  expect_whole(out, {"joints", "forward-dynamics", "\nin /"});
}

TEST(ListTest, JointsFormatsAndPluginsHaveTheirFacts) {
  const Json joints = json_of("list joints")["joints"];
  const auto floating = std::find_if(joints.begin(), joints.end(),
                                     [](const Json& j) { return j["name"] == "floating"; });
  ASSERT_NE(floating, joints.end());
  EXPECT_EQ((*floating)["nq"], 7);
  EXPECT_EQ((*floating)["nv"], 6);
  const Json formats = json_of("list formats")["formats"];
  EXPECT_TRUE(std::any_of(formats.begin(), formats.end(), [](const Json& f) {
    return f["extensions"] == Json::parse(R"([".urdf"])") || f["extensions"][0] == ".urdf";
  }));
  const Json plugins = json_of("list plugins");
  for (const Json& plugin : plugins["plugins"]) {
    EXPECT_TRUE(std::filesystem::exists(plugin["file"].get<std::string>()));
  }
}

TEST(ListTest, MarkdownIsATableWithARowForEachAlgorithm) {
  const Answer a = run("list algorithms --markdown");
  EXPECT_EQ(a.code, 0) << a.err;
  const std::size_t rows = json_of("list algorithms")["algorithms"].size();
  EXPECT_EQ(std::count(a.out.begin(), a.out.end(), '\n'), static_cast<long>(rows) + 2);
  EXPECT_TRUE(a.out.starts_with("| algorithm | problem |")) << a.out;
}

}  // namespace
}  // namespace espalier::test::model_test
