// Writes MJCF: shapes and frames of links, and the files that they are made of.

#include <algorithm>

#include "espalier/kernel/errors.hpp"
#include "formats/mjcf/geoms.hpp"
#include "formats/mjcf/writer/writer.hpp"
#include "formats/shapes.hpp"
#include "formats/text.hpp"

namespace espalier::mjcf {

using formats::in_quotes;

namespace {

std::string key_of(const Mesh& s) {
  std::string key = s.file;
  for (int i = 0; i < 3; ++i) key += " " + std::to_string(s.scale[i]);
  return key;
}

/// The number of a height field among those that are written.
std::size_t number_of(const std::vector<const HeightField*>& fields, const HeightField& field) {
  const auto same = [&](const HeightField* f) { return Shape(*f) == Shape(field); };
  return static_cast<std::size_t>(std::find_if(fields.begin(), fields.end(), same) -
                                  fields.begin());
}

}  // namespace

void Writer::contents(const LinkDescription& link) {
  std::vector<bool> both(link.collisions.size(), false);
  for (const ShapeDescription& shape : link.visuals) {
    bool touches = false;
    for (std::size_t i = 0; i < link.collisions.size() && !touches; ++i) {
      const ShapeDescription& other = link.collisions[i];
      touches = !both[i] && other.shape == shape.shape && other.origin == shape.origin &&
                other.name == shape.name;
      if (touches) both[i] = true;
    }
    geom(shape, true, touches);
  }
  for (std::size_t i = 0; i < link.collisions.size(); ++i) {
    if (!both[i]) geom(link.collisions[i], false, true);
  }
  for (const FrameDescription& frame : link.frames) {
    std::string own = frame.name;  // sites of all links share their names
    while (!site_names_.insert(own).second) own = link.name + "_" + own;
    if (own != frame.name) lose("frame " + in_quotes(frame.name) + ": is called " + in_quotes(own));
    site(own, frame.origin);
  }
  for (const LoopDescription& loop : robot_.loops) {
    if (loop.type != "rod") continue;
    if (loop.predecessor == link.name) site(loop.name + rod_first, loop.predecessor_origin);
    if (loop.successor == link.name) site(loop.name + rod_second, loop.successor_origin);
  }
}

void Writer::site(const std::string& name, const Pose& origin) {
  open("site");
  text("name", name, "site");
  frame(origin);
  close();
}

void Writer::geom(const ShapeDescription& shape, bool visual, bool collision) {
  if (formats::is_flat(shape.shape)) {
    lose(std::string(shape_kind(shape.shape)) + " " + in_quotes(shape.name) +
         ": MuJoCo has no sizes of zero");
    return;
  }
  open("geom");
  if (!shape.name.empty() && geom_names_.insert(shape.name).second) {
    text("name", shape.name, "geom");
  }
  std::visit([this](const auto& s) { geometry(s); }, shape.shape);
  frame(shape.origin);
  if (!shape.material.empty()) text("material", shape.material, "material");
  if (shape.color) {
    const Color& c = *shape.color;
    numbers("rgba", {c.r, c.g, c.b, c.a});
  }
  friction(shape);
  if (!collision) {
    xml_.PushAttribute("contype", 0);
    xml_.PushAttribute("conaffinity", 0);
  }
  xml_.PushAttribute("group", visual ? (collision ? 0 : 1) : 3);
  close();
}

/// Lengths count where `condim` has rows for them: 4 for torsion, 6 for rolling as well.
void Writer::friction(const ShapeDescription& shape) {
  const auto &torsional = shape.torsional_friction, &rolling = shape.rolling_friction;
  if (torsional || rolling) xml_.PushAttribute("condim", rolling ? 6 : 4);
  const double twist = torsional.value_or(rolling ? 0.0 : usual_torsional_friction);
  const double roll = rolling.value_or(usual_rolling_friction);
  if (!shape.friction) {
    if (twist == usual_torsional_friction && roll == usual_rolling_friction) return;
    lose("shape " + in_quotes(shape.name) + ": its coefficient of sliding friction becomes 1");
  }
  numbers("friction", {shape.friction.value_or(1.0), twist, roll});
}

void Writer::geometry(const Box& s) {
  kind("box"), numbers("size", {s.size.x / 2.0, s.size.y / 2.0, s.size.z / 2.0});
}
void Writer::geometry(const Sphere& s) { kind("sphere"), number("size", s.radius); }
void Writer::geometry(const Cylinder& s) {
  kind("cylinder"), numbers("size", {s.radius, s.length / 2.0});
}
void Writer::geometry(const Capsule& s) {
  kind("capsule"), numbers("size", {s.radius, s.length / 2.0});
}
void Writer::geometry(const Ellipsoid& s) {
  kind("ellipsoid"), numbers("size", {s.radii.x, s.radii.y, s.radii.z});
}
void Writer::geometry(const Plane& s) {
  kind("plane"), numbers("size", {s.x / 2.0, s.y / 2.0, 1.0});
}
void Writer::geometry(const Mesh& s) {
  kind("mesh"), text("mesh", "mesh" + std::to_string(meshes_.at(key_of(s))), "mesh");
}
void Writer::geometry(const HeightField& s) {
  kind("hfield"), text("hfield", "field" + std::to_string(number_of(fields_, s)), "hfield");
}

void Writer::assets() {
  open("asset");
  std::map<std::string, std::optional<Color>> materials;
  for (const LinkDescription& link : robot_.links) {
    for (const auto* shapes : {&link.visuals, &link.collisions}) {
      for (const ShapeDescription& shape : *shapes) {
        if (!shape.material.empty()) materials.emplace(shape.material, shape.color);
        if (const auto* mesh = std::get_if<Mesh>(&shape.shape)) asset(*mesh, link);
        if (const auto* field = std::get_if<HeightField>(&shape.shape)) asset(*field);
      }
    }
  }
  for (const auto& [name, color] : materials) {
    open("material");
    text("name", name, "material");
    if (color) numbers("rgba", {color->r, color->g, color->b, color->a});
    close();
  }
  close();
}

void Writer::asset(const Mesh& mesh, const LinkDescription& link) {
  const int number = static_cast<int>(meshes_.size());
  if (!meshes_.emplace(key_of(mesh), number).second) return;
  who_ = "mjcf: link " + in_quotes(link.name);
  if (mesh.file.find("://") != std::string::npos) {
    lose("mesh " + in_quotes(mesh.file) + ": MuJoCo reads paths, not URIs");
  }
  open("mesh");
  text("name", "mesh" + std::to_string(number), "mesh");
  text("file", mesh.file, "mesh");
  vector("scale", mesh.scale);
  close();
}

void Writer::asset(const HeightField& field) {
  const std::size_t number = number_of(fields_, field);
  if (number < fields_.size()) return;
  fields_.push_back(&field);
  open("hfield");
  text("name", "field" + std::to_string(number), "hfield");
  numbers("size", {field.size.x / 2.0, field.size.y / 2.0, field.size.z, field.base});
  if (!field.file.empty()) text("file", field.file, "hfield");
  if (!field.heights.empty()) {
    xml_.PushAttribute("nrow", field.rows);
    xml_.PushAttribute("ncol", field.columns);
    numbers("elevation", field.heights);
    lose("height field: MuJoCo stretches its heights to 0 .. 1");
  }
  close();
}

}  // namespace espalier::mjcf
