// Reads MJCF: actuators and named states.

#include <Eigen/Geometry>
#include <algorithm>
#include <tuple>

#include "formats/mjcf/reader.hpp"
#include "formats/text.hpp"

namespace espalier::mjcf {

using formats::in_quotes;

namespace {

/// Position of a free joint that places a body: x, y, z and the quaternion with w last.
std::vector<double> position_of(const Transform<double>& X) {
  Eigen::Matrix3d to_world;  // E turns to the body
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) to_world(j, i) = X.E(i, j);
  }
  const Eigen::Quaterniond q(to_world);
  return {X.r.x, X.r.y, X.r.z, q.x(), q.y(), q.z(), q.w()};
}

}  // namespace

void Reader::read_actuators(const XmlNode& node) {
  for (const XmlNode& child : node.children) {
    const Element e = element(child, "actuator", "");
    if (is_restored("actuator " + e.text("name"))) continue;
    if (child.name == "muscle" || child.name == "plugin" || child.name == "adhesion") {
      lose(child, "<" + child.name + "> has no counterpart", false);
      continue;
    }
    ActuatorDescription actuator;
    actuator.where = child.where;
    std::vector<double> gear{1.0};
    if (e.has("gear")) gear = e.numbers("gear", 0);
    gear.resize(6, 0.0);
    if (e.has("joint") || e.has("jointinparent")) {
      const ReadJoint& joint = joint_named(e, e.name(e.has("joint") ? "joint" : "jointinparent"));
      if (joint.type == ReadJoint::Type::free) {
        lose(child, "actuator of a free joint has no counterpart", false);
        continue;
      }
      const std::size_t rates = joint.type == ReadJoint::Type::ball ? 3 : 1;
      if (!locked_.contains(joint.name)) {
        actuator.gear[joint.name].assign(gear.begin(), gear.begin() + static_cast<long>(rates));
      }
      actuator.name = joint.name;
    } else if (e.has("tendon") && tendons_.contains(e.name("tendon"))) {
      actuator.name = e.name("tendon");
      for (const auto& [joint, c] : tendons_.at(actuator.name).coefficients) {
        if (!locked_.contains(joint)) actuator.gear[joint] = {gear[0] * c};
      }
    } else {
      lose(child, "actuator acts on neither a joint nor a fixed tendon", false);
      continue;
    }
    if (e.has("name") && !e.text("name").empty()) actuator.name = e.name("name");
    actuator.name = unused(actuator.name, actuator_names_);
    const bool motor = child.name == "motor";
    if (!motor) {
      lose(child, "gains of <" + child.name + "> belong to a controller; its input is a force",
           false);
    }
    // MuJoCo clamps the control, which is the force of a motor, then the force, both before gears.
    if (motor) {
      if (const auto control = e.bounds("ctrlrange", "ctrllimited"))
        std::tie(actuator.lower, actuator.upper) = *control;
    }
    if (const auto force = e.bounds("forcerange", "forcelimited")) {
      const auto [lower, upper] = *force;
      actuator.lower = std::clamp(actuator.lower.value_or(lower), lower, upper);
      actuator.upper = std::clamp(actuator.upper.value_or(upper), lower, upper);
    }
    robot_.actuators.push_back(std::move(actuator));
  }
}

void Reader::read_keyframes(const XmlNode& node) {
  for (const XmlNode& child : node.children) {
    if (child.name != "key") continue;
    const std::string* own = child.find("name");
    if (own != nullptr && is_restored("state " + *own)) continue;
    const Element e(child, "key", compiler_, nullptr);
    NamedState state;
    state.where = child.where;
    state.name = e.text("name", "key" + std::to_string(robot_.states.size()));
    const auto rates = [](const ReadJoint& joint, bool position) -> std::size_t {
      if (joint.type == ReadJoint::Type::free) return position ? 7 : 6;
      if (joint.type == ReadJoint::Type::ball) return position ? 4 : 3;
      return 1;
    };
    for (const bool position : {true, false}) {
      const char* attribute = position ? "qpos" : "qvel";
      if (!e.has(attribute)) continue;
      std::size_t size = 0;
      for (const ReadJoint& joint : joints_) size += rates(joint, position);
      const auto all = e.numbers(attribute, size);
      auto next = all.begin();
      for (const ReadJoint& joint : joints_) {
        const std::vector<double> v(next, next + static_cast<long>(rates(joint, position)));
        next += static_cast<long>(v.size());
        if (locked_.contains(joint.name)) continue;
        auto& out = (position ? state.positions : state.velocities)[joint.name];
        using Type = ReadJoint::Type;
        if (position && joint.type == Type::free) {  // the quaternion's w comes first in MJCF
          out = {v[0], v[1], v[2], v[4], v[5], v[6], v[3]};
        } else if (position && joint.type == Type::ball) {
          out = {v[1], v[2], v[3], v[0]};
        } else if (joint.type == Type::free) {
          // Linear rates are of the world in MJCF, of the body here.
          const std::vector<double>& q = state.positions[joint.name];
          const Mat3<double> E =
              q.size() == 7 ? quaternion_to_E(q.data() + 3) : Mat3<double>::identity();
          const Vec3<double> linear = E * Vec3<double>{v[0], v[1], v[2]};
          out = {v[3], v[4], v[5], linear.x, linear.y, linear.z};
        } else {
          out = v;
        }
      }
    }
    robot_.states.push_back(std::move(state));
  }
}

/// Names what MuJoCo starts from, qpos0, where it is not the neutral position: a free joint's is
/// where the file places its body.
void Reader::name_start() {
  NamedState start;
  start.name = "qpos0";
  for (const ReadJoint& joint : joints_) {
    if (joint.type != ReadJoint::Type::free || locked_.contains(joint.name)) continue;
    const std::vector<double> q = position_of(bodies_[joint.body].X);
    if (q == std::vector<double>{0, 0, 0, 0, 0, 0, 1}) continue;
    if (start.positions.empty()) start.where = robot_.joints[joint.index].where;
    start.positions[joint.name] = q;
  }
  const auto is_it = [&](const NamedState& state) { return state.name == start.name; };
  const bool named = std::any_of(robot_.states.begin(), robot_.states.end(), is_it);
  if (!start.positions.empty() && !named) robot_.states.push_back(std::move(start));
}

}  // namespace espalier::mjcf
