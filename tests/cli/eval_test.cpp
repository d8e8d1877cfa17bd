#include <cmath>

#include "tests/cli/run.hpp"

/// `espalier eval` on robots whose answers are known by hand (see the files in data/).

namespace espalier::test::eval_test {
namespace {

constexpr double exact = 1e-13;  // a dozen roundings of numbers near ten
const std::string pendulum = data("pendulum.urdf");
const std::string gripper = data("gripper.urdf");

Json eval(const std::string& arguments, const std::string& state = "") {
  const Answer a =
      run("eval " + arguments + " --json" + (state.empty() ? "" : " --state -"), state);
  EXPECT_EQ(a.code, 0) << a.err;
  EXPECT_EQ(a.err, "");
  return a.json();
}

TEST(EvalTest, ForwardDynamicsOfAPendulum) {
  const Json out =
      eval(pendulum + " --algorithm aba", R"({"q": {"swing": 0.3}, "tau": {"swing": 2}})");
  EXPECT_EQ(out["model"], "pendulum");
  EXPECT_EQ(out["algorithm"], "aba");
  EXPECT_EQ(out["problem"], "forward-dynamics");
  EXPECT_EQ(out["problems"], Json::parse(R"(["forward-dynamics"])"));
  EXPECT_EQ(out["gravity"], Json::parse("[0.0, 0.0, -9.81]"));
  EXPECT_EQ(out["coordinates"], Json::parse(R"([{"joint": "swing", "start": 0, "size": 1}])"));
  EXPECT_NEAR(out["vdot"]["swing"].get<double>(), (2 - 9.81 * std::sin(0.3)) / 0.6, exact);
  EXPECT_FALSE(out.contains("state"));
}

TEST(EvalTest, InverseDynamicsOfAPendulum) {
  const Json out = eval(pendulum + " --algorithm rnea --problem inverse-dynamics",
                        R"({"q": {"swing": 0.3}, "v": {"swing": 1}, "vdot": {"swing": [2]}})");
  EXPECT_NEAR(out["tau"]["swing"].get<double>(), 0.6 * 2 + 9.81 * std::sin(0.3), exact);
  EXPECT_FALSE(out.contains("bias"));
}

TEST(EvalTest, AnAlgorithmOfSeveralProblemsSolvesThemAll) {
  const Json out = eval(pendulum + " --algorithm dense", R"({"q": {"swing": 0.3}})");
  EXPECT_EQ(out["problem"], out["problems"][0]);
  for (const char* problem :
       {"forward-dynamics", "inverse-dynamics", "bias-force", "mass-matrix"}) {
    EXPECT_NE(std::find(out["problems"].begin(), out["problems"].end(), problem),
              out["problems"].end())
        << problem;
  }
  EXPECT_NEAR(out["vdot"]["swing"].get<double>(), -9.81 * std::sin(0.3) / 0.6, exact);
  EXPECT_NEAR(out["tau"]["swing"].get<double>(), 9.81 * std::sin(0.3), exact);
  EXPECT_NEAR(out["bias"]["swing"].get<double>(), 9.81 * std::sin(0.3), exact);
  EXPECT_NEAR(out["mass_matrix"][0][0].get<double>(), 0.6, exact);
}

TEST(EvalTest, GravityOfTheStateReplacesTheModels) {
  const Json out =
      eval(pendulum + " --algorithm aba", R"({"q": {"swing": 0.3}, "gravity": [1, 0, 0]})");
  EXPECT_EQ(out["gravity"], Json::parse("[1.0, 0.0, 0.0]"));
  // Pulls the bob along x: the torque about y is z times the force.
  EXPECT_NEAR(out["vdot"]["swing"].get<double>(), -std::cos(0.3) / 0.6, exact);
}

TEST(EvalTest, ExternalWrenchesActInTheLinkFrameMomentFirst) {
  const std::string dynamics = pendulum + " --algorithm aba";
  const Json moment = eval(dynamics, R"({"external_wrenches": {"tip": [0, 3, 0, 0, 0, 0]}})");
  EXPECT_NEAR(moment["vdot"]["swing"].get<double>(), 3 / 0.6, exact);
  const Json force = eval(dynamics, R"({"external_wrenches": {"tip": [0, 0, 0, 3, 0, 0]}})");
  EXPECT_NEAR(force["vdot"]["swing"].get<double>(), -3 / 0.6, exact);
}

TEST(EvalTest, PassiveForcesActOnlyWhenAskedFor) {
  const std::string state = R"({"v": {"swing": 2}, "vdot": {"swing": 1}})";
  const double passive = -0.2 * 2 - 0.05;
  const std::string forward = pendulum + " --algorithm aba",
                    inverse = pendulum + " --algorithm rnea";
  EXPECT_NEAR(eval(forward, state)["vdot"]["swing"].get<double>(), 0, exact);
  EXPECT_NEAR(eval(forward + " --passive", state)["vdot"]["swing"].get<double>(), passive / 0.6,
              exact);
  const Json needed = eval(inverse + " --passive", state);
  EXPECT_NEAR(needed["tau"]["swing"].get<double>(), 0.6 - passive, exact);
  EXPECT_NEAR(needed["bias"]["swing"].get<double>(), -passive, exact);
  // Simulations have them unless told, so tables say that these do not.
  const char* has = "damping, friction and springs of the joints";
  EXPECT_NE(run("eval " + forward).out.find(std::string(", without ") + has), std::string::npos);
  EXPECT_NE(run("eval " + forward + " --passive").out.find(std::string(", with ") + has),
            std::string::npos);
}

TEST(EvalTest, KinematicsGivesEveryLinkByName) {
  const Json out = eval(pendulum + " --algorithm forward-kinematics",
                        R"({"q": {"swing": 0.3}, "v": {"swing": 2}, "vdot": {"swing": 5}})");
  const Json& tip = out["links"]["tip"];
  const std::vector<double> position{-std::sin(0.3), 0, -std::cos(0.3)};
  const std::vector<double> quaternion{0, std::sin(0.15), 0, std::cos(0.15)};
  const std::vector<double> velocity{0, 2, 0, -2, 0, 0};
  // Derivative of the components of the velocity: the link's axes turn with it.
  const std::vector<double> acceleration{0, 5, 0, -5, 0, 0};
  for (int i = 0; i < 3; ++i) EXPECT_NEAR(tip["position"][i].get<double>(), position[i], exact);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(tip["quaternion"][i].get<double>(), quaternion[i], exact);
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(tip["velocity"][i].get<double>(), velocity[i], exact) << i;
    EXPECT_NEAR(tip["acceleration"][i].get<double>(), acceleration[i], exact) << i;
  }
  EXPECT_TRUE(out["links"].contains("base"));
  EXPECT_TRUE(out["links"].contains("bob"));
}

TEST(EvalTest, JacobiansAreRowsByLink) {
  const Json out = eval(pendulum + " --algorithm body-jacobians", R"({"q": {"swing": 0.3}})");
  const std::vector<double> column{0, 1, 0, -1, 0, 0};
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(out["jacobians"]["tip"][i][0].get<double>(), column[i], exact) << i;
  }
}

TEST(EvalTest, EnergiesArePlainNumbers) {
  const Json out =
      eval(pendulum + " --algorithm energy", R"({"q": {"swing": 0.3}, "v": {"swing": 2}})");
  EXPECT_NEAR(out["kinetic_energy"].get<double>(), 0.5 * 0.6 * 4, exact);
  EXPECT_NEAR(out["potential_energy"].get<double>(), -9.81 * std::cos(0.3), exact);
}

TEST(EvalTest, CenterOfMassIsAList) {
  const Json out = eval(pendulum + " --algorithm center-of-mass", R"({"q": {"swing": 0.3}})");
  EXPECT_NEAR(out["center_of_mass"][0].get<double>(), -0.5 * std::sin(0.3), exact);
  EXPECT_NEAR(out["center_of_mass"][2].get<double>(), -0.5 * std::cos(0.3), exact);
}

TEST(EvalTest, FloatingRootHangsOnAJointNamedRoot) {
  const Json out = eval(pendulum + " --algorithm dense --root floating",
                        R"({"q": {"root": [1, 2, 3, 0, 0, 0, 1]}})");
  EXPECT_EQ(out["coordinates"][0]["joint"], "root");
  EXPECT_EQ(out["coordinates"][0]["size"], 6);
  EXPECT_EQ(out["mass_matrix"].size(), 7u);
  const Json& root = out["vdot"]["root"];
  ASSERT_EQ(root.size(), 6u);
  // In free fall: angular part first, then gravity.
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(root[i].get<double>(), i == 5 ? -9.81 : 0.0, 1e-12);
  EXPECT_NEAR(out["vdot"]["swing"].get<double>(), 0.0, 1e-12);
}

TEST(EvalTest, QuaternionsWithThreeDecimalsAreNormalised) {
  const std::string body = gripper + " --root floating --mimic ignore --algorithm aba";
  const Json rough = eval(body, R"({"q": {"root": [0, 0, 0, 0.707, 0, 0, 0.707]}})");
  const Json fine =
      eval(body, R"({"q": {"root": [0, 0, 0, 0.70710678118654757, 0, 0, 0.70710678118654757]}})");
  for (int i = 0; i < 6; ++i) {
    EXPECT_NEAR(rough["vdot"]["root"][i].get<double>(), fine["vdot"]["root"][i].get<double>(),
                1e-12);
  }
}

TEST(EvalTest, QuaternionsOfOtherLengthsAreRefused) {
  for (const std::string q : {"[0, 0, 0, 0, 0, 0, 0]", "[0, 0, 0, 0.5, 0, 0, 0.5]"}) {
    expect_refused("eval " + gripper + " --root floating --mimic ignore --algorithm aba --state -",
                   1, {"joint 'root'", "manifold", "quaternion"}, R"({"q": {"root": )" + q + "}}");
  }
}

TEST(EvalTest, CoupledJointsFollow) {
  // The right finger moves at half the speed: 0.2 + 0.4 / 4.
  const Json out = eval(gripper + " --algorithm dense", R"({"tau": {"left_slide": 0.6}})");
  EXPECT_NEAR(out["vdot"]["left_slide"].get<double>(), 0.6 / 0.3, exact);
  EXPECT_EQ(out["vdot"].size(), 1u);
  EXPECT_EQ(out["mass_matrix"].size(), 1u);
  const Json placed = eval(gripper + " --algorithm forward-kinematics",
                           R"({"q": {"left_slide": 0.06}, "v": {"left_slide": 1}})");
  EXPECT_NEAR(placed["links"]["right"]["position"][0].get<double>(), -(0.5 * 0.06 + 0.02), exact);
  EXPECT_NEAR(placed["links"]["right"]["velocity"][3].get<double>(), -0.5, exact);
}

TEST(EvalTest, MimicIgnoreFreesTheJoint) {
  const Json out = eval(gripper + " --algorithm aba --mimic ignore",
                        R"({"tau": {"left_slide": 0.6, "right_slide": 0.8}})");
  EXPECT_NEAR(out["vdot"]["left_slide"].get<double>(), 3, exact);
  EXPECT_NEAR(out["vdot"]["right_slide"].get<double>(), 2, exact);
}

TEST(EvalTest, GivenDependentPositionsMustFitTheCoupling) {
  const std::string command = "eval " + gripper + " --algorithm dense --state -";
  EXPECT_EQ(run(command, R"({"q": {"left_slide": 0.06, "right_slide": 0.05}})").code, 0);
  expect_refused(command, 1, {"joint 'right_slide'", "0.051", "0.05", "residual", "'left_slide'"},
                 R"({"q": {"left_slide": 0.06, "right_slide": 0.051}})");
}

TEST(EvalTest, RatesOfDependentJointsAreRefused) {
  for (const std::string key : {"v", "tau", "vdot"}) {
    expect_refused("eval " + gripper + " --algorithm dense --state -", 2,
                   {key, "'right_slide'", "'left_slide'"},
                   "{\"" + key + R"(": {"right_slide": 1}})");
  }
}

TEST(EvalTest, ForcesOnDependentJointsAreSentWhereTheyCanGo) {
  expect_refused("eval " + gripper + " --algorithm dense --state -", 2,
                 {"one of the \"inputs\"", "--mimic ignore where it is a mimic"},
                 R"({"tau": {"right_slide": 1}})");
  const Answer loop = run("eval " + data("parallelogram.urdf") + " --algorithm dense --state -",
                          R"({"tau": {"joint3": 1}})");
  EXPECT_EQ(loop.code, 2);
  EXPECT_NE(loop.err.find("set 'independent' of the joint"), std::string::npos) << loop.err;
  EXPECT_EQ(loop.err.find("mimic"), std::string::npos) << loop.err;
}

TEST(EvalTest, PositionsThatContradictAreToldFromThoseThatLackOne) {
  expect_refused("eval " + data("parallelogram.urdf") + " --algorithm dense --state -", 1,
                 {"contradict each other", "leave out 'joint3', which is dependent"},
                 R"({"q": {"joint1": 0.5, "joint3": 0.9}})");
}

TEST(EvalTest, EndEffectorsThatNobodyReadsAreRefused) {
  expect_refused("eval " + pendulum + " --problem jacobian --end-effector tip:3d", 2,
                 {"--end-effector is given", "problem jacobian"});
}

TEST(EvalTest, StatesOfTheRobotsFileAreTakenByName) {
  const TemporaryFile model(".xml", R"(<mujoco model="ball"><worldbody>
<body name="a" pos="0 0 0.3"><freejoint name="f"/><geom size="0.1"/></body></worldbody>
<keyframe><key name="home" qpos="0 0 2 1 0 0 0"/></keyframe></mujoco>)");
  const auto height = [&](const std::string& state) {
    const Answer a = run("eval '" + model.path() + "' --problem center-of-mass --json" + state);
    EXPECT_EQ(a.code, 0) << a.err;
    return a.json()["center_of_mass"][2].get<double>();
  };
  EXPECT_EQ(height(""), 0.3) << "where the file places the body";
  EXPECT_EQ(height(" --state home"), 2.0);
  EXPECT_EQ(height(" --state qpos0"), 0.3);
  expect_refused("eval '" + model.path() + "' --state hom", 2,
                 {"hom: state file is missing", "a state of that name", "did you mean 'home'?"});
}

TEST(EvalTest, NumbersAndWordsOfOptionsAreToldInOneForm) {
  const std::string run_of = "simulate " + pendulum + " --duration 1 --dt ";
  expect_refused(run_of + "0,001", 2, {"simulate: --dt is '0,001', expected a number", "a point"});
  expect_refused(run_of + "1ms", 2, {"simulate: --dt is '1ms', expected a number", "a unit"});
  expect_refused(run_of + "0.1 --root float", 2,
                 {"simulate: --root is 'float'", "did you mean 'floating'?"});
}

TEST(EvalTest, TreeAlgorithmsRefuseCouplingsAndNameOneThatCan) {
  expect_refused("eval " + gripper + " --algorithm aba", 1,
                 {"aba: ", "coupling", "right_slide", "'dense'", "--mimic ignore"});
}

TEST(EvalTest, RandomStateFedBackGivesTheSameAnswer) {
  for (const std::string& robot : {pendulum + " --root floating", gripper}) {
    const Json first = eval(robot + " --algorithm dense --random 7");
    ASSERT_TRUE(first.contains("state"));
    const Json again = eval(robot + " --algorithm dense", first["state"].dump());
    for (const char* key : {"vdot", "tau", "bias", "mass_matrix", "gravity", "coordinates"}) {
      EXPECT_EQ(first[key], again[key]) << key;  // bit for bit: numbers survive the file
    }
    EXPECT_NE(first["vdot"], eval(robot + " --algorithm dense --random 8")["vdot"]);
  }
}

TEST(EvalTest, StateFilesAreReadFromDiskToo) {
  const TemporaryFile state(".json", R"({"tau": {"swing": 0.6}})");
  const Json out = eval(pendulum + " --algorithm aba --state '" + state.path() + "'");
  EXPECT_NEAR(out["vdot"]["swing"].get<double>(), 1, exact);
}

TEST(EvalTest, RobotsWithoutMotionHaveEmptyAnswers) {
  const TemporaryFile block(".urdf", "<robot name='block'><link name='a'/></robot>");
  const Json out = eval("'" + block.path() + "' --algorithm dense");
  EXPECT_EQ(out["coordinates"], Json::array());
  EXPECT_EQ(out["vdot"], Json::object());
  EXPECT_EQ(out["mass_matrix"], Json::array());
}

TEST(EvalTest, TextNamesJointsAndResults) {
  const Answer a = run("eval " + pendulum + " --algorithm dense");
  EXPECT_EQ(a.code, 0) << a.err;
  for (const char* word : {"pendulum", "dense", "swing", "vdot", "tau", "bias", "mass_matrix"}) {
    EXPECT_NE(a.out.find(word), std::string::npos) << word << "\n" << a.out;
  }
}

struct BadState {
  const char* text;
  int code;
  std::vector<std::string> words;
};

TEST(EvalTest, BadStatesAreRefusedByName) {
  const BadState cases[] = {
      {R"({"q": {"swong": 1}})", 2, {"joint 'swong'", "did you mean 'swing'?"}},
      {R"({"q": {"end": 1}})", 2, {"joint 'end'", "does not move"}},
      {R"({"Q": {}})", 2, {"key 'Q'", "did you mean 'q'?"}},
      {R"({"torque": {}})", 2, {"key 'torque'", "tau"}},
      {R"({"q": {"swing": [1, 2]}})", 2, {"q of joint 'swing' is 2, expected 1"}},
      {R"({"q": {"swing": "1"}})", 2, {"q of joint 'swing'", "string", "a number"}},
      {R"({"q": {"swing": null}})", 2, {"q of joint 'swing'", "null"}},
      {R"({"q": {"swing": [true]}})", 2, {"boolean"}},
      {R"({"q": [1]})", 2, {"'q' is of type array", "object"}},
      {R"({"v": {"swing": 1e999}})", 2, {"state on standard input", "overflow", "1e999"}},
      {R"({"v": {"swing": NaN}})", 2, {"standard input:1: number is NaN", "a finite number"}},
      {"{\"v\":\n {\"swing\": -Infinity}}", 2, {"standard input:2: number is -Infinity"}},
      {"{\"v\":\n {\"swing\": 1,5}}", 2, {"standard input:2: parse error", "1.5 has a point"}},
      {"{\"v\":\n {\"swing\": 1e400}}", 2, {"standard input:2: ", "'1e400'", "up to 1.8e308"}},
      {R"({"q": {"root": [0, 0, 1, 0, 0, 0, 1]}})", 2, {"joint 'root'", "add --root floating"}},
      {R"({"v": {"swing": 1})", 2, {"parse error"}},
      {R"({"v": {"swing": 1, "swing": 2}})", 2, {"'swing' is given twice"}},
      {R"([1])", 2, {"state is of type array"}},
      {R"( )", 2, {"parse error"}},
      {R"({"gravity": [0, 0]})", 2, {"gravity is 2, expected 3"}},
      {R"({"gravity": -9.81})", 2, {"gravity is 1, expected 3"}},
      {R"({"external_wrenches": {"top": [0, 0, 0, 0, 0, 0]}})", 2, {"link 'top'", "'tip'"}},
      {R"({"external_wrenches": {"tip": [0, 0, 0]}})", 2, {"link 'tip' is 3, expected 6"}},
  };
  for (const BadState& c : cases) {
    expect_refused("eval " + pendulum + " --algorithm aba --state -", c.code, c.words, c.text);
  }
  expect_refused("eval " + pendulum + " --algorithm aba --state /no/such/state.json", 2,
                 {"/no/such/state.json", "missing"});
  expect_refused("eval " + pendulum + " --algorithm aba --state /tmp", 2, {"/tmp", "unreadable"});
  expect_refused("eval " + pendulum + " --algorithm aba --state ''", 2, {"missing"});
}

TEST(EvalTest, ResultsThatAreNotFiniteAreErrors) {
  expect_refused("eval " + pendulum + " --algorithm aba --state -", 1,
                 {"aba: vdot of swing is", "finite"}, R"({"tau": {"swing": 1.7e308}})");
}

TEST(EvalTest, WithoutAnAlgorithmTheBestThatCanIsTaken) {
  const std::string tello = ESPALIER_SOURCE_DIR "/robots/tello.yaml";
  EXPECT_EQ(run("eval " + pendulum + " --json").json()["algorithm"], "aba");
  EXPECT_EQ(run("eval " + tello + " --json").json()["algorithm"],
            "c-aba");  // its loops are no tree
  EXPECT_EQ(run("eval " + tello + " --problem inverse-dynamics --json").json()["algorithm"],
            "c-rnea");
  EXPECT_EQ(run("eval " + tello + " --problem mass-matrix --json").json()["algorithm"], "c-crba");
  expect_refused("eval " + tello + " --problem mass", 2, {"'mass'", "mass-matrix"});
}

TEST(EvalTest, UnknownAlgorithmsAndProblemsAreRefusedWithASuggestion) {
  expect_refused("eval " + pendulum + " --algorithm abba", 2,
                 {"algorithm 'abba'", "did you mean 'aba'?"});
  expect_refused("eval " + pendulum + " --algorithm aba --problem forward-dynamic", 2,
                 {"'forward-dynamic'", "did you mean 'forward-dynamics'?"});
  expect_refused("eval " + pendulum + " --algorithm aba --problem inverse-dynamics", 2,
                 {"'aba'", "inverse-dynamics", "solves forward-dynamics"});
  expect_refused("eval " + pendulum + " --algorithm aba --random 1 --state x", 2, {"--random"});
}

// The answer is the same without them.
TEST(EvalTest, OptionsThatAProblemHasNoUseForAreTold) {
  const std::string leg = "'" ESPALIER_SOURCE_DIR "/robots/four_bar_leg.yaml' --random 1 ";
  for (const std::string& command : {"eval " + leg + "--problem mass-matrix", "eval " + leg}) {
    const Answer plain = run(command);
    EXPECT_EQ(plain.err, "");
    for (const std::string option :
         {"--group-by-name", "--passive", "--design joints.knee.armature"}) {
      const bool acts = option == "--passive" && !command.ends_with("mass-matrix");
      const Answer a = run(command + " " + option);
      EXPECT_EQ(a.out == plain.out, !acts) << command << option;
      const std::string name = option.substr(0, option.find(' '));
      const std::string problem =
          acts || command.ends_with(" ") ? "forward-dynamics" : "mass-matrix";
      EXPECT_EQ(
          a.err.find("eval: " + name + " is given for problem " + problem) != std::string::npos,
          !acts)
          << a.err;
    }
  }
  // Of several problems one has a use for it.
  EXPECT_EQ(run("eval " + leg + "--algorithm dense --passive").err, "");
  EXPECT_EQ(run("eval " + leg + "--problem design-variation --design joints.knee.armature").err,
            "");
  const std::string compare = "compare " + pendulum + " --samples 1 --design links.bob.mass";
  EXPECT_NE(run(compare).err.find("--design is given for problem forward-dynamics"),
            std::string::npos);
}

TEST(EvalTest, ErrorsComeAsJsonWhereJsonIsWanted) {
  const Answer a = run("eval " + pendulum + " --algorithm abba --json");
  EXPECT_EQ(a.code, 2);
  EXPECT_EQ(a.json()["error"]["type"], "UnknownName");
  EXPECT_EQ("espalier: " + a.json()["error"]["message"].get<std::string>() + "\n", a.err);
  const Answer refused = run("eval " + gripper + " --algorithm aba --json");
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.json()["error"]["type"], "Unsupported");
}

}  // namespace
}  // namespace espalier::test::eval_test
