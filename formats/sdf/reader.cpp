// Reads SDF: the file, the spanning tree, and what is not in it.

#include "formats/sdf/reader.hpp"

#include <algorithm>
#include <deque>

#include "espalier/kernel/errors.hpp"
#include "formats/sdf/sdf.hpp"
#include "formats/sdf/words.hpp"
#include "formats/text.hpp"
#include "formats/xml/misspelled.hpp"

namespace espalier {

namespace sdf {

using formats::in_quotes;

Description Reader::read(std::string_view text) {
  root_ = formats::parse_xml(text, "sdf", origin_);
  if (root_.name != "sdf")
    root_.fail("sdf", "root element is <" + root_.name + ">, expected <sdf>");
  expand_includes(root_, origin_, options_, robot_.findings);
  look_over(root_);
  const XmlNode* world = root_.child("world");
  const XmlNode& within = world ? *world : root_;
  for (const XmlNode& node : root_.children) {
    if (node.name == "world" && &node != world) lose(node, "a second world", false);
  }
  std::vector<const XmlNode*> models;
  bool alone = true;  // whether names need no model before them
  for (const XmlNode& node : within.children) {
    if (node.name == "model") models.push_back(&node);
    alone = alone && node.name != "joint" && node.name != "frame";
  }
  if (models.empty()) root_.fail("sdf", "<model> is missing, expected one");
  robot_.where = models[0]->where.file == origin_ ? models[0]->where : root_.where;
  if (const XmlNode* gravity = within.child("gravity")) {
    robot_.gravity = vector(*gravity, "gravity");
  }
  for (const char* still : {model_frame, "world"}) frames_[still].state = Frame::State::done;
  if (models.size() == 1 && alone) {
    robot_.name = name_of(*models[0], "model");
    Frame& model = frames_[model_frame];
    model.relative_to = "world", model.node = models[0], model.state = Frame::State::open;
    if (const XmlNode* pose = models[0]->child("pose")) model.X = pose_text(*pose).transform();
    read_model(*models[0], "", false);
  } else {
    if (world != nullptr && world->find("name")) robot_.name = name_of(*world, "world");
    for (const XmlNode& node : within.children) {
      if (node.name != "link" && node.name != "plugin") read_member(node, "", false);
    }
  }
  place_models();
  for (const auto& [full_name, frame] : frames_) resolve(full_name);
  build();
  return std::move(robot_);
}

/// Tells of what is no SDF of a version that is known here.
void Reader::look_over(const XmlNode& root) {
  const auto warn = [&](const XmlNode& at, const std::string& what) {
    robot_.findings.push_back({Finding::Severity::warning,
                               at.name + " (" + at.where.text() + "): " + what, at.where.text(),
                               true});
  };
  const std::string* version = root.find("version");
  static const std::set<std::string, std::less<>> known{"1.4", "1.5", "1.6",  "1.7",
                                                        "1.8", "1.9", "1.10", "1.11"};
  if (version == nullptr || !known.contains(*version)) {
    warn(root, (version ? "version is " + in_quotes(*version) : "version is missing") +
                   ", expected 1.4 to 1.11 (it is read as 1.11)");
  }
  formats::find_misspelled(root, grammar(), robot_.findings);
  static const std::set<std::string, std::less<>> several{
      "world",  "model", "include", "frame",     "link",         "joint", "plugin",
      "visual", "light", "sensor",  "collision", "audio_source", "actor", "particle_emitter",
      "gripper"};
  const auto look = [&](const auto& self, const XmlNode& in) -> void {
    if (!grammar().contains(in.name)) return;
    for (const XmlNode& node : in.children) {
      if (!several.contains(node.name) && in.child(node.name) != &node &&
          node.name.find(':') == std::string::npos) {
        warn(node, "element is given a second time in <" + in.name + ">, expected it once (" +
                       in.child(node.name)->where.text() + " counts)");
      }
      self(self, node);
    }
  };
  look(look, root);
}

/// The spanning tree: from the world, and then from links that no joint leads to.
void Reader::build() {
  bool world = !static_.empty();
  std::set<std::string> children;
  for (ReadJoint& joint : joints_) {
    joint.parent = link_of(full(joint.parent, joint.scope), *joint.node);
    joint.child = link_of(full(joint.child, joint.scope), *joint.node);
    world = world || joint.parent == "world" || joint.child == "world";
    if (joint.type != "gearbox") children.insert(joint.child);
  }
  used_.assign(joints_.size(), false);
  std::vector<std::string> roots;
  if (world) grow("world");
  for (const bool any : {false, true}) {
    for (const std::string& link : link_order_) {
      if (reached_.contains(link) || (!any && children.contains(link))) continue;
      roots.push_back(link);
      grow(link);
    }
  }
  if (roots.empty() && !world) root_.fail("sdf", "<link> is missing, expected one or more");
  world = world || roots.size() > 1;
  if (!world) robot_.floating = true;  // nothing holds it
  if (world) {
    LinkDescription ground;
    ground.name = "world", ground.where = robot_.where;
    robot_.links.push_back(ground);
  }
  for (const std::string& link : link_order_) read_link(link);
  if (world) add_roots(roots);
  for (const auto& [j, reversed] : tree_) read_tree_joint(joints_[j], reversed);
  for (std::size_t j = 0; j < joints_.size(); ++j) {
    if (joints_[j].type == "gearbox") {
      read_gearbox(joints_[j]);
    } else if (!used_[j]) {
      read_loop(joints_[j]);
    }
  }
  read_own(*(root_.child("world") ? root_.child("world") : &root_));
  restore_names();
}

/// Adds to the tree all that hangs on a link, the nearest first.
void Reader::grow(const std::string& root) {
  reached_.insert(root);
  std::deque<std::string> front{root};
  while (!front.empty()) {
    const std::string at = front.front();
    front.pop_front();
    for (std::size_t j = 0; j < joints_.size(); ++j) {
      const ReadJoint& joint = joints_[j];
      if (used_[j] || joint.type == "gearbox" || (joint.parent != at && joint.child != at))
        continue;
      const std::string& other = joint.parent == at ? joint.child : joint.parent;
      if (reached_.contains(other)) continue;
      used_[j] = true;
      reached_.insert(other);
      front.push_back(other);
      tree_.push_back({j, joint.parent != at});
    }
  }
}

/// What no joint holds floats on the world, or stands still in it.
void Reader::add_roots(const std::vector<std::string>& roots) {
  for (const std::string& link : roots) {
    JointDescription joint;
    joint.name = unused(link + (static_.contains(link) ? "_static" : "_free"));
    joint.type = static_.contains(link) ? "fixed" : "floating";
    joint.parent = "world", joint.child = link;
    joint.where = links_.at(link)->where;
    if (joint.type == "fixed") joint.origin = pose_of(resolve(link));
    robot_.joints.push_back(std::move(joint));
  }
}

std::string Reader::unused(const std::string& wanted) {
  std::string unique = wanted;
  while (!names_.insert(unique).second) unique += "_";
  return unique;
}

void Reader::lose(const XmlNode& node, const std::string& what, bool changes) {
  robot_.findings.push_back({changes ? Finding::Severity::error : Finding::Severity::warning,
                             node.name + " (" + node.where.text() + "): " + what +
                                 " has no counterpart" +
                                 (changes ? ", expected a file without it (the robot would be "
                                            "another one; --lenient leaves it out)"
                                          : " (left out)"),
                             node.where.text(), changes});
}

}  // namespace sdf

Description SdfFormat::read(std::string_view text, const std::string& origin,
                            const SubMechanisms& parts) const {
  return read(text, origin, parts, ReadOptions());
}

Description SdfFormat::read(std::string_view text, const std::string& origin,
                            const SubMechanisms& /*parts*/, const ReadOptions& options) const {
  return sdf::Reader(origin, options).read(text);
}

}  // namespace espalier
