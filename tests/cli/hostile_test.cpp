#include "tests/cli/run.hpp"

/// Numbers, files and folders that nobody means well with.

namespace espalier::test::hostile_test {
namespace {

const std::string shared_data = ESPALIER_SOURCE_DIR "/tests/data/";

TEST(HostileTest, SeedsAreWholeNumbersOf64Bits) {
  const std::string arm = "eval " + data("pendulum.urdf") + " --algorithm aba --random ";
  for (const char* seed :
       {"18446744073709551616", "99999999999999999999999", "-1", "1.5", "0x10", "nan", "''"}) {
    expect_refused(arm + seed, 2, {"eval: --random is '", "from 0 to 18446744073709551615"});
  }
  EXPECT_EQ(run(arm + "18446744073709551615").code, 0);
  EXPECT_EQ(run(arm + "0").code, 0);
  for (const char* command : {"compare", "bench"}) {
    expect_refused(std::string(command) + " " + data("pendulum.urdf") + " --seed -1", 2,
                   {command + std::string(": --seed is '-1'")});
  }
}

TEST(HostileTest, TolerancesAreFinite) {
  for (const char* tolerance : {"nan", "inf", "-1", "0", "1e999"}) {
    expect_refused("compare " + data("pendulum.urdf") + " --tolerance " + tolerance, 2,
                   {"--tolerance", "expected a finite one above 0"});
  }
}

TEST(HostileTest, DevicesWithoutAnEndAreRefused) {
  const std::string arm = "eval " + data("pendulum.urdf") + " --algorithm aba --state ";
  for (const std::string& words :
       {arm + "/dev/zero", "--version; sh -c \"'" ESPALIER_CLI "' " + arm + "- </dev/zero\""}) {
    const Answer a = run(words);
    EXPECT_EQ(a.code, 2) << a.err;
    EXPECT_NE(a.err.find("expected at most so many (256 MB)"), std::string::npos) << a.err;
  }
}

TEST(HostileTest, TablesMayBeginWithAByteOrderMark) {
  const TemporaryFile table(".csv", "\xef\xbb\xbftime,swing\n0,1\n1,1\n");
  const TemporaryFile controller(".json", R"({"type": "table", "file": ")" + table.path() + "\"}");
  const Answer a = run("simulate " + data("pendulum.urdf") +
                       " --duration 0.01 --dt 0.001 --json --controller " + controller.path());
  EXPECT_EQ(a.code, 0) << a.err;
  const TemporaryFile twice(".csv", "time,swing,swing\n0,1,2\n");
  const TemporaryFile both(".json", R"({"type": "table", "file": ")" + twice.path() + "\"}");
  expect_refused("simulate " + data("pendulum.urdf") + " --duration 0.01 --dt 0.001 --controller " +
                     both.path(),
                 1, {"column 'swing' is given twice"});
  const TemporaryFile wrong(".csv", "time,swing\n0,nan\n");
  const TemporaryFile other(".json", R"({"type": "table", "file": ")" + wrong.path() + "\"}");
  expect_refused("simulate " + data("pendulum.urdf") + " --duration 0.01 --dt 0.001 --controller " +
                     other.path(),
                 2, {":2: cell is 'nan', expected a finite number"});
}

TEST(HostileTest, NamesAreUtf8InEveryFormat) {
  const auto text_of = [](const std::string& format, const std::string& name) -> std::string {
    if (format == ".urdf") return "<robot name='r'><link name='" + name + "'/></robot>";
    if (format == ".sdf") {
      return "<sdf version='1.9'><model name='m'><link name='" + name + "'/></model></sdf>";
    }
    if (format == ".xml") {
      return "<mujoco><worldbody><body name='" + name +
             "'><joint name='j'/><geom size='0.1'/></body></worldbody></mujoco>";
    }
    return "espalier: 1\nname: r\nlinks: {\"" + name +
           "\": {mass: 1, inertia: [1, 1, 1, 0, 0, 0]}}\n";
  };
  for (const std::string format : {".urdf", ".sdf", ".xml", ".yaml"}) {
    const TemporaryFile good(format, text_of(format, "b\xc3\xa9"));
    EXPECT_EQ(run("check " + good.path()).code, 0) << format;
    const TemporaryFile bad(format, text_of(format, "b\xe9"));
    const Answer a = run("check " + bad.path());
    EXPECT_EQ(a.code, 1) << format;
    EXPECT_NE(a.out.find("name 'b\\xe9' is not UTF-8, expected UTF-8"), std::string::npos) << a.out;
    EXPECT_EQ(run("convert " + bad.path() + " -o " + good.path() + ".urdf").code, 1) << format;
  }
}

TEST(HostileTest, NothingIsShownOfAFileThatIsNotOurs) {
  const TemporaryFolder folder;
  folder.write("secret.txt", "root:x:0:0:secret words\nespalier:x:100:100::/\n");
  const Answer a =
      run("info " + folder.write("robot.yaml",
                                 "espalier: 1\nname: r\ninclude: [secret.txt]\nlinks: {a: {}}\n"));
  EXPECT_EQ(a.code, 1);
  EXPECT_NE(a.err.find("is no Espalier YAML, expected one with the key 'espalier: 1'"),
            std::string::npos)
      << a.err;
  for (const char* word : {"root", "secret words", "x:0"}) {
    EXPECT_EQ((a.out + a.err).find(word), std::string::npos) << a.err;
  }
}

TEST(HostileTest, TagsOfYamlAreRefused) {
  expect_refused("info " + shared_data + "tags.yaml", 1,
                 {"holds the tag", "expected values without tags"});
  for (const char* tag : {"!!str", "!!float", "!mine", "!<tag:yaml.org,2002:int>"}) {
    const TemporaryFile file(".yaml",
                             std::string("espalier: 1\nname: ") + tag + " 1\nlinks: {a: {}}\n");
    expect_refused("info " + file.path(), 1, {"holds the tag"});
  }
}

TEST(HostileTest, RatiosOfAnySizeDetermineWhatTheyTie) {
  const Answer a = run("info " + shared_data + "ratio_1e9.urdf --json");
  EXPECT_EQ(a.code, 0) << a.err;
  // The rotor turns 1e9 times as fast: 1 kg m² of each, so that M = 1 + 1e18.
  const Answer c = run("eval " + shared_data + "ratio_1e9.urdf --algorithm c-aba --json --state -",
                       R"({"tau": {"j": 1e18}})");
  ASSERT_EQ(c.code, 0) << c.err;
  EXPECT_NEAR(c.json()["vdot"]["j"].get<double>(), 1.0, 1e-12);  // a few roundings of 1
}

TEST(HostileTest, HugeInertiasAreJudgedOrRefused) {
  const std::string sensors = R"({"sensors": [{"kind": "torque", "joint": "j"}]})";
  const std::string none = R"({"sensors": [{"kind": "contact", "link": "a"}]})";
  for (const std::string& list : {sensors, none}) {
    const Answer a = run("sense " + shared_data + "huge_inertia.urdf --sensors -", list);
    EXPECT_LE(a.code, 1) << a.err;
  }
  for (const char* problem : {"sensor-dynamics", "all"}) {
    const Answer b =
        run("compare " + shared_data + "huge_inertia.yaml --problem " + problem + " --samples 1");
    EXPECT_LE(b.code, 1) << b.err;
  }
}

}  // namespace
}  // namespace espalier::test::hostile_test
