#include "espalier/simulation/contact/world.hpp"

#include <optional>
#include <utility>
#include <variant>

#include "espalier/kernel/model/mesh_files.hpp"

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

/// The hull of a mesh, at the pose of the shape; none where there is no such file.
std::optional<Shape> hull_of(const Mesh& mesh, const std::string& robot_file,
                             const ReadOptions& reading, PlacedShape& out, WorldReport& told) {
  const std::optional<std::string> path = find_mesh(mesh.file, robot_file, reading);
  if (!path) return std::nullopt;
  MeshHull summary;
  Vec3<double> middle;
  Shape shape = mesh_shape(*path, mesh.scale, middle, summary);
  summary.shape = out.name;
  told.meshes.push_back(std::move(summary));
  // The hull stands about its own middle.
  out.pose.xyz += transpose_times(out.pose.transform().E, middle);
  return shape;
}

}  // namespace

World world_of(const Model& model, const Surface& surface, WorldReport* report,
               const ReadOptions& reading) {
  World world;
  WorldReport unread;
  WorldReport& told = report != nullptr ? *report : unread;
  for (const espalier::PlacedShape& placed : model.shapes()) {
    if (placed.role != espalier::PlacedShape::Role::collision) continue;
    const std::string& link = model.links()[placed.link].name;
    PlacedShape out;
    out.name = placed.shape.name.empty() ? link : placed.shape.name;
    out.pose = placed.shape.origin;
    std::optional<Shape> shape = std::visit(Convert{}, placed.shape.shape);
    std::string kind(shape_kind(placed.shape.shape));
    if (const auto* mesh = std::get_if<Mesh>(&placed.shape.shape)) {
      shape = hull_of(*mesh, placed.shape.where.file, reading, out, told);
      if (!shape) kind += ", file missing";
    }
    // Terrain stands still.
    const bool terrain = shape && shape->kind == Shape::Kind::plane;
    if (!shape || (terrain && placed.body != 0)) {
      told.left_out.push_back(link + " (" + kind + ")");
      continue;
    }
    out.link = link;
    out.shape = std::move(*shape);
    out.surface = surface;
    const ShapeDescription& said = placed.shape;
    if (said.friction) out.surface.friction = *said.friction;
    if (said.torsional_friction) out.surface.torsional_friction = *said.torsional_friction;
    if (said.rolling_friction) out.surface.rolling_friction = *said.rolling_friction;
    world.shapes.push_back(std::move(out));
  }
  for (const PairDescription& pair : model.extras().excluded_contacts) {
    world.excluded.emplace_back(pair.first, pair.second);
  }
  return world;
}

}  // namespace espalier::contact
