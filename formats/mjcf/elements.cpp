#include "formats/mjcf/elements.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numbers>

#include "espalier/plugins/registry.hpp"
#include "formats/text.hpp"

namespace espalier::mjcf {

using formats::in_quotes;

namespace {

constexpr double radians_per_degree = std::numbers::pi / 180.0;

/// Attributes that say an orientation, each instead of the others.
constexpr std::string_view orientations[] = {"quat", "axisangle", "xyaxes", "zaxis", "euler"};

Vec3<double> unit(const Vec3<double>& v) { return scale(1.0 / std::sqrt(dot(v, v)), v); }

}  // namespace

Mat3<double> turned_about(const Vec3<double>& axis, double angle) {
  if (angle == 0.0) return Mat3<double>::identity();
  const double s = std::sin(angle / 2.0);
  const double q[4] = {s * axis.x, s * axis.y, s * axis.z, std::cos(angle / 2.0)};
  return quaternion_to_E(q);
}

Mat3<double> z_onto(const Vec3<double>& direction) {
  const double length = std::sqrt(dot(direction, direction));
  const Vec3<double> d = scale(1.0 / length, direction);
  const Vec3<double> axis{-d.y, d.x, 0.0};  // z x d
  const double s = std::hypot(d.x, d.y);
  // Below this the direction is z or -z to rounding; -z is a half turn about x.
  if (s < 1e-10)
    return d.z > 0.0 ? Mat3<double>::identity() : turned_about({1, 0, 0}, std::numbers::pi);
  return turned_about(scale(1.0 / s, axis), std::atan2(s, d.z));
}

Pose pose_of(const Transform<double>& X) {
  Pose pose = Pose::from(X);
  bool turned = false;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) turned = turned || X.E(i, j) != (i == j ? 1.0 : 0.0);
  }
  if (!turned) pose.rpy = {0, 0, 0};
  for (int i = 0; i < 3; ++i) pose.xyz[i] += 0.0, pose.rpy[i] += 0.0;  // no -0
  return pose;
}

void Defaults::read(const XmlNode& node, const Class& inherited) {
  Class own = inherited;
  for (const XmlNode& child : node.children) {
    if (child.name == "default") continue;
    AttributeMap& attributes = own[child.name];
    const bool turned = std::any_of(
        std::begin(orientations), std::end(orientations),
        [&](std::string_view orientation) { return child.find(orientation) != nullptr; });
    if (turned) {
      for (const std::string_view o : orientations) attributes.erase(std::string(o));
    }
    for (const auto& [key, value] : child.attributes) attributes[key] = value;
  }
  const std::string* given = node.find("class");
  const std::string name = given ? *given : "main";
  if (main_.empty()) main_ = name;
  // A file and those that it includes may each say a part of the main class.
  auto& known = classes_[name];
  for (auto& [element, attributes] : own) {
    for (auto& [key, value] : attributes) known[element][key] = value;
  }
  const Class all = known;
  for (const XmlNode& child : node.children) {
    if (child.name == "default") read(child, all);
  }
}

const AttributeMap* Defaults::find(const XmlNode& at, const std::string& who,
                                   const std::string& cls) const {
  if (cls.empty() && classes_.empty()) return nullptr;
  const auto known = classes_.find(cls.empty() ? main_ : cls);
  if (known == classes_.end()) {
    std::vector<std::string> names;
    for (const auto& [name, content] : classes_) names.push_back(name);
    at.fail(who, "class is " + in_quotes(cls) + ", which is unknown" + suggest(cls, names));
  }
  const auto element = known->second.find(at.name);
  return element == known->second.end() ? nullptr : &element->second;
}

const std::string* Element::find(std::string_view attribute) const {
  if (const std::string* own = node_.find(attribute)) return own;
  if (defaults_ == nullptr) return nullptr;
  const auto inherited = defaults_->find(attribute);
  if (inherited == defaults_->end()) return nullptr;
  // An orientation of the element's own replaces any of its class.
  const auto is = [&](std::string_view o) { return o == attribute; };
  if (std::any_of(std::begin(orientations), std::end(orientations), is)) {
    for (const std::string_view o : orientations) {
      if (node_.find(o) != nullptr) return nullptr;
    }
  }
  return &inherited->second;
}

std::string Element::text(std::string_view attribute, const std::string& fallback) const {
  const std::string* value = find(attribute);
  return value ? *value : fallback;
}

std::string Element::name(std::string_view attribute) const {
  const std::string* value = find(attribute);
  if (value == nullptr || !formats::is_name(*value)) {
    fail("attribute " + in_quotes(attribute) + " is " + (value ? in_quotes(*value) : "missing") +
         ", expected a name");
  }
  return *value;
}

double Element::number(std::string_view attribute, double fallback) const {
  const std::string* value = find(attribute);
  if (value == nullptr) return fallback;
  return numbers_of(node_, who_, "attribute " + in_quotes(attribute), *value, 1)[0];
}

double Element::angle(std::string_view attribute, double fallback, bool is_angle) const {
  if (!has(attribute)) return fallback;
  return number(attribute, 0.0) * (is_angle && options_.degrees ? radians_per_degree : 1.0);
}

std::vector<double> Element::numbers(std::string_view attribute, std::size_t count) const {
  const std::string* value = find(attribute);
  if (value == nullptr) {
    fail("attribute " + in_quotes(attribute) + " is missing, expected numbers");
  }
  return numbers_of(node_, who_, "attribute " + in_quotes(attribute), *value, count);
}

Vec3<double> Element::vector(std::string_view attribute, const Vec3<double>& fallback) const {
  if (!has(attribute)) return fallback;
  const auto v = numbers(attribute, 3);
  return {v[0], v[1], v[2]};
}

bool Element::boolean(std::string_view attribute, bool fallback) const {
  const std::string* value = find(attribute);
  if (value == nullptr) return fallback;
  if (*value == "true" || *value == "enable") return true;
  if (*value == "false" || *value == "disable") return false;
  fail("attribute " + in_quotes(attribute) + " is " + in_quotes(*value) +
       ", expected true or false");
}

std::string Element::word(std::string_view attribute, const std::string& fallback,
                          const std::vector<std::string>& words) const {
  const std::string value = text(attribute, fallback);
  if (std::find(words.begin(), words.end(), value) == words.end()) {
    fail("attribute " + in_quotes(attribute) + " is " + in_quotes(value) + suggest(value, words));
  }
  return value;
}

std::optional<std::pair<double, double>> Element::bounds(std::string_view range,
                                                         std::string_view limited) const {
  const std::string asked = word(limited, "auto", {"auto", "true", "false"});
  if (asked == "false" || (asked == "auto" && !(options_.autolimits && has(range)))) return {};
  const auto v = has(range) ? numbers(range, 2) : std::vector<double>{0.0, 0.0};
  if (v[0] < v[1]) return std::pair(v[0], v[1]);
  if (asked == "auto") return {};  // as in MuJoCo
  fail("attribute " + in_quotes(range) + " leaves no room and " + in_quotes(limited) +
       " is true, expected a lower bound and a larger upper one");
}

Mat3<double> Element::orientation() const {
  std::string_view used;
  for (const std::string_view o : orientations) {
    if (!has(o)) continue;
    if (!used.empty()) {
      fail("orientation is given by " + in_quotes(used) + " and " + in_quotes(o) +
           ", expected one of them");
    }
    used = o;
  }
  if (used.empty()) return Mat3<double>::identity();
  const auto refuse_zero = [&](double length) {
    if (!(length > 1e-14)) {
      fail("attribute " + in_quotes(used) + " is " + in_quotes(*find(used)) +
           ", expected directions that are not zero or parallel");
    }
  };
  if (used == "quat") {
    const auto v = numbers(used, 4);
    const double norm = std::hypot(std::hypot(v[0], v[1], v[2]), v[3]);
    refuse_zero(norm);
    const double q[4] = {v[1] / norm, v[2] / norm, v[3] / norm, v[0] / norm};
    return quaternion_to_E(q);
  }
  const double unit_of_angle = options_.degrees ? radians_per_degree : 1.0;
  if (used == "axisangle") {
    const auto v = numbers(used, 4);
    const Vec3<double> axis{v[0], v[1], v[2]};
    refuse_zero(std::sqrt(dot(axis, axis)));
    return turned_about(unit(axis), v[3] * unit_of_angle);
  }
  if (used == "xyaxes") {
    const auto v = numbers(used, 6);
    Vec3<double> x{v[0], v[1], v[2]}, y{v[3], v[4], v[5]};
    refuse_zero(std::sqrt(dot(x, x)));
    x = unit(x);
    y = y - scale(dot(x, y), x);
    refuse_zero(std::sqrt(dot(y, y)));
    y = unit(y);
    const Vec3<double> z = cross(x, y);
    return {{x, y, z}};
  }
  if (used == "zaxis") {
    const Vec3<double> z = vector(used, {0, 0, 1});
    refuse_zero(std::sqrt(dot(z, z)));
    return z_onto(z);
  }
  const Vec3<double> angles = vector(used, {0, 0, 0});
  Mat3<double> E = Mat3<double>::identity();
  for (int i = 0; i < 3; ++i) {
    const char letter = options_.eulerseq[static_cast<std::size_t>(i)];
    const char axis = static_cast<char>(std::tolower(letter));
    const Mat3<double> turn =
        turned_about({axis == 'x' ? 1.0 : 0.0, axis == 'y' ? 1.0 : 0.0, axis == 'z' ? 1.0 : 0.0},
                     angles[i] * unit_of_angle);
    // Small letters turn about the frame's own axes, capitals about the parent's.
    E = letter == axis ? turn * E : E * turn;
  }
  return E;
}

Transform<double> Element::frame() const { return {orientation(), vector("pos", {0, 0, 0})}; }

}  // namespace espalier::mjcf
