#include "formats/urdf/urdf_elements.hpp"

#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "formats/text.hpp"

namespace espalier::urdf {

using formats::in_quotes;

void Elements::use_prefix_of(const XMLElement& root) {
  const std::string_view name = root.Name();
  const auto colon = name.find(':');
  if (colon != std::string_view::npos) prefix_ = name.substr(0, colon + 1);
}

std::string_view Elements::local_name(const XMLElement& e) const {
  const std::string_view full = e.Name();
  return full.starts_with(prefix_) ? full.substr(prefix_.size()) : std::string_view();
}

bool Elements::is(const XMLElement& e, std::string_view local) const {
  return local_name(e) == local;
}

Vec3<double> Elements::axis(const std::string& who, const XMLElement& parent) const {
  const XMLElement* e = child(who, parent, "axis");
  return e ? vector(who, *e, "xyz", {1, 0, 0}) : Vec3<double>{1, 0, 0};
}

Pose Elements::pose(const std::string& who, const XMLElement& parent, const char* element) const {
  const XMLElement* e = child(who, parent, element);
  if (e == nullptr) return {};
  Pose pose{vector(who, *e, "xyz", {0, 0, 0}), vector(who, *e, "rpy", {0, 0, 0})};
  const char* quaternion = e->Attribute("quat_xyzw");  // URDF 1.1 and later
  if (quaternion == nullptr) return pose;
  const auto q = formats::parse_numbers(quaternion);
  double norm = 0.0;
  if (q && q->size() == 4) norm = std::hypot(std::hypot((*q)[0], (*q)[1], (*q)[2]), (*q)[3]);
  if (e->Attribute("rpy") != nullptr || !(norm > 1e-9) || !std::isfinite(norm)) {
    fail(who, *e,
         "attribute 'quat_xyzw' of <origin> is " + in_quotes(quaternion) +
             ", expected four numbers that are not all zero, and no 'rpy' beside them");
  }
  double unit[4];
  for (std::size_t i = 0; i < 4; ++i) unit[i] = (*q)[i] / norm;
  return Pose::from({quaternion_to_E(unit), pose.xyz});
}

Parameters Elements::parameters(const std::string& who, const XMLElement& parent) const {
  Parameters parameters;
  for (const XMLElement* e = parent.FirstChildElement(); e; e = e->NextSiblingElement()) {
    if (!is(*e, "parameter")) continue;
    const std::string key = name(who, *e, "name");
    const char* text = e->Attribute("value");
    const auto values = formats::parse_numbers(text ? text : "");
    if (!values || values->empty()) {
      fail(who, *e,
           "parameter " + in_quotes(key) + " is " + in_quotes(text ? text : "") +
               ", expected one or more finite numbers" +
               formats::advice_on_number(text ? text : ""));
    }
    if (!parameters.emplace(key, *values).second) {
      fail(who, *e, "parameter " + in_quotes(key) + " is given twice, expected it once");
    }
  }
  return parameters;
}

Vec3<double> Elements::vector(const std::string& who, const XMLElement& e, const char* attribute,
                              Vec3<double> fallback) const {
  const char* text = e.Attribute(attribute);
  if (text == nullptr) return fallback;
  const auto v = formats::parse_numbers(text);
  if (!v || v->size() != 3) {
    fail(who, e,
         attribute_of(attribute, e) + in_quotes(text) + ", expected three finite numbers" +
             formats::advice_on_number(text));
  }
  return {(*v)[0], (*v)[1], (*v)[2]};
}

Vec3<double> Elements::required_vector(const std::string& who, const XMLElement& e,
                                       const char* attribute) const {
  if (e.Attribute(attribute) == nullptr) {
    fail(who, e, attribute_of(attribute, e) + "missing, expected three finite numbers");
  }
  return vector(who, e, attribute, {0, 0, 0});
}

std::vector<double> Elements::numbers(const std::string& who, const XMLElement& e,
                                      const char* attribute) const {
  const char* text = e.Attribute(attribute);
  const auto v = formats::parse_numbers(text ? text : "");
  if (!v || v->empty()) {
    fail(who, e,
         attribute_of(attribute, e) + in_quotes(text ? text : "") + ", expected finite numbers" +
             formats::advice_on_number(text ? text : ""));
  }
  return *v;
}

std::optional<double> Elements::optional_number(const std::string& who, const XMLElement& e,
                                                const char* attribute) const {
  const char* text = e.Attribute(attribute);
  if (text == nullptr) return std::nullopt;
  const auto value = formats::parse_number(text);
  if (!value) {
    fail(who, e,
         attribute_of(attribute, e) + in_quotes(text) + ", expected a finite number" +
             formats::advice_on_number(text));
  }
  return value;
}

double Elements::number(const std::string& who, const XMLElement& e, const char* attribute,
                        std::optional<double> fallback) const {
  const auto value = optional_number(who, e, attribute);
  if (value) return *value;
  if (fallback) return *fallback;
  fail(who, e, attribute_of(attribute, e) + "missing, expected a finite number");
}

std::optional<bool> Elements::boolean(const std::string& who, const XMLElement& e,
                                      const char* attribute) const {
  const char* text = e.Attribute(attribute);
  if (text == nullptr) return std::nullopt;
  const auto value = formats::parse_bool(text);
  if (!value)
    fail(who, e, attribute_of(attribute, e) + in_quotes(text) + ", expected true or false");
  return value;
}

std::string Elements::name(const std::string& who, const XMLElement& e,
                           const char* attribute) const {
  const char* text = e.Attribute(attribute);
  if (text == nullptr) fail(who, e, attribute_of(attribute, e) + "missing, expected a name");
  if (!formats::is_name(text)) {
    fail(who, e,
         attribute_of(attribute, e) + in_quotes(text) +
             ", expected one or more characters without control characters");
  }
  return text;
}

const XMLElement* Elements::child(const std::string& who, const XMLElement& parent,
                                  const char* local) const {
  const XMLElement* found = nullptr;
  for (const XMLElement* e = parent.FirstChildElement(); e; e = e->NextSiblingElement()) {
    if (!is(*e, local)) continue;
    if (found != nullptr) {
      fail(who, *e,
           "<" + std::string(local) + "> is given a second time (the first is at line " +
               std::to_string(found->GetLineNum()) + "), expected it once");
    }
    found = e;
  }
  return found;
}

const XMLElement& Elements::required_child(const std::string& who, const XMLElement& parent,
                                           const char* local) const {
  const XMLElement* e = child(who, parent, local);
  if (e == nullptr) {
    fail(who, parent,
         "element <" + std::string(local) + "> in <" + parent.Name() +
             "> is missing, expected it once");
  }
  return *e;
}

std::string Elements::attribute_of(const char* attribute, const XMLElement& e) {
  return "attribute '" + std::string(attribute) + "' of <" + e.Name() + "> is ";
}

void Elements::fail(const std::string& who, const XMLElement& e, const std::string& what) const {
  throw InvalidModel(who + " (" + at(e).text() + "): " + what);
}

}  // namespace espalier::urdf
