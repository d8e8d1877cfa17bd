// Reads SDF: names, poses and what they are relative to.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "espalier/kernel/errors.hpp"
#include "espalier/plugins/registry.hpp"
#include "formats/sdf/reader.hpp"
#include "formats/text.hpp"

namespace espalier::sdf {

using formats::in_quotes;

void Reader::nest(const XmlNode& model, const std::string& scope, bool is_static) {
  const std::string prefix = scope + name_of(model, "model") + "::";
  add_frame(prefix + model_frame, model, scope, model_frame);
  alias_[scope + name_of(model, "model")] = prefix + model_frame;
  read_model(model, prefix, is_static);
}

void Reader::read_model(const XmlNode& model, const std::string& scope, bool is_static) {
  if (const std::string* placement = model.find("placement_frame");
      placement != nullptr && !placement->empty()) {
    frames_[scope + model_frame].placement_frame = full(*placement, scope);
  }
  if (const std::string* canonical = model.find("canonical_link");
      canonical != nullptr && !canonical->empty()) {
    canonical_[scope] = full(*canonical, scope);
  }
  if (const XmlNode* s = model.child("static")) {
    is_static = is_static || formats::parse_bool(trimmed(s->text)).value_or(false);
  }
  for (const XmlNode& node : model.children) read_member(node, scope, is_static);
}

void Reader::read_member(const XmlNode& node, const std::string& scope, bool is_static) {
  if (node.name == "link") {
    const std::string link = scope + name_of(node, "link");
    add_frame(link, node, scope, model_frame);
    links_[link] = &node;
    link_order_.push_back(link);
    if (is_static) static_.insert(link);
  } else if (node.name == "frame") {
    const std::string* to = node.find("attached_to");
    const std::string attached = to && !to->empty() ? *to : model_frame;
    Frame& frame = add_frame(scope + name_of(node, "frame"), node, scope, attached);
    frame.attached_to = full(attached, scope);
    if (node.find("espalier:merged") != nullptr) {
      const std::string* placement = node.find("placement_frame");
      if (placement != nullptr) frame.placement_frame = full(*placement, scope);
    } else {
      frame_order_.push_back(scope + name_of(node, "frame"));
    }
  } else if (node.name == "joint") {
    const std::string* type = node.find("type");
    if (is_static && (type == nullptr || *type != "fixed")) {
      lose(node, "a joint of a <static> model, which stands still in Gazebo and moves here,", true);
    }
    add_joint(node, scope);
  } else if (node.name == "model") {
    nest(node, scope, is_static);
  } else if (node.name == "plugin") {
    lose(node, "code of the simulator", false);
  }
}

void Reader::add_joint(const XmlNode& node, const std::string& scope) {
  const std::string own = name_of(node, "joint");
  const XmlNode *parent = node.child("parent"), *child = node.child("child");
  if (child == nullptr || parent == nullptr) {
    node.fail("joint " + in_quotes(own), "<parent> or <child> is missing, expected both");
  }
  Frame& frame = add_frame(scope + own, node, scope, trimmed(child->text));
  frame.attached_to = full(trimmed(child->text), scope);
  const std::string* called = node.find("espalier:name");
  if (called != nullptr && formats::is_name(*called) && scope.empty()) originals_[own] = *called;
  const std::string* type = node.find("type");
  joints_.push_back(
      {&node, scope + own, scope, type ? *type : "", trimmed(parent->text), trimmed(child->text)});
}

Frame& Reader::add_frame(const std::string& full_name, const XmlNode& node,
                         const std::string& scope, const std::string& standard) {
  Frame& frame = frames_[full_name];
  if (frame.node != nullptr) {
    node.fail(node.name + " " + in_quotes(full_name),
              "name is given twice, expected it once among links, joints and frames");
  }
  frame.node = &node;
  std::string to = standard;
  if (const XmlNode* pose = node.child("pose")) {
    frame.X = pose_text(*pose).transform();
    const std::string* relative = pose->find("relative_to");
    if (relative == nullptr) relative = pose->find("frame");  // 1.5 and 1.6
    if (relative != nullptr && !relative->empty()) to = *relative;
  }
  frame.relative_to = full(to, scope);
  return frame;
}

std::string Reader::full(const std::string& local, const std::string& scope) {
  return local == "world" ? local : scope + local;
}

/// The key of a frame in frames_, names of models resolved.
const std::string& Reader::known_frame(const std::string& given, const XmlNode* at) const {
  const auto alias = alias_.find(given);
  const std::string& name = alias == alias_.end() ? given : alias->second;
  if (frames_.contains(name)) return name;
  std::vector<std::string> known;
  for (const auto& [other, frame] : frames_) known.push_back(other);
  const std::string what = "frame " + in_quotes(name);
  const std::string is = " is unknown" + suggest(name, known);
  if (at != nullptr) at->fail(at->name, what + is);
  throw InvalidModel("sdf: " + what + " (" + origin_ + ")" + is);
}

/// Where a pose places a frame of a model, the model goes where that takes it. Inner models first:
/// the frame may be in one of them.
void Reader::place_models() {
  std::vector<std::string> placed;
  for (const auto& [name, frame] : frames_) {
    if (!frame.placement_frame.empty()) placed.push_back(name);
  }
  const auto depth = [](const std::string& name) {
    return std::count(name.begin(), name.end(), ':');
  };
  std::stable_sort(placed.begin(), placed.end(),
                   [&](const auto& a, const auto& b) { return depth(a) > depth(b); });
  for (const std::string& name : placed) {
    Frame& model = frames_.at(name);
    Transform<double> X = Transform<double>::identity();  // from the model's frame
    std::string at = known_frame(model.placement_frame, model.node);
    for (std::size_t steps = 0; at != name; ++steps) {
      const Frame& frame = frames_.at(at);
      if (steps > frames_.size() || frame.node == nullptr) {
        model.node->fail(model.node->name, "placement frame " + in_quotes(model.placement_frame) +
                                               " does not move with it, expected a frame in it");
      }
      X = X * frame.X;
      at = known_frame(frame.relative_to, frame.node);
    }
    model.X = X.inverse() * model.X;
  }
}

const Transform<double>& Reader::resolve(const std::string& given) {
  Frame& wanted = frames_.at(known_frame(given, nullptr));
  // A chain of frames is followed without recursion, so that its length does not matter.
  std::vector<Frame*> chain;
  for (Frame* at = &wanted; at->state != Frame::State::done;) {
    if (at->state == Frame::State::running) {
      for (Frame* f : chain) f->state = Frame::State::open;
      at->node->fail("frame " + in_quotes(given),
                     "its pose is relative to itself, expected a tree");
    }
    at->state = Frame::State::running;
    chain.push_back(at);
    at = &frames_.at(known_frame(at->relative_to, at->node));
  }
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    Frame& frame = **at;
    frame.in_model = frame.X * frames_.at(known_frame(frame.relative_to, frame.node)).in_model;
    frame.state = Frame::State::done;
  }
  return wanted.in_model;
}

/// The link that moves what is named: a link, a frame, a joint's child, a model's first link.
std::string Reader::link_of(const std::string& given, const XmlNode& at) const {
  std::string named = given;
  for (std::size_t steps = 0; steps <= frames_.size(); ++steps) {
    if (named == "world" || links_.contains(named)) return named;
    const auto alias = alias_.find(named);
    if (alias != alias_.end()) named = alias->second;
    if (named.ends_with(model_frame)) {
      const std::string scope = named.substr(0, named.size() - std::string(model_frame).size());
      if (const auto named_link = canonical_.find(scope); named_link != canonical_.end()) {
        named = named_link->second;
        continue;
      }
      const auto first = std::find_if(link_order_.begin(), link_order_.end(),
                                      [&](const std::string& l) { return l.starts_with(scope); });
      if (first != link_order_.end()) return *first;
    }
    const auto frame = frames_.find(named);
    if (frame == frames_.end() || frame->second.attached_to.empty()) break;
    named = frame->second.attached_to;
  }
  std::vector<std::string> known(link_order_);
  at.fail(at.name, "name is " + in_quotes(given) + ", which is no link" + suggest(given, known));
}

Pose pose_of(const Transform<double>& X) {
  Pose pose = Pose::from(X);
  for (int i = 0; i < 3; ++i) pose.xyz[i] += 0.0, pose.rpy[i] += 0.0;
  return pose;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::string name_of(const XmlNode& node, const std::string& what) {
  const std::string* value = node.find("name");
  if (value == nullptr || !formats::is_name(*value))
    node.fail(what, "attribute 'name' is missing, expected a name");
  if (trimmed(*value) != *value) {  // <parent> and <child> could not refer to it
    node.fail(what, "name is " + formats::in_quotes(*value) +
                        ", expected one without white space around it");
  }
  return *value;
}

double number(const XmlNode& parent, const std::string& who, const char* child, double fallback) {
  const XmlNode* node = parent.child(child);
  if (node == nullptr) return fallback;
  return formats::numbers_of(*node, who, "<" + std::string(child) + ">", node->text, 1)[0];
}

Vec3<double> vector(const XmlNode& node, const std::string& who) {
  const auto v = formats::numbers_of(node, who, "<" + node.name + ">", node.text, 3);
  return {v[0], v[1], v[2]};
}

Pose pose_text(const XmlNode& node) {
  const std::string* format = node.find("rotation_format");
  const bool quaternion = format != nullptr && *format == "quat_xyzw";
  if (trimmed(node.text).empty()) return {};
  const auto v = formats::numbers_of(node, "pose", "<pose>", node.text, quaternion ? 7 : 6);
  if (quaternion) {
    const double norm = std::hypot(std::hypot(v[3], v[4], v[5]), v[6]);
    if (!(norm > 1e-12)) node.fail("pose", "quaternion is zero, expected one of length 1");
    const double q[4] = {v[3] / norm, v[4] / norm, v[5] / norm, v[6] / norm};
    return pose_of({quaternion_to_E(q), {v[0], v[1], v[2]}});
  }
  const std::string* degrees = node.find("degrees");
  const double k =
      degrees && formats::parse_bool(*degrees).value_or(false) ? std::numbers::pi / 180.0 : 1.0;
  return {{v[0], v[1], v[2]}, {k * v[3], k * v[4], k * v[5]}};
}

}  // namespace espalier::sdf
