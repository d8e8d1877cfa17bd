#include "formats/urdf/urdf_shapes.hpp"

#include <cmath>

#include "espalier/kernel/errors.hpp"
#include "formats/shapes.hpp"
#include "formats/text.hpp"

namespace espalier::urdf {

using formats::in_quotes;

void Shapes::tolerate(const std::function<void()>& read) {
  try {
    read();
  } catch (const InvalidModel& error) {
    findings_.push_back(
        {Finding::Severity::warning, std::string(error.what()) + " (left out)", "", true});
  }
}

void Shapes::read(const std::string& who, const XMLElement& e, LinkDescription& link) {
  read_parts(who, e, link);
  for (const XMLElement* own = e.FirstChildElement(); own; own = own->NextSiblingElement()) {
    if (in_.is(*own, "espalier")) read_parts(who, *own, link);
  }
}

void Shapes::read_parts(const std::string& who, const XMLElement& parent, LinkDescription& link) {
  for (const XMLElement* e = parent.FirstChildElement(); e; e = e->NextSiblingElement()) {
    tolerate([&] {
      if (in_.is(*e, "visual")) link.visuals.push_back(read_shape(who, *e));
      if (in_.is(*e, "collision")) link.collisions.push_back(read_shape(who, *e));
      if (in_.is(*e, "frame") && in_.is(parent, "espalier")) {
        link.frames.push_back({in_.name(who, *e, "name"), in_.pose(who, *e), in_.at(*e)});
      }
    });
  }
}

ShapeDescription Shapes::read_shape(const std::string& who, const XMLElement& e) const {
  ShapeDescription shape;
  shape.where = in_.at(e);
  const char* shape_name = e.Attribute("name");
  if (shape_name != nullptr && *shape_name) shape.name = in_.name(who, e, "name");
  shape.origin = in_.pose(who, e);
  const XMLElement& geometry = in_.required_child(who, e, "geometry");
  shape.shape = read_geometry(who, geometry);
  if (const auto wrong = formats::wrong_size(shape.shape)) in_.fail(who, geometry, *wrong);
  if (const XMLElement* material = in_.child(who, e, "material")) {
    const char* text = material->Attribute("name");
    if (text != nullptr && *text) shape.material = in_.name(who, *material, "name");
    const XMLElement* color = in_.child(who, *material, "color");
    const auto known = materials_.find(shape.material);
    if (color != nullptr) {
      shape.color = read_color(who, *color);
    } else if (known != materials_.end()) {
      shape.color = known->second;
    }
  }
  if (const XMLElement* espalier = in_.child(who, e, "espalier")) {
    shape.friction = in_.optional_number(who, *espalier, "friction");
    shape.torsional_friction = in_.optional_number(who, *espalier, "torsional_friction");
    shape.rolling_friction = in_.optional_number(who, *espalier, "rolling_friction");
  }
  return shape;
}

Shape Shapes::read_geometry(const std::string& who, const XMLElement& e) const {
  const XMLElement* g = e.FirstChildElement();
  if (g == nullptr) in_.fail(who, e, "<geometry> is empty, expected a shape");
  const auto number = [&](const char* key) { return in_.number(who, *g, key); };
  if (in_.is(*g, "box")) return Box{in_.required_vector(who, *g, "size")};
  if (in_.is(*g, "sphere")) return Sphere{number("radius")};
  if (in_.is(*g, "cylinder")) return Cylinder{number("radius"), number("length")};
  if (in_.is(*g, "capsule")) return Capsule{number("radius"), number("length")};
  if (in_.is(*g, "ellipsoid")) return Ellipsoid{in_.required_vector(who, *g, "radii")};
  if (in_.is(*g, "plane")) {
    return Plane{in_.number(who, *g, "x", 0.0), in_.number(who, *g, "y", 0.0)};
  }
  if (in_.is(*g, "mesh")) {
    return Mesh{in_.name(who, *g, "filename"), in_.vector(who, *g, "scale", {1, 1, 1})};
  }
  if (in_.is(*g, "height_field")) return read_height_field(who, *g);
  in_.fail(who, *g,
           "shape is <" + std::string(g->Name()) +
               ">, expected <box>, <sphere>, <cylinder>, <capsule> or <mesh>");
}

HeightField Shapes::read_height_field(const std::string& who, const XMLElement& e) const {
  HeightField field;
  if (e.Attribute("filename") != nullptr) field.file = in_.name(who, e, "filename");
  field.size = in_.vector(who, e, "size", {1, 1, 1});
  field.base = in_.number(who, e, "base", 0.0);
  const char* text = e.Attribute("heights");
  if (text == nullptr) return field;
  const auto heights = formats::parse_numbers(text);
  const double columns = in_.number(who, e, "columns");
  if (!heights || heights->empty() || !(columns >= 1.0) ||
      columns > static_cast<double>(heights->size()) || columns != std::floor(columns) ||
      heights->size() % static_cast<std::size_t>(columns) != 0) {
    in_.fail(who, e, "heights are not finite numbers in whole rows of 'columns', expected such");
  }
  field.columns = static_cast<int>(columns);
  field.rows = static_cast<int>(heights->size()) / field.columns;
  field.heights = *heights;
  return field;
}

Color Shapes::read_color(const std::string& who, const XMLElement& e) const {
  const char* text = e.Attribute("rgba");
  const auto c = formats::parse_numbers(text ? text : "");
  if (!c || c->size() != 4) {
    in_.fail(who, e,
             Elements::attribute_of("rgba", e) + in_quotes(text ? text : "") +
                 ", expected four numbers");
  }
  return {(*c)[0], (*c)[1], (*c)[2], (*c)[3]};
}

void Shapes::collect_materials(const XMLElement& parent) {
  for (const XMLElement* e = parent.FirstChildElement(); e; e = e->NextSiblingElement()) {
    if (in_.is(*e, "link") || in_.is(*e, "visual")) collect_materials(*e);
    if (!in_.is(*e, "material") || e->Attribute("name") == nullptr) continue;
    tolerate([&] {
      const XMLElement* color = in_.child("material", *e, "color");
      if (color) materials_.emplace(e->Attribute("name"), read_color("material", *color));
    });
  }
}

}  // namespace espalier::urdf
