#include "espalier/kernel/model/geometry.hpp"

#include <cmath>

namespace espalier {

namespace {

bool same(const Vec3<double>& a, const Vec3<double>& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

struct Same {
  bool operator()(const Box& a, const Box& b) const { return same(a.size, b.size); }
  bool operator()(const Sphere& a, const Sphere& b) const { return a.radius == b.radius; }
  bool operator()(const Cylinder& a, const Cylinder& b) const {
    return a.radius == b.radius && a.length == b.length;
  }
  bool operator()(const Capsule& a, const Capsule& b) const {
    return a.radius == b.radius && a.length == b.length;
  }
  bool operator()(const Ellipsoid& a, const Ellipsoid& b) const { return same(a.radii, b.radii); }
  bool operator()(const Plane& a, const Plane& b) const { return a.x == b.x && a.y == b.y; }
  bool operator()(const Mesh& a, const Mesh& b) const {
    return a.file == b.file && same(a.scale, b.scale);
  }
  bool operator()(const HeightField& a, const HeightField& b) const {
    return a.file == b.file && same(a.size, b.size) && a.base == b.base && a.rows == b.rows &&
           a.columns == b.columns && a.heights == b.heights;
  }
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

struct KindOf {
  std::string_view operator()(const Box&) const { return "box"; }
  std::string_view operator()(const Sphere&) const { return "sphere"; }
  std::string_view operator()(const Cylinder&) const { return "cylinder"; }
  std::string_view operator()(const Capsule&) const { return "capsule"; }
  std::string_view operator()(const Ellipsoid&) const { return "ellipsoid"; }
  std::string_view operator()(const Plane&) const { return "plane"; }
  std::string_view operator()(const Mesh&) const { return "mesh"; }
  std::string_view operator()(const HeightField&) const { return "height_field"; }
};

}  // namespace

std::string SourceLocation::text() const {
  return line > 0 ? file + ":" + std::to_string(line) : file;
}

Transform<double> Pose::transform() const { return {rpy_to_E(rpy), xyz}; }

Pose Pose::from(const Transform<double>& X) {
  // E^T = Rz(yaw) Ry(pitch) Rx(roll). Roll is read after yaw has been turned back, so that the
  // three together give E to rounding even where pitch is +-90 degrees and yaw is arbitrary.
  const Mat3<double>& E = X.E;
  const double cos_pitch = std::hypot(E(0, 0), E(0, 1));
  const double pitch = std::atan2(-E(0, 2), cos_pitch);
  // Below this the two entries are rounding errors of a vertical x axis.
  const double yaw = cos_pitch < 1e-15 ? 0.0 : std::atan2(E(0, 1), E(0, 0));
  const double s = std::sin(yaw), c = std::cos(yaw);
  const double roll = std::atan2(s * E(2, 0) - c * E(2, 1), c * E(1, 1) - s * E(1, 0));
  return {X.r, {roll, pitch, yaw}};
}

bool Pose::operator==(const Pose& other) const {
  for (int i = 0; i < 3; ++i) {
    if (xyz[i] != other.xyz[i] || rpy[i] != other.rpy[i]) return false;
  }
  return true;
}

std::string_view shape_kind(const Shape& shape) { return std::visit(KindOf{}, shape); }

bool operator==(const Shape& a, const Shape& b) { return std::visit(Same{}, a, b); }

}  // namespace espalier
