#include "espalier/simulation/contact/shape.hpp"

#include <cmath>
#include <limits>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier::contact {

namespace {

[[noreturn]] void refuse(std::string_view who, const std::string& what, const std::string& got,
                         const std::string& wanted) {
  throw InvalidModel(std::string(who) + ": " + what + " is " + got + ", expected " + wanted);
}

void expect_positive(std::string_view who, const char* what, double x) {
  if (!(x > 0.0) || !std::isfinite(x)) refuse(who, what, text::number(x), "a positive number [m]");
}

}  // namespace

Shape Shape::sphere(double radius) {
  Shape s;
  s.kind = Kind::sphere, s.radius = radius;
  return s;
}
Shape Shape::capsule(double radius, double half_length) {
  Shape s;
  s.kind = Kind::capsule, s.radius = radius, s.half_length = half_length;
  return s;
}
Shape Shape::cylinder(double radius, double half_length) {
  Shape s;
  s.kind = Kind::cylinder, s.radius = radius, s.half_length = half_length;
  return s;
}
Shape Shape::box(const Vec3<double>& half) {
  Shape s;
  s.kind = Kind::box, s.half = half;
  return s;
}
Shape Shape::hull(std::vector<Vec3<double>> vertices) {
  Shape s;
  s.kind = Kind::hull, s.vertices = std::move(vertices);
  return s;
}
Shape Shape::plane() {
  Shape s;
  s.kind = Kind::plane;
  return s;
}
Shape Shape::height_field(int columns, int rows, double spacing, std::vector<double> heights) {
  Shape s;
  s.kind = Kind::height_field;
  s.columns = columns, s.rows = rows, s.spacing = spacing, s.heights = std::move(heights);
  return s;
}

std::string_view to_string(Shape::Kind kind) {
  switch (kind) {
    case Shape::Kind::sphere:
      return "sphere";
    case Shape::Kind::capsule:
      return "capsule";
    case Shape::Kind::box:
      return "box";
    case Shape::Kind::cylinder:
      return "cylinder";
    case Shape::Kind::hull:
      return "hull";
    case Shape::Kind::plane:
      return "plane";
    case Shape::Kind::height_field:
      return "height field";
  }
  return "shape";
}

void Shape::validate(std::string_view who) const {
  switch (kind) {
    case Kind::capsule:
    case Kind::cylinder:
      expect_positive(who, "half length", half_length);
      [[fallthrough]];
    case Kind::sphere:
      expect_positive(who, "radius", radius);
      break;
    case Kind::box:
      for (int k = 0; k < 3; ++k) expect_positive(who, "half edge of the box", half[k]);
      break;
    case Kind::hull:
      if (vertices.empty() || vertices.size() > most_corners) {
        refuse(who, "number of vertices of the hull", std::to_string(vertices.size()),
               "1 to " + std::to_string(most_corners) + " (take a coarser hull, or a mesh)");
      }
      for (const auto* points : {&vertices, &whole}) {
        for (const Vec3<double>& x : *points) {
          for (int k = 0; k < 3; ++k) {
            if (!std::isfinite(x[k])) {
              refuse(who, "vertex of the hull", text::number(x[k]), "finite numbers");
            }
          }
        }
      }
      break;
    case Kind::plane:
      break;
    case Kind::height_field:
      expect_positive(who, "spacing of the height field", spacing);
      if (columns < 2 || rows < 2 ||
          heights.size() != static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {
        refuse(who, "height field",
               std::to_string(columns) + " columns, " + std::to_string(rows) + " rows and " +
                   std::to_string(heights.size()) + " heights",
               "at least 2 of both and columns * rows heights");
      }
      for (const double z : heights) {
        if (!std::isfinite(z)) refuse(who, "height", text::number(z), "finite numbers");
      }
      break;
  }
}

void Surface::validate(std::string_view who) const {
  const auto expect = [&](const char* what, double x, double most, const char* wanted) {
    if (!(x >= 0.0) || !std::isfinite(x) || x > most) refuse(who, what, text::number(x), wanted);
  };
  constexpr double any = std::numeric_limits<double>::max();
  expect("friction", friction, any, "a number not below zero");
  expect("restitution", restitution, 1.0, "a number from 0 to 1");
  expect("stiffness", stiffness, any, "a number not below zero (0: rigid)");
  expect("damping", damping, any, "a number not below zero");
  expect("torsional friction", torsional_friction, any, "a length not below zero [m]");
  expect("rolling friction", rolling_friction, any, "a length not below zero [m]");
  if (damping > 0.0 && stiffness == 0.0) {
    refuse(who, "damping without stiffness", text::number(damping), "0 (a rigid surface has none)");
  }
}

Surface pair_surface(const Surface& a, const Surface& b) {
  Surface s;
  s.friction = std::sqrt(a.friction * b.friction);
  s.restitution = std::max(a.restitution, b.restitution);
  s.torsional_friction = std::max(a.torsional_friction, b.torsional_friction);
  s.rolling_friction = std::max(a.rolling_friction, b.rolling_friction);
  const auto series = [](double x, double y) {
    return x == 0.0 ? y : y == 0.0 ? x : x * y / (x + y);
  };
  s.stiffness = series(a.stiffness, b.stiffness);
  s.damping = series(a.damping, b.damping);
  return s;
}

PlacedShape World::ground(const Surface& surface, double height) {
  PlacedShape plane;
  plane.shape = Shape::plane();
  plane.pose.xyz = {0, 0, height};
  plane.surface = surface;
  plane.name = "ground";
  return plane;
}

}  // namespace espalier::contact
