// Reads what Espalier wrote into <custom> of an MJCF file, of things that MJCF cannot say: each
// text is a piece of XML, and takes the place of the element that says it as well as MJCF can.

#include <algorithm>

#include "formats/mjcf/reader.hpp"
#include "formats/mjcf/writer/writer.hpp"
#include "formats/text.hpp"

namespace espalier::mjcf {

using formats::in_quotes;

namespace {

constexpr std::string_view ours = "espalier ";

}  // namespace

void Reader::collect_restored(const XmlNode& custom) {
  for (const XmlNode& child : custom.children) {
    const std::string* name = child.find("name");
    if (child.name == "text" && name && name->starts_with(ours) && child.find("data")) {
      restored_.insert(name->substr(ours.size()));
    }
  }
}

bool Reader::is_restored(const std::string& name) const {
  if (restored_.contains(name)) return true;
  return name.ends_with(second_equality) &&
         restored_.contains(name.substr(0, name.size() - std::string(second_equality).size()));
}

void Reader::read_custom(const XmlNode& node) {
  for (const XmlNode& child : node.children) {
    const std::string *name = child.find("name"), *data = child.find("data");
    if (child.name != "text" || !name || !name->starts_with(ours) || !data) continue;
    const XmlNode said = formats::parse_xml(*data, "mjcf", child.where.file);
    const Element e(said, "text " + in_quotes(*name), compiler_, nullptr);
    const auto joint = [&]() -> JointDescription& {
      return robot_.joints[joint_named(e, e.name("joint")).index];
    };
    if (said.name == "independent") {
      joint().independent = e.boolean("value", true);
    } else if (said.name == "type") {
      joint().type = e.name("value");
    } else if (said.name == "limit") {
      restore_limits(e, joint().limits);
    } else if (said.name == "mimic") {
      const auto law = e.numbers("law", 2);
      joint().mimic = Mimic{joint_named(e, e.name("of")).name, law[0], law[1]};
    } else if (said.name == "coupling") {
      restore_coupling(e, child.where);
    } else if (said.name == "law") {
      restore_law(e, child.where);
    } else if (said.name == "loop") {
      restore_loop(e, child.where);
    } else if (said.name == "state" || said.name == "actuator") {
      restore_values(e, child.where);
    } else if (said.name == "joint") {
      wholes_.push_back(said);
    } else if (said.name == "root") {
      own_root_ = bodies_[body_named(e, "link")].link;
      if (e.has("floating")) own_root_floats_ = e.boolean("floating", false);
    } else {
      e.fail("element is <" + said.name + ">, expected what Espalier writes there");
    }
  }
}

void Reader::restore_limits(const Element& e, Limits& limits) {
  const auto take = [&](const char* key, std::optional<double>& limit) {
    if (e.has(key)) limit = e.number(key, 0.0);
  };
  take("lower", limits.lower), take("upper", limits.upper);
  take("effort", limits.effort), take("velocity", limits.velocity);
}

void Reader::restore_coupling(const Element& e, const SourceLocation& where) {
  CouplingDescription coupling;
  coupling.where = where;
  coupling.name = unused(e.name("name"), constraint_names_);
  coupling.predecessor = bodies_[body_named(e, "predecessor")].link;
  coupling.successor = bodies_[body_named(e, "successor")].link;
  coupling.ratio = e.number("ratio", 1.0);
  robot_.couplings.push_back(std::move(coupling));
}

void Reader::restore_law(const Element& e, const SourceLocation& where) {
  LawDescription law;
  law.where = where;
  law.name = unused(e.name("name"), constraint_names_);
  law.type = e.name("type");
  for (const XmlNode& inner : e.node().children) {
    const Element i(inner, e.who(), compiler_, nullptr);
    if (inner.name == "joint") law.joints.push_back(joint_named(i, i.name("name")).name);
    if (inner.name == "parameter") law.parameters[i.name("name")] = i.numbers("value", 0);
  }
  robot_.laws.push_back(std::move(law));
}

void Reader::restore_loop(const Element& e, const SourceLocation& where) {
  LoopDescription loop;
  loop.where = where;
  const std::string name = e.name("name");
  loop.name = unused(name, constraint_names_);
  loop.type = e.name("type");
  loop.axis = e.vector("axis", loop.axis);
  for (const XmlNode& inner : e.node().children) {
    const Element i(inner, e.who(), compiler_, nullptr);
    if (inner.name == "parameter") {
      loop.parameters[i.name("name")] = i.numbers("value", 0);
      continue;
    }
    const bool first = inner.name == "predecessor";
    const ReadBody& body = bodies_[body_named(i, "link")];
    (first ? loop.predecessor : loop.successor) = body.link;
    (first ? loop.predecessor_origin : loop.successor_origin) = {i.vector("xyz", {0, 0, 0}),
                                                                 i.vector("rpy", {0, 0, 0})};
    // The sites at the ends of a rod are no frames of the robot.
    std::erase_if(robot_.links[body.index].frames, [&](const FrameDescription& frame) {
      return loop.type == "rod" && frame.name == name + (first ? rod_first : rod_second);
    });
  }
  robot_.loops.push_back(std::move(loop));
}

/// A named state or an input: numbers by names of joints.
void Reader::restore_values(const Element& e, const SourceLocation& where) {
  NamedState state;
  ActuatorDescription actuator;
  for (const XmlNode& inner : e.node().children) {
    const Element i(inner, e.who(), compiler_, nullptr);
    auto& values = inner.name == "position"   ? state.positions
                   : inner.name == "velocity" ? state.velocities
                                              : actuator.gear;
    values[joint_named(i, i.name("joint")).name] = i.numbers("value", 0);
  }
  if (e.node().name == "state") {
    state.name = e.name("name"), state.where = where;
    robot_.states.push_back(std::move(state));
    return;
  }
  actuator.name = e.name("name"), actuator.where = where;
  if (e.has("lower")) actuator.lower = e.number("lower", 0.0);
  if (e.has("upper")) actuator.upper = e.number("upper", 0.0);
  robot_.actuators.push_back(std::move(actuator));
}

/// Joints that were written as two, with a massless link between, become one again; the robot's own
/// root takes the place of the world. Last, since it renumbers joints and links.
void Reader::restore_tree() {
  for (const XmlNode& said : wholes_) {
    const Element e(said, "joint", compiler_, nullptr);
    const std::string name = e.name("name");
    const auto joint = [&](const std::string& wanted) {
      return std::find_if(robot_.joints.begin(), robot_.joints.end(),
                          [&](const JointDescription& j) { return j.name == wanted; });
    };
    const std::string other = e.has("second") ? e.name("second") : name + second_joint;
    const auto first = joint(name), second = joint(other);
    if (first == robot_.joints.end() || second == robot_.joints.end() ||
        first->child != second->parent) {
      e.fail("joint " + in_quotes(name) + " is not followed by " + in_quotes(other) +
             ", expected what Espalier writes there");
    }
    const std::string between = first->child;
    first->child = second->child;
    first->type = e.name("type");
    first->axis = e.vector("axis", first->axis);
    first->parameters.clear();
    for (const XmlNode& inner : said.children) {
      const Element i(inner, e.who(), compiler_, nullptr);
      if (inner.name == "parameter") first->parameters[i.name("name")] = i.numbers("value", 0);
    }
    robot_.joints.erase(second);
    erase_link(between);
  }
  if (own_root_.empty()) return;
  const LinkDescription& world = robot_.links.front();
  const auto on_world = [](const JointDescription& j) { return j.parent == "world"; };
  const auto hold = std::find_if(robot_.joints.begin(), robot_.joints.end(), on_world);
  if (std::count_if(robot_.joints.begin(), robot_.joints.end(), on_world) != 1 ||
      hold->type != (own_root_floats_.value_or(false) ? "floating" : "fixed") ||
      hold->child != own_root_ || !world.visuals.empty() || !world.collisions.empty() ||
      !world.frames.empty()) {
    return;  // the world has got something of its own since
  }
  robot_.joints.erase(hold);
  erase_link("world");
  robot_.floating = own_root_floats_;
}

/// With the rules of contact that name it.
void Reader::erase_link(const std::string& name) {
  std::erase_if(robot_.links, [&](const LinkDescription& link) { return link.name == name; });
  std::erase_if(robot_.excluded_contacts, [&](const PairDescription& pair) {
    return pair.first == name || pair.second == name;
  });
}

}  // namespace espalier::mjcf
