#include "benchmarks/suite/robots.hpp"

#include <tinyxml2.h>

#include <filesystem>

#include "benchmarks/chain.hpp"
#include "benchmarks/suite/generated_robots.hpp"

namespace espalier::bench {

std::string chain_name(int bodies) { return "chain_" + std::to_string(bodies); }

std::vector<Robot> tree_robots(const Host& host, Absent& absent) {
  const std::string ours = ESPALIER_SOURCE_DIR "/robots/",
                    shared = ESPALIER_SOURCE_DIR "/../shared/robots/";
  std::vector<Robot> robots;
  robots.push_back(robot_of_file(host, ours + "humanoid.urdf", true));
  const auto add_shared = [&](const std::string& name, const std::string& file, bool has_root) {
    if (!std::filesystem::exists(shared + file)) {
      absent.emplace_back(name, "../shared/robots/" + file + " is missing");
      return;
    }
    const std::string text = text_of(shared + file);
    robots.emplace_back(host, name, has_root ? without_floating_joint(text) : text, true);
  };
  add_shared("atlas", "atlas.urdf", false);
  add_shared("talos", "talos.urdf", false);
  add_shared("jvrc1", "jvrc1_humanoid_approximate_fixed.urdf", true);
  robots.push_back(robot_of_file(host, ours + "solo12.urdf", true));
  robots.push_back(robot_of_file(host, ours + "mini_cheetah.urdf", true));
  robots.push_back(robot_of_file(host, ours + "panda.urdf", false));
  robots.push_back(robot_of_file(host, ours + "ur5.urdf", false));
  return robots;
}

std::vector<Robot> chains(const Host& host) {
  std::vector<Robot> robots;
  for (const int bodies : chain_lengths) {
    robots.emplace_back(host, chain_name(bodies), chain_urdf(bodies), false);
  }
  return robots;
}

std::vector<Robot> generated_robots(const Host& host) {
  std::vector<Robot> robots;
  robots.emplace_back(host, "tree_60", chain_urdf(60, 2), false);
  robots.emplace_back(host, "tree_60_ternary", chain_urdf(60, 3), false);
  robots.emplace_back(host, "tree_254", chain_urdf(254, 2), false);
  const std::string humanoid = text_of(ESPALIER_SOURCE_DIR "/robots/humanoid.urdf");
  robots.emplace_back(host, "humanoid_hands", with_hands(humanoid, "left_hand", "right_hand"),
                      true);
  robots.emplace_back(host, "general_arm", general_arm_urdf(), false);
  return robots;
}

std::string without_floating_joint(const std::string& urdf) {
  tinyxml2::XMLDocument document;
  document.Parse(urdf.data(), urdf.size());
  tinyxml2::XMLElement* robot = document.FirstChildElement("robot");
  if (document.Error() || robot == nullptr) {
    throw InvalidModel("URDF: text is no robot, expected an element <robot>");
  }
  tinyxml2::XMLElement* joint = robot->FirstChildElement("joint");
  while (joint != nullptr && !joint->Attribute("type", "floating")) {
    joint = joint->NextSiblingElement("joint");
  }
  const tinyxml2::XMLElement* parent =
      joint == nullptr ? nullptr : joint->FirstChildElement("parent");
  const char* root = parent == nullptr ? nullptr : parent->Attribute("link");
  if (root == nullptr) {
    throw InvalidModel("URDF: floating joint with a parent is missing, expected one");
  }
  tinyxml2::XMLElement* link = robot->FirstChildElement("link");
  while (link != nullptr && !link->Attribute("name", root)) {
    link = link->NextSiblingElement("link");
  }
  if (link != nullptr) robot->DeleteChild(link);
  robot->DeleteChild(joint);
  tinyxml2::XMLPrinter printer;
  document.Print(&printer);
  return printer.CStr();
}

}  // namespace espalier::bench
