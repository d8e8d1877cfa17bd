#include "espalier/kernel/model/geometry.hpp"

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

std::string_view shape_kind(const Shape& shape) { return std::visit(KindOf{}, shape); }

bool operator==(const Shape& a, const Shape& b) { return std::visit(Same{}, a, b); }

}  // namespace espalier
