#include "formats/mjcf/geoms.hpp"

#include <cmath>
#include <filesystem>
#include <numbers>

#include "espalier/plugins/mesh/mesh.hpp"
#include "formats/shapes.hpp"
#include "formats/text.hpp"

namespace espalier::mjcf {

namespace {

using formats::in_quotes;
constexpr double pi = std::numbers::pi;

struct Volume {
  double volume = 0.0;
  Vec3<double> moments{0, 0, 0};  ///< principal, of unit density
};

/// Solids of density 1, about their centres; others have no volume.
struct VolumeOf {
  Volume operator()(const Box& s) const {
    const Vec3<double>& a = s.size;
    const double V = a.x * a.y * a.z, k = V / 12.0;
    return {
        V, {k * (a.y * a.y + a.z * a.z), k * (a.x * a.x + a.z * a.z), k * (a.x * a.x + a.y * a.y)}};
  }
  Volume operator()(const Sphere& s) const {
    return (*this)(Ellipsoid{{s.radius, s.radius, s.radius}});
  }
  Volume operator()(const Ellipsoid& s) const {
    const Vec3<double>& r = s.radii;
    const double V = 4.0 / 3.0 * pi * r.x * r.y * r.z, k = V / 5.0;
    return {
        V, {k * (r.y * r.y + r.z * r.z), k * (r.x * r.x + r.z * r.z), k * (r.x * r.x + r.y * r.y)}};
  }
  Volume operator()(const Cylinder& s) const {
    const double r2 = s.radius * s.radius, V = pi * r2 * s.length;
    const double across = V * (r2 / 4.0 + s.length * s.length / 12.0);
    return {V, {across, across, V * r2 / 2.0}};
  }
  Volume operator()(const Capsule& s) const {
    Volume all = (*this)(Cylinder{s.radius, s.length});
    // Two half spheres; the centre of mass of each lies 3/8 r beyond the cylinder's end.
    const double r = s.radius, V = 4.0 / 3.0 * pi * r * r * r, h = s.length / 2.0;
    const double across = V * (0.4 * r * r + h * h + 0.75 * h * r);
    all.volume += V;
    all.moments += Vec3<double>{across, across, 0.4 * V * r * r};
    return all;
  }
  template <class S>
  Volume operator()(const S&) const {
    return {};
  }
};

/// Sizes of a geom; those along a line between two points come from it.
Shape read_shape(const Element& e, const std::string& type, const Assets& assets,
                 std::optional<double> length) {
  const auto sizes = [&](std::size_t least, std::size_t most) {
    std::vector<double> v;
    if (e.has("size")) v = e.numbers("size", 0);
    if (v.size() < least) {
      e.fail("attribute 'size' has " + std::to_string(v.size()) + " numbers, expected " +
             std::to_string(least) + " for a " + type);
    }
    for (std::size_t i = 0; i < std::min(v.size(), most); ++i) {
      if (!(v[i] > 0.0) && type != "plane") {
        e.fail("attribute 'size' is " + in_quotes(*e.find("size")) +
               ", expected numbers above zero");
      }
    }
    v.resize(3, 0.0);
    return v;
  };
  if (type == "sphere") return Sphere{sizes(1, 1)[0]};
  if (type == "capsule" || type == "cylinder") {
    const auto v = sizes(length ? 1 : 2, length ? 1 : 2);
    const double l = length.value_or(2.0 * v[1]);
    if (type == "capsule") return Capsule{v[0], l};
    return Cylinder{v[0], l};
  }
  if (type == "ellipsoid" || type == "box") {
    auto v = sizes(length ? 1 : 3, length ? 1 : 3);
    if (length) v[1] = v[1] > 0.0 ? v[1] : v[0], v[2] = *length / 2.0;
    if (type == "ellipsoid") return Ellipsoid{{v[0], v[1], v[2]}};
    return Box{{2.0 * v[0], 2.0 * v[1], 2.0 * v[2]}};
  }
  if (type == "plane") {
    const auto v = sizes(0, 0);
    return Plane{2.0 * v[0], 2.0 * v[1]};
  }
  if (type == "hfield") {
    const auto field = assets.fields.find(e.name("hfield"));
    if (field == assets.fields.end()) {
      e.fail("attribute 'hfield' is " + in_quotes(e.name("hfield")) +
             ", which is unknown, expected an <hfield> of <asset>");
    }
    return field->second;
  }
  const auto mesh = assets.meshes.find(e.name("mesh"));
  if (mesh == assets.meshes.end()) {
    e.fail("attribute 'mesh' is " + in_quotes(e.name("mesh")) +
           ", which is unknown, expected a <mesh> of <asset>");
  }
  return Mesh{mesh->second.file, mesh->second.scale};
}

/// Sliding, torsional and rolling friction, as many of them as `condim` has rows for.
void read_friction(const Element& e, ShapeDescription& shape) {
  const std::vector<double> given =
      e.has("friction") ? e.numbers("friction", 0) : std::vector<double>();
  shape.friction = given.empty() ? usual_friction : given[0];
  const int rows = condim_of(e);
  const auto length = [&](std::size_t i, double usual) {
    return given.size() > i ? given[i] : usual;
  };
  if (rows >= 4) shape.torsional_friction = length(1, usual_torsional_friction);
  if (rows == 6) shape.rolling_friction = length(2, usual_rolling_friction);
}

}  // namespace

int condim_of(const Element& e) { return std::stoi(e.word("condim", "3", {"1", "3", "4", "6"})); }

Geom read_geom(const Element& e, const Assets& assets) {
  Geom geom;
  ShapeDescription& shape = geom.shape;
  shape.where = e.node().where;
  if (e.has("name") && !e.text("name").empty()) shape.name = e.name("name");
  const std::string type =
      e.word("type", e.has("mesh") ? "mesh" : "sphere",
             {"plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh"});
  Transform<double> X = e.frame();
  std::optional<double> length;
  if (e.has("fromto") && type != "mesh") {
    const auto v = e.numbers("fromto", 6);
    const Vec3<double> from{v[0], v[1], v[2]}, to{v[3], v[4], v[5]}, line = from - to;
    length = std::sqrt(dot(line, line));
    if (!(*length > 1e-10)) e.fail("attribute 'fromto' has no length, expected two points");
    X = {z_onto(line), scale(0.5, from + to)};
  }
  shape.shape = read_shape(e, type, assets, length);
  if (const auto wrong = formats::wrong_size(shape.shape)) e.fail(*wrong);
  if (type == "mesh") {
    const MeshAsset& mesh = assets.meshes.find(e.name("mesh"))->second;
    X = mesh.reference.inverse() * X;
    geom.shell = mesh.shell;
  }
  shape.origin = pose_of(X);
  if (e.has("material")) {
    shape.material = e.name("material");
    const auto known = assets.materials.find(shape.material);
    if (known != assets.materials.end()) shape.color = known->second;
  }
  if (e.has("rgba")) {
    const auto c = e.numbers("rgba", 4);
    shape.color = Color{c[0], c[1], c[2], c[3]};
  }
  read_friction(e, shape);
  // MuJoCo draws groups 0 to 2 unless it is told otherwise.
  geom.group = static_cast<int>(e.number("group", 0.0));
  geom.collision = e.number("contype", 1.0) != 0.0 || e.number("conaffinity", 1.0) != 0.0;
  geom.visual = !geom.collision || geom.group <= 2;
  return geom;
}

RigidInertia<double> inertia_of(const Element& e, const Geom& geom, const ReadOptions& options,
                                const std::string& robot_file, std::string& doubt) {
  const double density = e.number("density", 1000.0);
  const std::optional<double> mass =
      e.has("mass") ? std::optional<double>(e.number("mass", 0.0)) : std::nullopt;
  if (mass.value_or(density) < 0.0) {
    e.fail(std::string(mass ? "mass" : "density") + " is " +
           formats::number_text(mass.value_or(density), "mjcf") +
           ", expected a number that is not negative");
  }
  if (mass == 0.0 || (!mass && density == 0.0)) return RigidInertia<double>::zero();
  if (geom.shell || e.boolean("shellinertia", false)) {
    e.fail(
        "mass is on the surface of the geom, expected solid geoms (give the body an <inertial>)");
  }
  const Transform<double> X = geom.shape.origin.transform();
  RigidInertia<double> I = RigidInertia<double>::zero();
  if (const auto* mesh = std::get_if<Mesh>(&geom.shape.shape)) {
    const auto file = find_mesh(mesh->file, robot_file, options);
    if (!file) {
      e.fail("mass comes from the mesh " + in_quotes(mesh->file) +
             ", which is missing, expected its file (or an <inertial>)");
    }
    const TriangleMesh solid = load_mesh(*file, mesh->scale);
    I = solid_inertia(solid, 1.0);
    // Of a cube, the root of the surface is 2.4 times the third root of the volume.
    if (!(std::abs(I.m) > 1e-12 * std::pow(surface_of(solid), 1.5))) {
      e.fail("mass comes from the mesh " + in_quotes(mesh->file) +
             ", which encloses nothing, expected a solid (or an <inertial>)");
    }
    if (!is_closed(solid)) {
      doubt = "mesh " + in_quotes(mesh->file) +
              " has holes, or triangles that are turned or there twice: its mass is that of the "
              "solid that they and their "
              "middle enclose, expected a closed surface (or an <inertial>)";
    }
    if (I.m < 0.0) I = {-I.m, -I.h, {-I.I.xx, -I.I.xy, -I.I.xz, -I.I.yy, -I.I.yz, -I.I.zz}};
  } else {
    const Volume solid = std::visit(VolumeOf{}, geom.shape.shape);
    I.m = solid.volume;
    I.I.xx = solid.moments.x, I.I.yy = solid.moments.y, I.I.zz = solid.moments.z;
  }
  if (I.m <= 0.0) return RigidInertia<double>::zero();  // planes and height fields
  const double k = mass ? *mass / I.m : density;
  I.m *= k, I.h = scale(k, I.h);
  I.I = {k * I.I.xx, k * I.I.xy, k * I.I.xz, k * I.I.yy, k * I.I.yz, k * I.I.zz};
  return congruence(X, I);
}

Inertial inertial_of(const RigidInertia<double>& I) {
  Inertial out;
  out.mass = I.m;
  if (I.m <= 0.0) return out;
  const Vec3<double> c = scale(1.0 / I.m, I.h);
  out.origin.xyz = c;
  const RigidInertia<double> point = RigidInertia<double>::from_com(I.m, c, Sym3<double>::zero());
  out.I = {I.I.xx - point.I.xx, I.I.xy - point.I.xy, I.I.xz - point.I.xz,
           I.I.yy - point.I.yy, I.I.yz - point.I.yz, I.I.zz - point.I.zz};
  return out;
}

}  // namespace espalier::mjcf
