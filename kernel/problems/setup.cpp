#include "espalier/kernel/problems/setup.hpp"

#include <algorithm>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier {

namespace {

EndEffector unit_rows(std::string_view link, const Vec3<double>& offset, EndEffector::Axes axes,
                      int first) {
  EndEffector e;
  e.link = link;
  e.offset = offset;
  e.axes = axes;
  for (int i = first; i < 6; ++i) {
    e.rows.push_back({});
    e.rows.back()[i] = 1.0;
  }
  return e;
}

struct KindName {
  Sensor::Kind kind;
  std::string_view name, preposition;
};
constexpr KindName kinds[] = {{Sensor::Kind::acceleration, "acceleration", " of "},
                              {Sensor::Kind::torque, "torque", " of "},
                              {Sensor::Kind::wrench, "wrench", " on "},
                              {Sensor::Kind::joint_wrench, "joint-wrench", " of "},
                              {Sensor::Kind::accelerometer, "accelerometer", " on "},
                              {Sensor::Kind::angular_acceleration, "angular-acceleration", " of "},
                              {Sensor::Kind::gyroscope, "gyroscope", " on "},
                              {Sensor::Kind::motor, "motor", " of "},
                              {Sensor::Kind::contact, "contact", " on "}};

const KindName& entry(Sensor::Kind kind) {
  return *std::find_if(std::begin(kinds), std::end(kinds),
                       [&](const KindName& k) { return k.kind == kind; });
}

}  // namespace

EndEffector EndEffector::weld(std::string_view link, const Vec3<double>& offset, Axes axes) {
  return unit_rows(link, offset, axes, 0);
}

EndEffector EndEffector::contact(std::string_view link, const Vec3<double>& offset, Axes axes) {
  return unit_rows(link, offset, axes, 3);
}

std::vector<EndEffector> tips(const Model& model) {
  std::vector<bool> carries(model.body_count() + 1, false);
  for (int i = 1; i <= model.active_body_count(); ++i) carries[model.body(i).parent] = true;
  std::vector<EndEffector> all;
  for (int i = 1; i <= model.active_body_count(); ++i) {
    if (!carries[i]) all.push_back(EndEffector::weld(model.body_names()[i]));
  }
  return all;
}

std::string_view to_string(Sensor::Kind kind) { return entry(kind).name; }

const std::vector<Sensor::Kind>& sensor_kinds() {
  static const std::vector<Sensor::Kind> all = [] {
    std::vector<Sensor::Kind> list;
    for (const KindName& k : kinds) list.push_back(k.kind);
    return list;
  }();
  return all;
}

Sensor::Kind Sensor::kind_of(std::string_view name) {
  std::string known;
  for (const KindName& k : kinds) {
    if (k.name == name) return k.kind;
    known += (known.empty() ? "" : ", ") + std::string(k.name);
  }
  throw UnknownName("sensors: kind " + text::quoted(name) + " is unknown, expected one of " +
                    known);
}

Sensor::Row Sensor::row_of(std::string_view component) {
  constexpr std::string_view wrench[] = {"mx", "my", "mz", "fx", "fy", "fz"};
  constexpr std::string_view motion[] = {"wx", "wy", "wz", "ax", "ay", "az"};
  Row row{};
  for (int i = 0; i < 6; ++i) {
    if (component != wrench[i] && component != motion[i]) continue;
    row[i] = 1.0;
    return row;
  }
  throw UnknownName("sensors: component " + text::quoted(component) +
                    " is unknown, expected one of mx, my, mz, fx, fy, fz (of wrenches), wx, wy, "
                    "wz, ax, ay, az (of accelerations)");
}

std::string Sensor::label() const {
  if (!name.empty()) return name;
  const KindName& k = entry(kind);
  return std::string(k.name) + std::string(k.preposition) + (joint.empty() ? link : joint);
}

std::vector<Sensor> forward_sensors(const Model& model) { return hybrid_sensors(model, {}); }

std::vector<Sensor> inverse_sensors(const Model& model) {
  std::vector<std::string> all;
  for (const Coordinate& c : model.coordinates()) all.push_back(c.joint);
  return hybrid_sensors(model, all);
}

std::vector<Sensor> hybrid_sensors(const Model& model,
                                   const std::vector<std::string>& accelerated) {
  const std::vector<Coordinate> coordinates = model.coordinates();
  for (const std::string& name : accelerated) {
    model.joint(name);
    if (std::any_of(coordinates.begin(), coordinates.end(),
                    [&](const Coordinate& c) { return c.joint == name; })) {
      continue;
    }
    throw InvalidModel("hybrid dynamics of '" + model.name() + "': joint " + text::quoted(name) +
                       " depends on other joints, expected joints with independent rates");
  }
  std::vector<Sensor> all;
  for (const Coordinate& c : coordinates) {
    if (std::find(accelerated.begin(), accelerated.end(), c.joint) == accelerated.end()) {
      all.push_back({.kind = Sensor::Kind::torque, .joint = c.name});
      continue;
    }
    all.push_back({.kind = Sensor::Kind::motor, .joint = c.name});
    all.push_back({.kind = Sensor::Kind::acceleration, .joint = c.name});
  }
  return all;
}

}  // namespace espalier
