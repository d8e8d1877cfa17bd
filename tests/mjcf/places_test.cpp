#include "espalier/kernel/errors.hpp"
#include "formats/mjcf/mjcf.hpp"
#include "tests/support/host.hpp"

// What a file may open: nothing outside of its own folder, unless asked.

namespace espalier::test::places_test {
namespace {

const std::string folder = ESPALIER_SOURCE_DIR "/tests/mjcf/models/parts/";

Description read(const std::string& text, const ReadOptions& options = {}) {
  return MjcfFormat().read(text, folder + "robot.xml", host().registry(), options);
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const InvalidModel& error) {
    return error.what();
  }
  return "none";
}

TEST(MjcfPlacesTest, IncludesAboveTheFileAreRefusedUnlessAsked) {
  for (const char* file : {"../01_chain.xml", "sub/../../01_chain.xml", "/etc/passwd"}) {
    const std::string text = std::string("<mujoco><include file='") + file + "'/></mujoco>";
    EXPECT_NE(refusal(text).find("expected one inside the folder"), std::string::npos) << file;
    EXPECT_NE(refusal(text).find("robot.xml:1"), std::string::npos) << refusal(text);
  }
  ReadOptions outside;
  outside.outside = true;
  EXPECT_FALSE(read("<mujoco><include file='../01_chain.xml'/></mujoco>", outside).joints.empty());
  ReadOptions named;
  named.search_paths = {ESPALIER_SOURCE_DIR "/tests/mjcf/models"};
  EXPECT_FALSE(read("<mujoco><include file='01_chain.xml'/></mujoco>", named).joints.empty());
}

TEST(MjcfPlacesTest, MeshesAboveTheFileGiveNoMass) {
  EXPECT_NE(refusal(R"(<mujoco><compiler meshdir="../../../.."/>
<asset><mesh name="m" file="README.md"/></asset>
<worldbody><body name="b"><joint/><geom type="mesh" mesh="m" density="1000"/></body></worldbody>
</mujoco>)")
                .find("which is missing"),
            std::string::npos);
}

}  // namespace
}  // namespace espalier::test::places_test
