#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/description.hpp"

/// What touches what: shapes on links and on the ground, and how they rub and bounce.

namespace espalier::contact {

/// A solid, in a frame of its own.
struct ESPALIER_API Shape {
  /// What a solid can be.
  enum class Kind { sphere, capsule, box, cylinder, hull, plane, height_field };
  static constexpr int most_corners = 32;  ///< of a hull in closed form

  Kind kind = Kind::sphere;    ///< says which of the numbers below count
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
  int columns = 0;       ///< of a height field
  int rows = 0;          ///< of a height field
  double spacing = 0.0;  ///< of its points along x and y [m]

  /// About the frame's origin. @param radius  [m]
  static Shape sphere(double radius);
  /// Along z. @param radius, half_length  [m], caps not counted
  static Shape capsule(double radius, double half_length);
  /// Along z. @param radius, half_length  [m]
  static Shape cylinder(double radius, double half_length);
  /// About the frame's origin. @param half  half edges [m]
  static Shape box(const Vec3<double>& half);
  /// The convex hull of points. @param vertices  [m]
  static Shape hull(std::vector<Vec3<double>> vertices);
  /// All below z = 0.
  static Shape plane();
  /// Corners of a hull, all that are known.
  const std::vector<Vec3<double>>& corners() const { return whole.empty() ? vertices : whole; }
  /// @param columns, rows, spacing, heights  as the members of these names
  static Shape height_field(int columns, int rows, double spacing, std::vector<double> heights);

  /// @throws InvalidModel for sizes that are not positive and finite, more corners than 32, or a
  ///         number of heights that is not columns * rows
  void validate(std::string_view who) const;
};
/// "sphere", ...
ESPALIER_API std::string_view to_string(Shape::Kind kind);

/// How a surface rubs and bounces. Two that touch: friction is the geometric mean, restitution and
/// lengths are the larger ones, and stiffnesses are in series.
struct Surface {
  double friction = 0.7;     ///< Coulomb's coefficient
  double restitution = 0.0;  ///< 0 to 1
  double stiffness = 0.0;    ///< 0: rigid; else of each point [N/m]
  double damping = 0.0;      ///< beside a stiffness, of each point [N·s/m]
  /// Torsional friction: the moment about the normal is at most this times the normal force [m].
  double torsional_friction = 0.0;
  /// Rolling friction: the moment across the normal is at most this times the normal force [m].
  double rolling_friction = 0.0;

  /// @throws InvalidModel for numbers out of range
  ESPALIER_API void validate(std::string_view who) const;
};
/// Of two that touch.
ESPALIER_API Surface pair_surface(const Surface& a, const Surface& b);

/// A shape at its place.
struct PlacedShape {
  std::string link = {};  ///< empty: fixed to the ground
  Shape shape;            ///< the solid
  Pose pose{};            ///< of the shape's frame in the link
  Surface surface{};      ///< how it rubs and bounces
  /// Of the surface against its link, as a conveyor belt moves: axes of the shape's frame [m/s].
  Vec3<double> velocity{0, 0, 0};
  std::string name = {};  ///< for messages and results; empty: that of the link
  /// Two shapes touch if the bits of one's type meet the other's affinity, as in MJCF.
  unsigned type = 1;
  unsigned affinity = 1;  ///< likewise
};

/// Everything that may touch.
struct ESPALIER_API World {
  std::vector<PlacedShape> shapes;  ///< of links and of the ground
  /// Whether links of the robot touch each other. Two links with a joint between them never do,
  /// nor do those with several, where what is between has no mass. An arm's base, solids of links
  /// that stand still but are not called "world", is one of them.
  bool self_collision = false;
  /// Pairs of links that do not touch each other; an empty name is the ground.
  std::vector<std::pair<std::string, std::string>> excluded = {};
  /// Points nearer than this are looked at [m].
  double margin = 0.02;

  /// A horizontal plane at a height.
  static PlacedShape ground(const Surface& surface = {}, double height = 0.0);
};

}  // namespace espalier::contact
