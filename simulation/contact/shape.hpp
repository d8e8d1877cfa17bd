#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/description.hpp"

/// What touches what: shapes on links and on the ground, and how they rub and bounce.

namespace espalier::contact {

/// A solid, in a frame of its own.
struct ESPALIER_API Shape {
  enum class Kind { sphere, capsule, box, cylinder, hull, plane, height_field };
  static constexpr int most_corners = 32;

  Kind kind = Kind::sphere;
  double radius = 0.0;         ///< of sphere, capsule and cylinder [m]
  double half_length = 0.0;    ///< of capsule and cylinder along z, caps not counted [m]
  Vec3<double> half{0, 0, 0};  ///< half edges of a box [m]
  /// Of a hull: at most 32 corners. [m]
  std::vector<Vec3<double>> vertices = {};
  /// All corners of a hull that has more, for colliders that take any number; else empty. [m]
  std::vector<Vec3<double>> whole = {};
  /// Of a height field: columns along x, rows along y, row by row; the first stands at (0, 0). Each
  /// cell is two triangles, parted by the diagonal from its least corner. [m]
  std::vector<double> heights = {};
  int columns = 0, rows = 0;
  double spacing = 0.0;  ///< [m]

  static Shape sphere(double radius);
  static Shape capsule(double radius, double half_length);
  static Shape cylinder(double radius, double half_length);
  static Shape box(const Vec3<double>& half);
  static Shape hull(std::vector<Vec3<double>> vertices);
  /// All below z = 0.
  static Shape plane();
  /// Corners of a hull, all that are known.
  const std::vector<Vec3<double>>& corners() const { return whole.empty() ? vertices : whole; }
  static Shape height_field(int columns, int rows, double spacing, std::vector<double> heights);

  /// @throws InvalidModel for sizes that are not positive and finite, more corners than 32, or a
  ///         number of heights that is not columns * rows
  void validate(std::string_view who) const;
};
ESPALIER_API std::string_view to_string(Shape::Kind kind);

/// How a surface rubs and bounces. Two that touch: friction is the geometric mean, restitution the
/// larger one, and stiffnesses are in series.
struct Surface {
  double friction = 0.7;     ///< Coulomb's coefficient
  double restitution = 0.0;  ///< 0 to 1
  double stiffness = 0.0;    ///< 0: rigid; else of each point [N/m]
  double damping = 0.0;      ///< beside a stiffness, of each point [N·s/m]

  /// @throws InvalidModel for numbers out of range
  ESPALIER_API void validate(std::string_view who) const;
};
/// Of two that touch.
ESPALIER_API Surface pair_surface(const Surface& a, const Surface& b);

/// A shape at its place.
struct PlacedShape {
  std::string link = {};  ///< empty: fixed to the ground
  Shape shape;
  Pose pose{};  ///< of the shape's frame in the link
  Surface surface{};
  std::string name = {};  ///< for messages and results; empty: that of the link
  /// Two shapes touch if the bits of one's type meet the other's affinity, as in MJCF.
  unsigned type = 1, affinity = 1;
};

/// Everything that may touch.
struct ESPALIER_API World {
  std::vector<PlacedShape> shapes;
  /// Whether links of the robot touch each other. Two links with a joint between them never do,
  /// nor do those with several, where what is between has no mass.
  bool self_collision = false;
  /// Pairs of links that do not touch each other; an empty name is the ground.
  std::vector<std::pair<std::string, std::string>> excluded = {};
  /// Points nearer than this are looked at [m].
  double margin = 0.02;

  /// A horizontal plane at a height.
  static PlacedShape ground(const Surface& surface = {}, double height = 0.0);
};

}  // namespace espalier::contact
