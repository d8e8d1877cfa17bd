#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/xml/node.hpp"

/// Elements of MJCF as the reader sees them: with the defaults of their class, angles in radians.

namespace espalier::mjcf {

using formats::XmlNode;

/// Attributes of <compiler> that decide how all others are read.
struct CompilerOptions {
  bool degrees = true;
  std::string eulerseq = "xyz";
  bool autolimits = true;
  enum class FromGeom { no, yes, automatic } inertia_from_geom = FromGeom::automatic;
  int first_group = 0, last_group = 1 << 20;  ///< of geoms that count for inertia
  bool balance_inertia = false;
  double bound_mass = 0.0, bound_inertia = 0.0;
  double total_mass = -1.0;  ///< -1: as it is
  bool global = false;       ///< coordinates of all elements are of the world
  std::string mesh_folder;
};

using AttributeMap = std::map<std::string, std::string, std::less<>>;

/// Default classes: attributes by element, inherited from the class around it.
class Defaults {
 public:
  /// @param node  a <default> element, at the top level of the file
  void read(const XmlNode& node) { read(node, {}); }
  /// Attributes that elements of a name have in a class; empty: the main class.
  /// @throws InvalidModel if there is no such class
  const AttributeMap* find(const XmlNode& at, const std::string& who, const std::string& cls) const;

 private:
  using Class = std::map<std::string, AttributeMap, std::less<>>;
  void read(const XmlNode& node, const Class& inherited);

  std::map<std::string, Class> classes_;
  std::string main_;
};

/// One element, its class's attributes behind its own.
class Element {
 public:
  Element(const XmlNode& node, std::string who, const CompilerOptions& options,
          const AttributeMap* defaults)
      : node_(node), who_(std::move(who)), options_(options), defaults_(defaults) {}

  const XmlNode& node() const { return node_; }
  const std::string& who() const { return who_; }
  const std::string* find(std::string_view attribute) const;
  bool has(std::string_view attribute) const { return find(attribute) != nullptr; }

  std::string text(std::string_view attribute, const std::string& fallback = "") const;
  /// @throws InvalidModel if it is missing or no name
  std::string name(std::string_view attribute) const;
  double number(std::string_view attribute, double fallback) const;
  /// An angle in radians, whatever the file uses, where `is_angle`.
  double angle(std::string_view attribute, double fallback, bool is_angle = true) const;
  std::vector<double> numbers(std::string_view attribute, std::size_t count) const;
  Vec3<double> vector(std::string_view attribute, const Vec3<double>& fallback) const;
  bool boolean(std::string_view attribute, bool fallback) const;
  /// One of the words. @throws InvalidModel listing them
  std::string word(std::string_view attribute, const std::string& fallback,
                   const std::vector<std::string>& words) const;
  /// Bounds by an attribute, if its companion ("true", "false", "auto") says that they hold.
  /// @throws InvalidModel if they are asked for and leave no room
  std::optional<std::pair<double, double>> bounds(std::string_view range,
                                                  std::string_view limited) const;
  /// `pos` and quat, axisangle, xyaxes, zaxis or euler: from the parent's frame.
  Transform<double> frame() const;
  Mat3<double> orientation() const;
  [[noreturn]] void fail(const std::string& what) const { node_.fail(who_, what); }

 private:
  const XmlNode& node_;
  std::string who_;
  const CompilerOptions& options_;
  const AttributeMap* defaults_;
};

/// A turn by an angle about a unit axis, as E (before to after).
Mat3<double> turned_about(const Vec3<double>& axis, double angle);
/// The rotation that turns z into a direction on the shortest way, as E (parent to child).
Mat3<double> z_onto(const Vec3<double>& direction);
/// As Pose::from(), with angles of exactly 0 where there is no rotation.
Pose pose_of(const Transform<double>& X);

}  // namespace espalier::mjcf
