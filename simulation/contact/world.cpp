#include "espalier/simulation/contact/world.hpp"

#include <optional>
#include <variant>

namespace espalier::contact {

namespace {

/// A shape of a file as contact knows it; none for what has no closed form.
struct Convert {
  std::optional<Shape> operator()(const espalier::Box& s) const {
    return Shape::box(scale(0.5, s.size));
  }
  std::optional<Shape> operator()(const espalier::Sphere& s) const {
    return Shape::sphere(s.radius);
  }
  std::optional<Shape> operator()(const espalier::Cylinder& s) const {
    return Shape::cylinder(s.radius, 0.5 * s.length);
  }
  std::optional<Shape> operator()(const espalier::Capsule& s) const {
    return Shape::capsule(s.radius, 0.5 * s.length);
  }
  std::optional<Shape> operator()(const espalier::Plane& /*s*/) const { return Shape::plane(); }
  template <class Other>
  std::optional<Shape> operator()(const Other& /*s*/) const {
    return std::nullopt;
  }
};

}  // namespace

World world_of(const Model& model, const Surface& surface, std::vector<std::string>* left_out) {
  World world;
  for (const espalier::PlacedShape& placed : model.shapes()) {
    if (placed.role != espalier::PlacedShape::Role::collision) continue;
    const std::string& link = model.links()[placed.link].name;
    const std::optional<Shape> shape = std::visit(Convert{}, placed.shape.shape);
    // Terrain stands still.
    const bool terrain = shape && shape->kind == Shape::Kind::plane;
    if (!shape || (terrain && placed.body != 0)) {
      if (left_out != nullptr) {
        left_out->push_back(link + " (" + std::string(shape_kind(placed.shape.shape)) + ")");
      }
      continue;
    }
    PlacedShape out;
    out.link = link;
    out.shape = *shape;
    out.pose = placed.shape.origin;
    out.surface = surface;
    if (placed.shape.friction) out.surface.friction = *placed.shape.friction;
    out.name = placed.shape.name.empty() ? link : placed.shape.name;
    world.shapes.push_back(std::move(out));
  }
  for (const PairDescription& pair : model.extras().excluded_contacts) {
    world.excluded.emplace_back(pair.first, pair.second);
  }
  return world;
}

}  // namespace espalier::contact
