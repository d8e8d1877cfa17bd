#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/format.hpp"
#include "tests/support/contents.hpp"

namespace espalier::test {

/// What differs between two descriptions, as one text per difference; `where` is not compared.
/// Numbers have to be equal, not close: writing and reading keeps every digit.
class Differences {
 public:
  static std::vector<std::string> of(const Description& a, const Description& b) {
    Differences d;
    d.compare("name", a.name, b.name);
    d.compare("gravity", a.gravity, b.gravity);
    d.each("link", a.links, b.links, [&](const auto& who, const auto& x, const auto& y) {
      d.compare(who + "name", x.name, y.name);
      d.compare(who + "has inertial", x.inertial.has_value(), y.inertial.has_value());
      d.shapes(who + "visual", x.visuals, y.visuals);
      d.shapes(who + "collision", x.collisions, y.collisions);
      d.compare(who + "number of frames", x.frames.size(), y.frames.size());
      for (std::size_t i = 0; i < std::min(x.frames.size(), y.frames.size()); ++i) {
        d.compare(who + "frame name", x.frames[i].name, y.frames[i].name);
        d.compare(who + "frame origin", x.frames[i].origin, y.frames[i].origin);
      }
      if (!x.inertial || !y.inertial) return;
      d.compare(who + "mass", x.inertial->mass, y.inertial->mass);
      d.compare(who + "inertial origin", x.inertial->origin, y.inertial->origin);
      const Sym3<double>&I = x.inertial->I, &J = y.inertial->I;
      d.compare(who + "I diagonal", Vec3<double>{I.xx, I.yy, I.zz}, {J.xx, J.yy, J.zz});
      d.compare(who + "I off-diagonal", Vec3<double>{I.xy, I.xz, I.yz}, {J.xy, J.xz, J.yz});
    });
    d.each("joint", a.joints, b.joints, [&](const auto& who, const auto& x, const auto& y) {
      d.compare(who + "name", x.name, y.name);
      d.compare(who + "type", x.type, y.type);
      d.compare(who + "parent", x.parent, y.parent);
      d.compare(who + "child", x.child, y.child);
      d.compare(who + "origin", x.origin, y.origin);
      d.compare(who + "axis", x.axis, y.axis);
      d.compare(who + "parameters", x.parameters, y.parameters);
      d.compare(who + "lower", x.limits.lower, y.limits.lower);
      d.compare(who + "upper", x.limits.upper, y.limits.upper);
      d.compare(who + "velocity", x.limits.velocity, y.limits.velocity);
      d.compare(who + "effort", x.limits.effort, y.limits.effort);
      d.compare(who + "damping", x.passive.damping, y.passive.damping);
      d.compare(who + "friction", x.passive.friction, y.passive.friction);
      d.compare(who + "stiffness", x.passive.stiffness, y.passive.stiffness);
      d.compare(who + "rest", x.passive.rest, y.passive.rest);
      d.compare(who + "armature", x.armature, y.armature);
      d.compare(who + "independent", x.independent, y.independent);
      d.compare(who + "has mimic", x.mimic.has_value(), y.mimic.has_value());
      if (!x.mimic || !y.mimic) return;
      d.compare(who + "mimic joint", x.mimic->joint, y.mimic->joint);
      d.compare(who + "multiplier", x.mimic->multiplier, y.mimic->multiplier);
      d.compare(who + "offset", x.mimic->offset, y.mimic->offset);
    });
    d.each("loop", a.loops, b.loops, [&](const auto& who, const auto& x, const auto& y) {
      d.compare(who + "name", x.name, y.name);
      d.compare(who + "type", x.type, y.type);
      d.compare(who + "predecessor", x.predecessor, y.predecessor);
      d.compare(who + "successor", x.successor, y.successor);
      d.compare(who + "predecessor origin", x.predecessor_origin, y.predecessor_origin);
      d.compare(who + "successor origin", x.successor_origin, y.successor_origin);
      d.compare(who + "axis", x.axis, y.axis);
      d.compare(who + "parameters", x.parameters, y.parameters);
    });
    d.each("coupling", a.couplings, b.couplings,
           [&](const auto& who, const auto& x, const auto& y) {
             d.compare(who + "name", x.name, y.name);
             d.compare(who + "predecessor", x.predecessor, y.predecessor);
             d.compare(who + "successor", x.successor, y.successor);
             d.compare(who + "ratio", x.ratio, y.ratio);
           });
    d.each("law", a.laws, b.laws, [&](const auto& who, const auto& x, const auto& y) {
      d.compare(who + "name", x.name, y.name);
      d.compare(who + "type", x.type, y.type);
      d.compare(who + "joints", x.joints, y.joints);
      d.compare(who + "parameters", x.parameters, y.parameters);
    });
    d.each("state", a.states, b.states, [&](const auto& who, const auto& x, const auto& y) {
      d.compare(who + "name", x.name, y.name);
      d.compare(who + "positions", x.positions, y.positions);
      d.compare(who + "velocities", x.velocities, y.velocities);
    });
    d.each("actuator", a.actuators, b.actuators,
           [&](const auto& who, const auto& x, const auto& y) {
             d.compare(who + "name", x.name, y.name);
             d.compare(who + "gear", x.gear, y.gear);
             d.compare(who + "lower", x.lower, y.lower);
             d.compare(who + "upper", x.upper, y.upper);
           });
    d.pairs("excluded contact", a.excluded_contacts, b.excluded_contacts);
    d.pairs("contact pair", a.contact_pairs, b.contact_pairs);
    return d.found_;
  }

 private:
  template <class T>
  void compare(const std::string& what, const T& a, const T& b) {
    if (!(a == b)) found_.push_back(what + " differs");
  }
  void compare(const std::string& what, const Vec3<double>& a, const Vec3<double>& b) {
    if (a.x != b.x || a.y != b.y || a.z != b.z) found_.push_back(what + " differs");
  }
  void pairs(const std::string& who, const std::vector<PairDescription>& a,
             const std::vector<PairDescription>& b) {
    compare("number of " + who + "s", a.size(), b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      compare(who + " first", a[i].first, b[i].first);
      compare(who + " second", a[i].second, b[i].second);
    }
  }
  void shapes(const std::string& who, const std::vector<ShapeDescription>& a,
              const std::vector<ShapeDescription>& b) {
    compare("number of " + who + " shapes", a.size(), b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      compare(who + " name", a[i].name, b[i].name);
      compare(who + " shape", a[i].shape, b[i].shape);
      compare(who + " origin", a[i].origin, b[i].origin);
      compare(who + " color", a[i].color, b[i].color);
      compare(who + " material", a[i].material, b[i].material);
      compare(who + " friction", a[i].friction, b[i].friction);
      compare(who + " torsional friction", a[i].torsional_friction, b[i].torsional_friction);
      compare(who + " rolling friction", a[i].rolling_friction, b[i].rolling_friction);
    }
  }
  template <class T, class F>
  void each(const std::string& kind, const std::vector<T>& a, const std::vector<T>& b, F f) {
    compare("number of " + kind + "s", a.size(), b.size());
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      f(kind + " '" + a[i].name + "' ", a[i], b[i]);
    }
  }

  std::vector<std::string> found_;
};

inline void expect_same(const Description& a, const Description& b) {
  EXPECT_EQ(Differences::of(a, b), std::vector<std::string>{});
}

/// The message of the error E that `f` throws; fails if it throws none.
template <class E = InvalidModel>
std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error was thrown";
  return "";
}

/// Every part has to be in the message.
inline void expect_in(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' in: " << message;
  }
}

/// URDF files of the repository and, where they are there, those beside it, sorted.
inline std::vector<std::filesystem::path> urdf_files() {
  std::vector<std::filesystem::path> robots;
  std::vector<std::string> folders{ESPALIER_SOURCE_DIR "/robots",
                                   ESPALIER_SOURCE_DIR "/tests/reference/robots",
                                   ESPALIER_SOURCE_DIR "/tests/cli/data"};
#ifdef ESPALIER_SHARED_DIR
  folders.emplace_back(ESPALIER_SHARED_DIR "/robots");
#endif
  for (const std::string& folder : folders) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".urdf") robots.push_back(entry.path());
    }
  }
  std::sort(robots.begin(), robots.end());
  return robots;
}

/// A robot that uses every field of a Description, with numbers that need all their digits.
inline Description everything() {
  Description d;
  d.name = "every & <thing> \"quoted\" 'é'";
  d.gravity = {0.1, -1.0 / 3.0, -9.80665};
  d.links.resize(4);
  d.links[0].name = "ground";
  d.links[1].name = "a <b> & \"c\"";
  d.links[1].inertial = Inertial{{{0.1, 0.2, 1.0 / 3.0}, {0.01, -0.02, 0.03}},
                                 1.0 / 7.0,
                                 {1e-5, -2e-7, 3e-300, 1.1e-5, 4e-7, 1.2345678901234567e-5}};
  d.links[2].name = "1e5";  // looks like a number
  d.links[2].inertial = Inertial{{}, 2.0, {1, 0, 0, 1, 0, 1}};
  d.links[3].name = "null";
  const auto shape = [](const Shape& s, const std::string& name = "") {
    ShapeDescription out;
    out.shape = s, out.name = name;
    return out;
  };
  auto& visuals = d.links[1].visuals;
  visuals = {shape(Box{{0.1, 1.0 / 3.0, 2e-3}}, "cover <1>"),
             shape(Mesh{"package://a b/c.stl"}),
             shape(Mesh{"../m.dae", {0.001, -0.001, 1.0 / 7.0}}),
             shape(Ellipsoid{{1, 2, 3}}),
             shape(Sphere{0.05}),
             shape(Plane{2, 0}),
             shape(HeightField{"h.png", {4, 5, 6}, 0.5})};
  visuals[0].origin = {{1, 2, 3}, {0.1, 0.2, 0.3}};
  visuals[0].color = Color{0.1, 0.2, 1.0 / 3.0, 0.5};
  visuals[1].material = "steel & \"iron\"";
  visuals[3].color = Color{1, 0, 0, 1};
  visuals[3].material = "red";
  d.links[2].collisions = {shape(Cylinder{0.1, 0.2}, "1e3"), shape(Capsule{0.3, 0.4}),
                           shape(HeightField{"", {1, 2, 3}, 0.1, 2, 3, {0, 1, 0.5, 0.25, 0.1, 1}})};
  d.links[2].collisions[1].friction = 0.7;
  d.links[2].collisions[2].friction = 1.0 / 3.0;
  d.links[2].collisions[2].torsional_friction = 0.01 / 7.0;
  d.links[2].collisions[0].rolling_friction = 1e-4 / 3.0;  // without the others
  d.links[3].collisions = {shape(Plane{})};                // of a massless link
  d.links[3].frames = {{"tool: \"centre\"", {{0.1 + 0.2, 0, 0}, {0, 1, 0}}, {}}, {"site", {}, {}}};
  d.joints.resize(3);
  JointDescription& j = d.joints[0];
  j.name = "screw: drive";
  j.type = "helical";
  j.parent = d.links[0].name;
  j.child = d.links[1].name;
  j.origin = {{1e-17, -0.0, 12345678.9}, {0.1, 0.7, -3.0}};
  j.axis = {0.6, 0, 0.8};
  j.parameters = {{"pitch", {0.1 + 0.2}}, {"list", {1, 2.5, -1e-9}}};
  j.limits = {-0.1, 0.3, 20.0, 150.5};
  j.passive = {0.11, 0.22, 33.0, -0.44};
  j.armature = 0.0123;
  j.mimic = Mimic{"other", -2.0 / 3.0, 0.1};
  j.independent = false;
  d.joints[1].name = "other";
  d.joints[1].type = "continuous";
  d.joints[1].parent = d.links[1].name;
  d.joints[1].child = d.links[2].name;
  d.joints[1].limits.upper = 1.5;  // on one side only
  d.joints[1].independent = true;
  d.joints[2].name = "one-sided";
  d.joints[2].type = "prismatic";
  d.joints[2].parent = d.links[2].name;
  d.joints[2].child = d.links[3].name;
  d.joints[2].limits.lower = -2.5;
  d.loops.resize(2);
  d.loops[0].name = "closure";
  d.loops[0].type = "universal";
  d.loops[0].predecessor = d.links[1].name;
  d.loops[0].successor = d.links[3].name;
  d.loops[0].predecessor_origin = {{1, 2, 3}, {0.1, 0.2, 0.3}};
  d.loops[0].successor_origin = {{-1, 0, 1e-3}, {0, 0, 0}};
  d.loops[0].axis = {0, -1, 0};
  d.loops[0].parameters = {{"axis2", {0, 0, 1}}};
  d.loops[1].name = "link of constant length";
  d.loops[1].type = "rod";
  d.loops[1].predecessor = d.links[0].name;
  d.loops[1].successor = d.links[2].name;
  d.loops[1].predecessor_origin = {{0.1 + 0.2, 0, 0}, {0, 0, 0}};
  d.loops[1].parameters = {{"length", {2.0 / 7.0}}};
  d.couplings.resize(1);
  d.couplings[0].name = "gear";
  d.couplings[0].predecessor = d.links[1].name;
  d.couplings[0].successor = d.links[2].name;
  d.couplings[0].ratio = -6.123456789012345;
  d.laws.resize(1);
  d.laws[0].name = "law: of <two>";
  d.laws[0].type = "cam & follower";
  d.laws[0].joints = {d.joints[2].name, d.joints[0].name};
  d.laws[0].parameters = {{"lift", {1.0 / 3.0}}, {"profile", {0.1, -2.5e-7, 3}}};
  d.states.resize(2);
  d.states[0].name = "at rest & <standing>";
  d.states[0].positions = {{"other", {1.0 / 3.0}}, {"screw: drive", {-0.1}}};
  d.states[0].velocities = {{"other", {1e-17}}, {"one-sided", {1, 2, 3}}};
  d.states[1].name = "neutral";
  d.actuators.resize(2);
  d.actuators[0].name = "motor: 1";
  d.actuators[0].gear = {{"other", {6.0 + 1.0 / 7.0}}, {"one-sided", {1, 0, -2}}};
  d.actuators[0].lower = -0.3;
  d.actuators[1].name = "idle";
  d.excluded_contacts = {{d.links[0].name, d.links[1].name, {}}, {"1e5", "null", {}}};
  d.contact_pairs = {{"cover <1>", "1e3", {}}};
  return d;
}

}  // namespace espalier::test
