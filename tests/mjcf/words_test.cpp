#include <set>

#include "formats/mjcf/mjcf.hpp"
#include "formats/mjcf/words.hpp"
#include "formats/sdf/sdf.hpp"
#include "formats/sdf/words.hpp"
#include "tests/formats/support.hpp"
#include "tests/support/host.hpp"

// Words of MJCF and SDF that are misspelt, and those that are known.

namespace espalier::test::words_test {
namespace {

/// What a reader says of a text, in lines; each is a warning that --strict refuses.
template <class F>
std::string told(const std::string& text) {
  std::string all;
  for (const Finding& finding : F().read(text, "robot", host().registry()).findings) {
    EXPECT_EQ(finding.severity, Finding::Severity::warning) << finding.text;
    EXPECT_TRUE(finding.negotiable) << finding.text;
    all += finding.text + "\n";
  }
  return all;
}

std::string body(const std::string& content) {
  return "<mujoco><worldbody><body name='a'>" + content +
         "<geom size='1'/></body></worldbody></mujoco>";
}

std::string model(const std::string& content) {
  return "<sdf version='1.9'><model name='m'><link name='a'/><joint name='j' type='revolute'>"
         "<parent>world</parent><child>a</child>" +
         content + "</joint></model></sdf>";
}

TEST(WordsTest, MisspeltWordsOfMjcfAreTold) {
  EXPECT_EQ(told<MjcfFormat>(body("<joint name='j' axis='0 1 0' range='-1 1'/>")), "");
  const std::string joint = told<MjcfFormat>(body("<joint name='j' axs='0 1 0' dampng='3'/>"));
  expect_in(joint, {"joint 'j' (robot:1): attribute 'axs' is unknown, expected 'axis'",
                    "attribute 'dampng' is unknown, expected 'damping'"});
  expect_in(told<MjcfFormat>(body("<jiont name='j'/>")),
            {"body 'a' (robot:1): element <jiont> is unknown, expected <joint>"});
  expect_in(
      told<MjcfFormat>("<mujoco><option gravty='0 0 -1'/><default><joint damping='1' armatur='2'/>"
                       "</default><worldbody><body ps='0 0 1'><geom size='1'/></body></worldbody>"
                       "</mujoco>"),
      {"'gravity'", "expected 'armature'"});
  // What resembles nothing may be of a newer version.
  EXPECT_EQ(told<MjcfFormat>(body("<joint name='j' frobnicate='1'/>")), "");
}

TEST(WordsTest, MisspeltWordsOfSdfAreTold) {
  const std::string axis = "<axis><xyz>0 1 0</xyz><dynamics><damping>2</damping></dynamics></axis>";
  EXPECT_EQ(told<SdfFormat>(model(axis)), "");
  expect_in(told<SdfFormat>(model("<axis><xzy>0 1 0</xzy><dynamics><dampng>2</dampng></dynamics>"
                                  "</axis>")),
            {"axis (robot:1): element <xzy> is unknown, expected <xyz>",
             "element <dampng> is unknown, expected <damping>"});
}

TEST(WordsTest, SdfIsReadInKnownVersionsAndEachElementOnce) {
  const std::string axis =
      "<axis><xyz>0 1 0</xyz><limit><lower>-1</lower>\n<lower>-2</lower></limit></axis>";
  expect_in(told<SdfFormat>(model(axis)),
            {"lower (robot:2): element is given a second time in <limit>, expected it once (robot:1"
             " counts)"});
  std::string text = model("<axis><xyz>0 1 0</xyz></axis>");
  text.replace(text.find("1.9"), 3, "9.9");
  expect_in(told<SdfFormat>(text), {"version is '9.9', expected 1.4 to 1.11"});
  text.erase(text.find(" version"), 14);
  expect_in(told<SdfFormat>(text), {"version is missing, expected 1.4 to 1.11"});
}

TEST(WordsTest, JointsOfAStaticModelAreRefusedUnlessLenient) {
  std::string text = model("<axis><xyz>0 1 0</xyz></axis>");
  text.insert(text.find("<link"), "<static>true</static>");
  const auto found = SdfFormat().read(text, "robot", host().registry()).findings;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].severity, Finding::Severity::error);
  expect_in(found[0].text, {"joint of a <static> model", "--lenient"});
}

TEST(WordsTest, NegativeMassesOfGeomsAreRefused) {
  for (const char* what : {"mass", "density"}) {
    const std::string text = body("<geom size='1' " + std::string(what) + "='-2'/>");
    expect_in(message_of([&] { MjcfFormat().read(text, "robot.xml", host().registry()); }),
              {std::string(what) + " is -2, expected a number that is not negative"});
  }
}

/// No word of a format may pass for a misspelling of another one that stands beside it.
void expect_known(const formats::Grammar& grammar) {
  for (const auto& [element, content] : grammar) {
    for (const formats::Words* words : {&content.children, &content.attributes}) {
      const std::set<std::string_view> once(words->begin(), words->end());
      EXPECT_EQ(once.size(), words->size()) << element;
      for (const std::string_view word : *words) EXPECT_FALSE(formats::meant(word, *words));
    }
  }
}

TEST(WordsTest, EachWordIsListedOnce) {
  expect_known(mjcf::grammar());
  expect_known(sdf::grammar());
}

TEST(WordsTest, NearWordsAreMeantAndOthersNot) {
  const formats::Words known = formats::words_of("xyz rpy axis damping  frictionloss ");
  EXPECT_EQ(known.size(), 5u);
  const auto meant = [&](const char* name) { return formats::meant(name, known); };
  EXPECT_EQ(meant("xzy"), "xyz");
  EXPECT_EQ(meant("ax"), std::nullopt);
  EXPECT_EQ(meant("Axis"), "axis");
  EXPECT_EQ(meant("dmpaing"), "damping");
  EXPECT_EQ(meant("fritcionlos"), "frictionloss");
  EXPECT_EQ(meant("xyy"), std::nullopt);
  EXPECT_EQ(meant("axis"), std::nullopt);
  EXPECT_EQ(meant("gz:axs"), std::nullopt);
}

}  // namespace
}  // namespace espalier::test::words_test
