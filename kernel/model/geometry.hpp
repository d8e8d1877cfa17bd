#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "espalier/kernel/export.hpp"
#include "espalier/kernel/spatial/transform.hpp"

/// Geometry of links: what viewers draw, what contacts touch, and named frames. Dynamics ignores
/// it. Shapes are centred on their own frame unless they say otherwise.

namespace espalier {

/// Where a thing was written, for error messages.
struct SourceLocation {
  std::string file;  ///< path, as it was read
  int line = 0;      ///< from 1; 0 if unknown

  /// "file:line", "file", or "" when nothing is known.
  ESPALIER_API std::string text() const;
};

/// A block with its edges along the axes.
struct Box {
  Vec3<double> size{1, 1, 1};  ///< whole edges along x, y, z [m]
};
struct Sphere {
  double radius = 1.0;  ///< [m]
};
/// Axis z.
struct Cylinder {
  double radius = 1.0;  ///< [m]
  double length = 1.0;  ///< [m]
};
/// A cylinder along z with a half sphere on either end.
struct Capsule {
  double radius = 1.0;  ///< [m]
  double length = 1.0;  ///< of the cylinder, without the half spheres [m]
};
struct Ellipsoid {
  Vec3<double> radii{1, 1, 1};  ///< along x, y, z [m]
};
/// The half space z < 0 is solid.
struct Plane {
  double x = 0.0, y = 0.0;  ///< whole edges of what is drawn of it; 0: as far as one sees [m]
};
/// A surface of triangles in a file.
struct Mesh {
  std::string file;  ///< path or URI as it is written (kernel/model/mesh_files.hpp finds it)
  Vec3<double> scale{1, 1, 1};  ///< of the file's coordinates to metres
};
/// A surface z = size.z * height over a rectangle, solid down to z = -base.
struct HeightField {
  std::string file;               ///< an image; empty: the heights are below
  Vec3<double> size{1, 1, 1};     ///< whole edges along x and y, and what height 1 means [m]
  double base = 0.0;              ///< [m]
  int rows = 0, columns = 0;      ///< samples along x
  std::vector<double> heights{};  ///< rows x columns from 0 to 1, from low y and low x, by rows
};
/// Any of them.
using Shape = std::variant<Box, Sphere, Cylinder, Capsule, Ellipsoid, Plane, Mesh, HeightField>;

/// "box", "sphere", ... as formats and messages call it.
ESPALIER_API std::string_view shape_kind(const Shape& shape);
/// Whether kinds and all numbers are equal.
ESPALIER_API bool operator==(const Shape& a, const Shape& b);

/// Red, green, blue and opacity, each from 0 to 1.
struct Color {
  double r = 0.7, g = 0.7, b = 0.7, a = 1.0;      ///< opacity
  bool operator==(const Color&) const = default;  ///< whether all numbers are equal
};

/// A shape on a link.
struct ShapeDescription {
  std::string name;                ///< may be empty
  Shape shape;                     ///< what it is
  Pose origin;                     ///< the shape's frame in the link's
  std::optional<Color> color;      ///< none: the reader's choice
  std::string material;            ///< name; may be empty
  std::optional<double> friction;  ///< coefficient of dry friction; none: not said
  /// Bound of the moment about the contact's normal, by its force [m]; none: not said.
  std::optional<double> torsional_friction;
  /// Bound of the moment across the contact's normal, by its force [m]; none: not said.
  std::optional<double> rolling_friction;
  SourceLocation where;  ///< in the file
};

/// A named frame on a link: a site, a tool centre point, the place of a sensor.
struct FrameDescription {
  std::string name;      ///< of the frame
  Pose origin;           ///< in the link's frame
  SourceLocation where;  ///< in the file
};

}  // namespace espalier
