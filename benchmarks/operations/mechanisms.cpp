#include "benchmarks/operations/mechanisms.hpp"

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <utility>

#include "benchmarks/operations/assembly.hpp"

namespace espalier::bench {

namespace {

/// Axes of a chain: x, y, z and again.
std::string cycled(int joints) {
  std::string axes;
  for (int i = 0; i < joints; ++i) axes += "xyz"[i % 3];
  return axes;
}

/// Two wrist joints, fingers of four joints, of five the little one and the thumb.
/// @returns the links of the fingertips
std::vector<std::string> add_shadow_hand(Assembly& robot, const std::string& side,
                                         const std::string& forearm) {
  const auto named = [&](const std::string& part) { return side + part; };
  robot.link(named("wrist"), forearm, 'y', "xz");
  robot.link(named("palm"), named("wrist"), 'x', "z");
  std::vector<std::string> tips;
  const auto finger = [&](const std::string& name, const std::string& parent,
                          const std::string& offsets) {
    robot.link(named(name + "_knuckle"), parent, 'y', offsets);
    robot.link(named(name + "_proximal"), named(name + "_knuckle"), 'x', "");
    robot.link(named(name + "_middle"), named(name + "_proximal"), 'x', "z");
    robot.link(named(name + "_distal"), named(name + "_middle"), 'x', "z");
    tips.push_back(named(name + "_distal"));
  };
  for (const char* name : {"fore", "middle", "ring"}) finger(name, named("palm"), "xz");
  // The metacarpal's axis lies in the palm, at 35 degrees to the fingers.
  constexpr double slant = 35.0 / 180.0 * std::numbers::pi;
  robot.link(named("metacarpal"), named("palm"), {std::sin(slant), 0, std::cos(slant)}, "xz");
  finger("little", named("metacarpal"), "z");
  robot.link(named("thumb_base"), named("palm"), {0, 0, 1}, "xyz", {0, std::numbers::pi / 4, 0});
  robot.link(named("thumb_proximal"), named("thumb_base"), 'x', "");
  robot.link(named("thumb_hub"), named("thumb_proximal"), 'x', "z");
  robot.link(named("thumb_middle"), named("thumb_hub"), 'y', "");
  robot.link(named("thumb_distal"), named("thumb_middle"), 'y', "z");
  tips.push_back(named("thumb_distal"));
  return tips;
}

}  // namespace

int Mechanism::rows() const {
  std::size_t rows = 0;
  for (const EndEffector& e : end_effectors) rows += e.rows.size();
  return static_cast<int>(rows);
}

Mechanism stem(int links, int branches, int held) {
  Mechanism out;
  out.name = "stem " + std::to_string(links) + ", " + std::to_string(branches) + " per side";
  Assembly robot("stem", "root");
  const std::string top = robot.chain("stem_", "root", cycled(links));
  for (const auto& [side, parent] :
       {std::pair{"far_", top}, std::pair{"near_", std::string("root")}}) {
    for (int i = 1; i <= branches; ++i) {
      const std::string prefix = side + std::to_string(i) + "_";
      const std::string tip = robot.chain(prefix, parent, cycled(branch_links));
      if (i <= held) out.end_effectors.push_back(EndEffector::weld(tip));
    }
  }
  out.description = robot.description();
  return out;
}

Mechanism nested_chain(int links, int held) {
  Mechanism out;
  out.name = "chain " + std::to_string(links) + ", " + std::to_string(held) + " held";
  out.floating = false;
  Assembly robot("chain", "root");
  robot.chain("link_", "root", cycled(links));
  for (int i = 1; i <= held; ++i) {
    out.end_effectors.push_back(EndEffector::weld("link_" + std::to_string(links * i / held)));
  }
  out.description = robot.description();
  return out;
}

Mechanism atlas(const std::string& name, const AtlasTask& task) {
  using Feet = AtlasTask::Feet;
  Mechanism out;
  out.name = name;
  Assembly robot("atlas", "pelvis");
  // Which axes intersect is that of the published model: hip, ankle and wrist.
  robot.link("lower_torso", "pelvis", 'z', "x");
  robot.link("middle_torso", "lower_torso", 'y', "z");
  robot.link("upper_torso", "middle_torso", 'x', "z");
  robot.link("head", "upper_torso", 'y', "xz");
  for (const std::string side : {"left_", "right_"}) {
    struct Part {
      const char* link;
      char axis;
      const char* offsets;
    };
    const auto series = [&](std::string parent, std::initializer_list<Part> parts) {
      for (const Part& part : parts) {
        robot.link(side + part.link, parent, part.axis, part.offsets);
        parent = side + part.link;
      }
    };
    series("upper_torso", {{"clavicle", 'z', "xyz"},
                           {"scapula", 'x', "yz"},
                           {"upper_arm", 'y', "yz"},
                           {"lower_arm", 'x', "yz"},
                           {"upper_forearm", 'y', "yz"},
                           {"lower_forearm", 'x', ""},
                           {"hand", 'y', ""}});
    series("pelvis", {{"upper_hip", 'z', "y"},
                      {"lower_hip", 'x', ""},
                      {"thigh", 'y', "xyz"},
                      {"shank", 'y', "xz"},
                      {"talus", 'y', "z"},
                      {"foot", 'x', ""}});
  }
  for (const auto& [present, side] :
       {std::pair{task.left_hand, "left_"}, {task.right_hand, "right_"}}) {
    if (!present) continue;
    const std::string forearm = side + std::string("mount");
    robot.fixed(forearm, side + std::string("hand"));
    for (const std::string& tip : add_shadow_hand(robot, side + std::string("shadow_"), forearm)) {
      out.end_effectors.push_back(EndEffector::contact(tip, robot.point()));
    }
  }
  for (const std::string side : {"left_", "right_"}) {
    if (task.wrists) out.end_effectors.push_back(EndEffector::weld(side + "hand"));
    if (task.feet == Feet::weld) {
      out.end_effectors.push_back(EndEffector::weld(side + "foot"));
    }
    const bool in_link_axes = task.feet == Feet::four_contacts_link_axes;
    for (int k = 0; k < 4 && (task.feet == Feet::four_contacts || in_link_axes); ++k) {
      const auto axes = in_link_axes ? EndEffector::Axes::link : EndEffector::Axes::world;
      out.end_effectors.push_back(EndEffector::contact(side + "foot", robot.point(), axes));
    }
  }
  out.description = robot.description();
  return out;
}

Mechanism shadow_hand() {
  Mechanism out;
  out.name = "Shadow hand";
  out.floating = false;
  Assembly robot("shadow_hand", "forearm");
  for (const std::string& tip : add_shadow_hand(robot, "", "forearm")) {
    out.end_effectors.push_back(EndEffector::contact(tip, robot.point()));
  }
  out.description = robot.description();
  return out;
}

Mechanism asimo(const std::string& name, const AsimoOptions& options) {
  Mechanism out;
  out.name = name;
  out.floating = !options.on_right_foot;
  const std::string leg = "zxyyyx" + cycled(options.more_leg_joints);
  const std::string arm = "yxzyzxy" + cycled(options.more_arm_joints);

  // Standing on one foot the robot is the same tree from another end: the leg's joints in reverse,
  // then the waist's.
  Assembly robot("asimo", options.on_right_foot ? "right_foot" : "torso");
  const auto weld = [&](const std::string& link) {
    out.end_effectors.push_back(EndEffector::weld(link, robot.point()));
  };
  std::string torso = "torso", waist = "waist_1";
  if (options.on_right_foot) {
    waist = robot.chain("right_leg_", "right_foot", std::string(leg.rbegin(), leg.rend()));
    torso = robot.chain("torso_", waist, "z");
  } else {
    robot.chain("waist_", torso, "z");
  }
  const std::string head = robot.chain("head_", torso, "zyx");
  if (options.task == AsimoOptions::Task::hands_feet_head) weld(head);
  for (int i = options.on_right_foot ? 1 : 0; i < options.legs; ++i) {
    weld(robot.chain("leg_" + std::to_string(i + 1) + "_", waist, leg));
  }
  for (int i = 0; i < options.arms; ++i) {
    const std::string number = std::to_string(i + 1) + "_";
    const std::string hand = robot.chain("arm_" + number, torso, arm);
    if (options.task != AsimoOptions::Task::fingers_feet) weld(hand);
    const int fingers = options.four_fingers ? 4 : 2;
    const std::string axes = (options.four_fingers ? "yyy" : "y") +
                             std::string(static_cast<std::size_t>(options.more_finger_joints), 'y');
    for (int k = 0; k < fingers; ++k) {
      const std::string finger = "finger_" + number + std::to_string(k + 1) + "_";
      const std::string tip = robot.chain(finger, hand, axes);
      if (options.task == AsimoOptions::Task::fingers_feet) weld(tip);
    }
  }
  out.description = robot.description();
  return out;
}

}  // namespace espalier::bench
