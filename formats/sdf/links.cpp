// Reads SDF: mass properties and shapes of links.

#include <cmath>
#include <filesystem>

#include "espalier/kernel/errors.hpp"
#include "espalier/plugins/registry.hpp"
#include "formats/sdf/reader.hpp"
#include "formats/shapes.hpp"
#include "formats/text.hpp"

namespace espalier::sdf {

using formats::in_quotes;

void Reader::read_link(const std::string& link_name) {
  const XmlNode& node = *links_.at(link_name);
  const std::string who = "link " + in_quotes(link_name);
  LinkDescription link;
  link.name = link_name, link.where = node.where;
  if (const XmlNode* still = node.child("kinematic");
      still && formats::parse_bool(trimmed(still->text)).value_or(false)) {
    lose(*still, "<kinematic>: a link that forces do not move", true);
  }
  if (const XmlNode* falls = node.child("gravity");
      falls && !formats::parse_bool(trimmed(falls->text)).value_or(true)) {
    lose(*falls, "<gravity> of a link: gravity of some links only", true);
  }
  if (const XmlNode* decay = node.child("velocity_decay")) {
    lose(*decay, "<velocity_decay>, which some simulators have,", false);
  }
  if (const XmlNode* inertial = node.child("inertial")) {
    if (const std::string* from_shapes = inertial->find("auto");
        from_shapes && formats::parse_bool(*from_shapes).value_or(false)) {
      lose(*inertial, "attribute 'auto': inertia from collision shapes", true);
    }
    if (const XmlNode* fluid = inertial->child("fluid_added_mass")) {
      lose(*fluid, "<fluid_added_mass>: inertia of a fluid", true);
    }
    Inertial& I = link.inertial.emplace();
    I.mass = number(*inertial, who, "mass", 1.0);
    if (const XmlNode* pose = inertial->child("pose")) I.origin = pose_text(*pose);
    I.I = {1, 0, 0, 1, 0, 1};  // the standard's default
    if (const XmlNode* m = inertial->child("inertia")) {
      I.I = {number(*m, who, "ixx", 1.0), number(*m, who, "ixy", 0.0), number(*m, who, "ixz", 0.0),
             number(*m, who, "iyy", 1.0), number(*m, who, "iyz", 0.0), number(*m, who, "izz", 1.0)};
    }
  } else if (node.find("espalier:massless") == nullptr) {
    link.inertial = Inertial{{}, 1.0, {1, 0, 0, 1, 0, 1}};  // the standard's default
  }
  for (const XmlNode& child : node.children) {
    if (child.name != "visual" && child.name != "collision") continue;
    try {
      (child.name == "visual" ? link.visuals : link.collisions)
          .push_back(read_shape(child, who, link_name));
    } catch (const InvalidModel& error) {
      robot_.findings.push_back({Finding::Severity::warning,
                                 std::string(error.what()) + " (left out)", child.where.text(),
                                 true});
    }
  }
  for (const std::string& f : frame_order_) {
    const Frame& frame = frames_.at(f);
    if (link_of(f, *frame.node) != link_name) continue;
    link.frames.push_back(
        {f, pose_of(resolve(f) * resolve(link_name).inverse()), frame.node->where});
  }
  robot_.links.push_back(std::move(link));
}

ShapeDescription Reader::read_shape(const XmlNode& node, const std::string& who,
                                    const std::string& link) {
  ShapeDescription shape;
  shape.where = node.where;
  if (const std::string* n = node.find("name"); n && formats::is_name(*n)) shape.name = *n;
  if (const XmlNode* pose = node.child("pose")) {
    shape.origin = pose_text(*pose);
    const std::string* to = pose->find("relative_to");
    if (to && !to->empty()) {
      const auto cut = link.rfind("::");
      const std::string scope = cut == std::string::npos ? "" : link.substr(0, cut + 2);
      shape.origin =
          pose_of(shape.origin.transform() * resolve(full(*to, scope)) * resolve(link).inverse());
    }
  }
  shape.shape = read_geometry(node, who);
  if (const auto wrong = formats::wrong_size(shape.shape)) node.fail(who, *wrong);
  if (const XmlNode* material = node.child("material")) {
    const XmlNode* diffuse = material->child("diffuse");
    if (diffuse != nullptr) {
      const auto c = formats::numbers_of(*diffuse, who, "<diffuse>", diffuse->text, 0);
      if (c.size() >= 3) shape.color = Color{c[0], c[1], c[2], c.size() > 3 ? c[3] : 1.0};
    }
    if (const std::string* n = material->find("espalier:name"); n && formats::is_name(*n))
      shape.material = *n;
  }
  const XmlNode* at_surface = node.child("surface");
  if (at_surface != nullptr) lose_surface(*at_surface);
  for (const char* key : {"friction", "ode", "mu"}) {
    if (at_surface != nullptr) at_surface = at_surface->child(key);
  }
  if (node.name == "collision") shape.friction = 1.0;  // the standard's default
  if (at_surface != nullptr)
    shape.friction = formats::numbers_of(*at_surface, who, "<mu>", at_surface->text, 1)[0];
  return shape;
}

/// What a surface says besides one coefficient of friction.
void Reader::lose_surface(const XmlNode& surface) {
  const auto at = [&](std::initializer_list<const char*> keys) {
    const XmlNode* node = &surface;
    for (const char* key : keys) node = node != nullptr ? node->child(key) : nullptr;
    return node;
  };
  const auto number_of = [&](const XmlNode& node) {
    return formats::numbers_of(node, "collision", "<" + node.name + ">", node.text, 1)[0];
  };
  const XmlNode *mu = at({"friction", "ode", "mu"}), *mu2 = at({"friction", "ode", "mu2"});
  if (mu2 != nullptr && (mu == nullptr || number_of(*mu2) != number_of(*mu))) {
    lose(*mu2, "<mu2>, friction that differs across the surface,", false);
  }
  if (const XmlNode* bounce = at({"bounce", "restitution_coefficient"});
      bounce != nullptr && number_of(*bounce) != 0.0) {
    lose(*bounce, "<restitution_coefficient> of a shape", false);
  }
  for (const char* mask : {"collide_bitmask", "category_bitmask"}) {
    if (const XmlNode* bits = at({"contact", mask})) {
      lose(*bits, "<" + std::string(mask) + ">, by which shapes pass through others,", false);
    }
  }
}

Shape Reader::read_geometry(const XmlNode& node, const std::string& who) const {
  const XmlNode* geometry = node.child("geometry");
  if (geometry == nullptr || geometry->children.empty())
    node.fail(who, "<geometry> is empty, expected a shape");
  const XmlNode& g = geometry->children.front();
  const auto v3 = [&](const char* key, const Vec3<double>& fallback) {
    const XmlNode* c = g.child(key);
    return c ? vector(*c, who) : fallback;
  };
  if (g.name == "box") {
    return Box{v3("size", {1, 1, 1})};
  }
  if (g.name == "sphere") {
    return Sphere{number(g, who, "radius", 1.0)};
  }
  if (g.name == "cylinder") {
    return Cylinder{number(g, who, "radius", 1.0), number(g, who, "length", 1.0)};
  }
  if (g.name == "capsule") {
    return Capsule{number(g, who, "radius", 0.5), number(g, who, "length", 1.0)};
  }
  if (g.name == "ellipsoid") {
    return Ellipsoid{v3("radii", {1, 1, 1})};
  }
  if (g.name == "plane") {
    Plane plane;
    if (const XmlNode* size = g.child("size")) {
      const auto s = formats::numbers_of(*size, who, "<size>", size->text, 2);
      plane = {s[0], s[1]};
    }
    const Vec3<double> normal = v3("normal", {0, 0, 1});
    if (normal.x != 0.0 || normal.y != 0.0 || !(normal.z > 0.0)) {
      node.fail(who, "normal of <plane> is not z, expected 0 0 1 (turn its pose)");
    }
    return plane;
  }
  if (g.name == "mesh") {
    const XmlNode* uri = g.child("uri");
    if (uri == nullptr || !formats::is_name(trimmed(uri->text)))
      g.fail(who, "<uri> of <mesh> is missing, expected a file");
    return Mesh{file_of(*uri), v3("scale", {1, 1, 1})};
  }
  if (g.name == "heightmap" && g.child("uri")) {
    HeightField field;
    field.file = file_of(*g.child("uri"));
    field.size = v3("size", {1, 1, 1});
    if (!formats::is_name(field.file))
      g.fail(who, "<uri> of <heightmap> is no name, expected a file");
    return field;
  }
  g.fail(who, "shape is <" + g.name +
                  ">, expected box, sphere, cylinder, capsule, ellipsoid, plane or mesh");
}

/// The file that a shape names, as seen from the robot's file.
std::string Reader::file_of(const XmlNode& uri) const {
  namespace fs = std::filesystem;
  const std::string file = trimmed(uri.text);
  if (uri.where.file == origin_ || file.find("://") != std::string::npos || file.empty() ||
      fs::path(file).is_absolute()) {
    return file;
  }
  const fs::path folder = fs::path(uri.where.file).parent_path();
  const fs::path way = folder.lexically_relative(fs::path(origin_).parent_path());
  // One of them absolute, the other not: there is no way between them.
  return ((way.empty() ? folder : way) / file).lexically_normal().string();
}

}  // namespace espalier::sdf
