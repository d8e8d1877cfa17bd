#include <gtest/gtest.h>

#include "formats/yaml/yaml.hpp"
#include "tests/formats/support.hpp"

namespace espalier::yaml_errors_test {
namespace {

template <class E = InvalidModel>
std::string error(const std::string& text) {
  return test::message_of<E>([&] { YamlFormat().read(text, "robot.yaml"); });
}
/// `text` begins at line 2.
std::string content_error(const std::string& text) { return error("espalier: 1\n" + text); }

TEST(YamlErrorTest, WhatIsNoYamlIsRefusedWithItsLine) {
  test::expect_in(error(""), {"robot.yaml", "empty"});
  test::expect_in(error("just text"), {"robot.yaml:1", "'just text'", "expected a mapping"});
  test::expect_in(error("[1, 2]"), {"robot.yaml:1", "a list"});
  test::expect_in(error("espalier: 1\nlinks: [}\n"), {"robot.yaml:2", "not readable YAML"});
  test::expect_in(error("espalier: 1\nlinks: {a: *unknown}\n"), {"robot.yaml:2"});
  test::expect_in(error("espalier: 1\n---\nespalier: 1\n"), {"robot.yaml", "second document"});
  test::expect_in(error(std::string("espalier: 1\n\0", 13)), {"robot.yaml:2", "zero byte"});
  test::expect_in(content_error("links: {[a, b]: {}}"), {"robot.yaml:2", "a list"});
  test::expect_in(content_error("links: {a: !mine {}}"), {"robot.yaml:2", "'!mine'"});
}

TEST(YamlErrorTest, TheVersionIsRequired) {
  test::expect_in(error("links: {}"), {"robot.yaml:1", "'espalier' is missing", "'espalier: 1'"});
  test::expect_in(error("name: r\nespalier: 2"), {"robot.yaml:2", "expected 1"});
}

TEST(YamlErrorTest, RootIsFixedOrFloating) {
  test::expect_in(content_error("root: loose"),
                  {"robot.yaml:2", "root is 'loose', expected 'fixed' or 'floating'"});
}

TEST(YamlErrorTest, KeysGivenTwiceNameBothLines) {
  test::expect_in(error<DuplicateName>("espalier: 1\nlinks:\n  a: {}\n  b: {}\n  a: {}\n"),
                  {"'a'", "robot.yaml:5", "robot.yaml:3"});
}

TEST(YamlErrorTest, UnknownKeysAreErrorsWithASuggestion) {
  test::expect_in(content_error("links:\n  rod:\n    mas: 1\n"),
                  {"link 'rod' (robot.yaml:4)", "key 'mas' is unknown", "expected one of",
                   "inertia", "did you mean 'mass'?"});
  test::expect_in(content_error("links: {a: {mass: 1,5}}"),
                  {"key '5' is unknown", "1.5 has a point"});
  test::expect_in(content_error("joint: {}"), {"yaml (robot.yaml:2)", "did you mean 'joints'?"});
  test::expect_in(
      content_error("joints: {j: {type: a, parent: b, child: c,\n  limits: {lowr: 1}}}"),
      {"joint 'j' (robot.yaml:3)", "did you mean 'lower'?"});
  test::expect_in(content_error("definitions:\n  d: {link: {}}"),
                  {"definition 'd' (robot.yaml:3)", "did you mean 'links'?"});
}

TEST(YamlErrorTest, MissingKeysAreNamed) {
  test::expect_in(content_error("joints:\n  j: {type: fixed, parent: a}"),
                  {"joint 'j' (robot.yaml:3)", "'child' is missing"});
  test::expect_in(content_error("links:\n  l: {com: [0, 0, 0]}"),
                  {"link 'l'", "'mass' is missing"});
  test::expect_in(content_error("couplings: {c: {predecessor: a, successor: b}}"), {"'ratio'"});
  test::expect_in(content_error("subsystems: {s: {}}"), {"subsystem 's'", "'type'"});
}

TEST(YamlErrorTest, LawsNameTypeAndJoints) {
  test::expect_in(content_error("laws:\n  cam: {joints: [a]}"),
                  {"law 'cam' (robot.yaml:3)", "'type' is missing"});
  test::expect_in(content_error("laws:\n  cam: {type: t}"), {"law 'cam'", "'joints' is missing"});
  test::expect_in(content_error("laws:\n  cam: {type: t, joints: []}"),
                  {"law 'cam' (robot.yaml:3)", "'joints' is empty"});
  test::expect_in(content_error("laws:\n  cam: {type: t, joints: a}"),
                  {"'joints' is 'a'", "a list"});
  test::expect_in(content_error("laws:\n  cam: {type: t, joints: [[a]]}"), {"law 'cam'", "a name"});
  test::expect_in(content_error("laws:\n  cam: {type: t, joint: [a]}"), {"did you mean 'joints'?"});
  test::expect_in(content_error("law: {}"), {"did you mean 'laws'?"});
}

TEST(YamlErrorTest, ValuesOfTheWrongKindAreShown) {
  test::expect_in(content_error("links:\n  l: {mass: heavy}"),
                  {"link 'l' (robot.yaml:3)", "'mass' is 'heavy'", "finite number"});
  test::expect_in(content_error("links:\n  l: {mass: .inf}"), {"'mass' is '.inf'"});
  test::expect_in(content_error("links:\n  l: {mass: }"), {"'mass' is nothing"});
  test::expect_in(content_error("links:\n  l: {mass: [1]}"), {"'mass' is a list"});
  test::expect_in(content_error("links:\n  l: {mass: 1, com: [1, 2]}"),
                  {"'com' is a list of 2", "3 numbers"});
  test::expect_in(content_error("links:\n  l: {mass: 1, inertia: [1, 2, 3]}"), {"6 numbers"});
  test::expect_in(content_error("links:\n  l: {mass: 1, com: 3}"), {"'com' is '3'"});
  test::expect_in(content_error("links:\n  l: 3"), {"link 'l' (robot.yaml:3)", "mapping"});
  test::expect_in(content_error("links: [a]"), {"'links' is a list", "mapping"});
  test::expect_in(content_error("include: a.yaml"), {"'include' is 'a.yaml'", "a list"});
  test::expect_in(content_error("name: [a]"), {"'name' is a list", "a name"});
  test::expect_in(content_error("joints: {j: {type: a, parent: b, child: c, independent: no}}"),
                  {"joint 'j'", "'independent' is 'no'", "true or false"});
  test::expect_in(content_error("joints: {j: {type: a, parent: b, child: c, parameters: {p: []}}}"),
                  {"joint 'j'", "parameter 'p'", "empty list"});
  test::expect_in(content_error("links: {\"a\\nb\": {}}"), {"robot.yaml:2", "control characters"});
}

TEST(YamlErrorTest, UnknownParametersListTheKnownOnes) {
  test::expect_in(
      content_error("parameters: {side: 1, length: 2}\nlinks: {l: {mass: $(sied * 2)}}"),
      {"link 'l' (robot.yaml:3)", "'sied' is unknown", "side", "length", "did you mean 'side'?"});
  test::expect_in(content_error("links: {l: {mass: $(x)}}"), {"'x'", "there are no parameters"});
  test::expect_in(content_error("parameters: {side: 1}\nlinks: {l: {mass: $(-pie / 2)}}"),
                  {"'pie' is unknown", "one of side, pi", "did you mean 'pi'?"});
  test::expect_in(content_error("parameters: {a: $(b), b: 1}"), {"robot (robot.yaml:2)", "'b'"});
}

TEST(YamlErrorTest, ParametersThatATypeListsNotAreToldWhereToStand) {
  test::expect_in(content_error("definitions: {leg: {links: {l: {mass: 1}}}}\n"
                                "subsystems: {a: {type: leg, parameters: {r: 1}}}"),
                  {"robot.yaml:3", "parameter 'r' is unknown", "list it under 'parameters'"});
}

TEST(YamlErrorTest, TabsAreNamedWithTheirLine) {
  test::expect_in(content_error("links:\n\tl: {mass: 1}\n"),
                  {"robot.yaml:3", "is indented with a tab", "expected spaces"});
}

TEST(YamlErrorTest, BadExpressionsAreRefused) {
  for (const char* bad : {"$(1 +)", "$()", "$((1)", "$(1, 2)", "$(1/0)", "$(sqrt(-1))", "$(a = 1)",
                          "2 * $(1)", "$(1) m", "$(\"text\")", "$(sin())", "$(1 ? 2)", "$(_pi)"}) {
    test::expect_in(
        content_error("parameters: {a: 1}\nlinks:\n  l:\n    mass: '" + std::string(bad) + "'"),
        {"link 'l' (robot.yaml:5)", "expected"});
  }
  test::expect_in(content_error("parameters: {sin: 1}"), {"'sin'", "robot.yaml:2"});
  test::expect_in(content_error("parameters: {pi: 3}"), {"'pi'"});
  test::expect_in(content_error("parameters: {a b: 3}"), {"'a b'"});
  test::expect_in(content_error("parameters: {side: }"), {"'side' is missing"});
}

/// A robot with a leg that has an input `base`, an output `foot` and a parameter `side`.
std::string legs(const std::string& uses) {
  return content_error(R"(links: {torso: {}}
definitions:
  leg:
    parameters: {side: }
    ports: {inputs: [base], outputs: {foot: shank, tip: {link: shank, xyz: [1, 0, 0]}}}
    links: {shank: {}}
    joints: {hip: {type: fixed, parent: base, child: shank}}
)" + uses);  // begins at line 9
}

TEST(YamlSubsystemErrorTest, UnknownNamesListTheKnownOnes) {
  test::expect_in(legs("subsystems:\n  l: {type: log}"),
                  {"subsystem 'l' (robot.yaml:10)", "type 'log'", "did you mean 'leg'?"});
  test::expect_in(legs("subsystems:\n  l: {type: leg, parameters: {sied: 1}}"),
                  {"subsystem 'l' (robot.yaml:10)", "parameter"});
  test::expect_in(legs("subsystems:\n  l: {type: leg, parameters: {side: 1, size: 1}}"),
                  {"subsystem 'l' (robot.yaml:10)", "parameter 'size' is unknown", "side"});
  test::expect_in(
      legs("subsystems:\n  l: {type: leg, parameters: {side: 1}, connect: {bas: torso}}"),
      {"subsystem 'l' (robot.yaml:10)", "port 'bas'", "did you mean 'base'?"});
  test::expect_in(
      legs("subsystems:\n  l: {type: leg, parameters: {side: 1}, connect: {base: trso}}"),
      {"subsystem 'l' (robot.yaml:10)", "'trso'", "did you mean 'torso'?"});
  test::expect_in(legs("subsystems:\n"
                       "  l: {type: leg, parameters: {side: 1}, connect: {base: torso}}\n"
                       "  r: {type: leg, parameters: {side: 1}, connect: {base: l.fot}}"),
                  {"subsystem 'r' (robot.yaml:11)", "'fot'", "foot"});
  test::expect_in(legs("joints: {j: {type: fixed, parent: l.fot, child: torso}}\nsubsystems:\n"
                       "  l: {type: leg, parameters: {side: 1}, connect: {base: torso}}\n"),
                  {"joint 'j' (robot.yaml:9)", "'fot'", "did you mean 'foot'?"});
  test::expect_in(content_error("definitions: {d: {links: {a: {}}, joints: {j: {type: fixed, "
                                "parent: b, child: a}}}}\nsubsystems: {s: {type: d}}"),
                  {"joint 's.j' (robot.yaml:2)", "'b' is unknown", "a"});
}

TEST(YamlSubsystemErrorTest, ParametersWithoutValueHaveToBeGiven) {
  test::expect_in(legs("subsystems:\n  l: {type: leg, connect: {base: torso}}"),
                  {"subsystem 'l' (robot.yaml:10)", "'side' is missing"});
}

TEST(YamlSubsystemErrorTest, EveryInputIsConnectedOnce) {
  test::expect_in(legs("subsystems:\n  l: {type: leg, parameters: {side: 1}}"),
                  {"subsystem 'l' (robot.yaml:10)", "'base' is not connected"});
  test::expect_in(legs("subsystems:\n  l: {type: leg, parameters: {side: 1}, "
                       "connect: {base: torso}, close: {base: torso}}"),
                  {"'base' is connected twice"});
}

TEST(YamlSubsystemErrorTest, UnitsFormATree) {
  test::expect_in(legs("subsystems:\n"
                       "  l: {type: leg, parameters: {side: 1}, connect: {base: r.foot}}\n"
                       "  r: {type: leg, parameters: {side: 1}, connect: {base: l.foot}}"),
                  {"robot (robot.yaml:9)", "circle"});
  test::expect_in(legs("subsystems:\n"
                       "  l: {type: leg, parameters: {side: 1}, connect: {base: l.foot}}"),
                  {"subsystem 'l' (robot.yaml:10)", "two different units"});
  test::expect_in(legs("  free: {links: {a: {}}}\nsubsystems:\n"
                       "  l: {type: leg, parameters: {side: 1}, connect: {base: torso}}\n"
                       "  f: {type: free}"),
                  {"robot (robot.yaml:10)", "one root", "'f'"});
  test::expect_in(legs("  rod: {ports: {inputs: [a, b]}, links: {bar: {}}}\nsubsystems:\n"
                       "  l: {type: leg, parameters: {side: 1}, connect: {base: torso}}\n"
                       "  x: {type: rod, connect: {a: torso, b: l.foot}}"),
                  {"robot (robot.yaml:10)", "'x'", "closure"});
}

TEST(YamlSubsystemErrorTest, PortsHaveProperNames) {
  test::expect_in(content_error("definitions: {d: {ports: {inputs: [a.b]}}}\n"
                                "subsystems: {s: {type: d, connect: {}}}"),
                  {"subsystem 's'", "'a.b'", "without dots"});
  test::expect_in(content_error("definitions: {d: {ports: {inputs: [a, a]}}}\n"
                                "subsystems: {s: {type: d}}"),
                  {"'a'", "no other port"});
  test::expect_in(content_error("definitions: {d: {ports: {inputs: [a], outputs: {a: b}}, "
                                "links: {b: {}}}}\nsubsystems: {s: {type: d}}"),
                  {"output port is 'a'"});
  test::expect_in(content_error("definitions: {d: {links: {b: {}}}}\n"
                                "subsystems: {this: {type: d}}"),
                  {"'this'"});
  test::expect_in(content_error("definitions: {d: {ports: {outputs: {o: nowhere}}, "
                                "links: {b: {}}}}\nsubsystems: {s: {type: d}}"),
                  {"'nowhere' is unknown", "b"});
}

TEST(YamlSubsystemErrorTest, AChildIsALinkNotAFrame) {
  test::expect_in(legs("joints: {j: {type: fixed, parent: torso, child: l.tip}}\nsubsystems:\n"
                       "  l: {type: leg, parameters: {side: 1}, connect: {base: torso}}"),
                  {"joint 'j' (robot.yaml:9)", "'child' is the port 'l.tip'"});
  test::expect_in(content_error("links: {g: {}}\ndefinitions:\n"
                                "  d: {ports: {inputs: [i]}, links: {b: {}},\n"
                                "    joints: {j: {type: fixed, parent: b, child: i}}}\n"
                                "subsystems: {s: {type: d, connect: {i: g}}}"),
                  {"joint 's.j' (robot.yaml:5)", "'child' is the port 'i'"});
}

TEST(YamlSubsystemErrorTest, TypesThatContainThemselvesAreRefused) {
  test::expect_in(content_error("definitions:\n"
                                "  a: {subsystems: {x: {type: b}}}\n"
                                "  b: {subsystems: {y: {type: a}}}\n"
                                "subsystems: {s: {type: a}}"),
                  {"subsystem 's.x.y' (robot.yaml:4)", "'a' contains itself"});
}

TEST(YamlLimitTest, DeepNestingIsRefused) {
  const std::string brackets(100'000, '[');
  test::expect_in(content_error("links: " + brackets), {"robot.yaml", "expected"});
  std::string indented;
  for (int i = 0; i < 1000; ++i) indented += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  test::expect_in(content_error(indented), {"robot.yaml", "nested deeper"});
}

TEST(YamlLimitTest, AliasesCannotBlowUp) {
  std::string text = "definitions:\n  a: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "  a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int k = 1; k < 10; ++k) text += ", " + last;
    text += "]\n";
  }
  test::expect_in(content_error(text), {"robot.yaml:", "aliases as copies"});
  test::expect_in(content_error("links: &a {b: *a}"), {"robot.yaml:2", "contains it"});
}

TEST(YamlLimitTest, SubsystemsCannotBlowUp) {
  std::string text = "definitions:\n  d0: {links: {a: {}}}\n";
  for (int i = 1; i < 30; ++i) {
    const std::string type = "{type: d" + std::to_string(i - 1) + "}";
    text += "  d" + std::to_string(i) +
            ": {ports: {outputs: {o: a}}, links: {a: {}}, subsystems: {x: " + type + "}}\n";
    text += "  e" + std::to_string(i) + ": {subsystems: {x: " + type + "}}\n";
  }
  // Thirty levels are legal; a hundred are not.
  EXPECT_EQ(
      YamlFormat().read("espalier: 1\n" + text + "subsystems: {s: {type: d29}}", "r").links.size(),
      30u);
  for (int i = 30; i < 100; ++i) {
    text +=
        "  d" + std::to_string(i) + ": {subsystems: {x: {type: d" + std::to_string(i - 1) + "}}}\n";
  }
  test::expect_in(content_error(text + "subsystems: {s: {type: d99}}"), {"inside each other"});
}

TEST(YamlLimitTest, FilesAreNotTooLarge) {
  test::expect_in(error(std::string(20u << 20, ' ')), {"robot.yaml", "bytes"});
}

}  // namespace
}  // namespace espalier::yaml_errors_test
