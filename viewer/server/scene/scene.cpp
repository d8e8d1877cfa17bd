#include "viewer/server/scene/scene.hpp"

#include <spdlog/fmt/fmt.h>
#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "espalier/kernel/graph/mechanism_graphs.hpp"
#include "espalier/kernel/linear_algebra/decompositions.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "viewer/server/motion/pins.hpp"

namespace espalier::viewer {

namespace {

Json vector(const Vec3<double>& v) { return {v.x, v.y, v.z}; }

/// A point of a link, in the frame of the link's body.
Vec3<double> on_body(const Link& link, const Vec3<double>& point) {
  return link.X.r + transpose_times(link.X.E, point);
}

Json shape_json(const Shape& shape, const MeshFiles& meshes) {
  Json out{{"kind", shape_kind(shape)}};
  struct Write {
    Json& out;
    const MeshFiles& meshes;
    void operator()(const Box& s) { out["size"] = vector(s.size); }
    void operator()(const Sphere& s) { out["radius"] = s.radius; }
    void operator()(const Cylinder& s) { out["radius"] = s.radius, out["length"] = s.length; }
    void operator()(const Capsule& s) { out["radius"] = s.radius, out["length"] = s.length; }
    void operator()(const Ellipsoid& s) { out["radii"] = vector(s.radii); }
    void operator()(const Plane& s) { out["size"] = {s.x, s.y}; }
    void operator()(const Mesh& s) {
      const int number = meshes.find(s.file);
      out["scale"] = vector(s.scale), out["file"] = s.file;
      if (number < 0) return;
      const MeshFiles::File& file = meshes.files()[number];
      out["format"] = file.kind;
      if (file.path.empty()) {
        out["problem"] = file.problem;
      } else {
        out["mesh"] = number;
      }
    }
    void operator()(const HeightField& s) {
      out["size"] = vector(s.size), out["rows"] = s.rows, out["columns"] = s.columns;
      out["base"] = s.base, out["heights"] = s.heights;
    }
  };
  std::visit(Write{out, meshes}, shape);
  return out;
}

/// Centre, axes and radii of the solid ellipsoid of even density that has a link's inertia, in the
/// frame of its body.
Json ellipsoid(const Inertial& inertial, const Link& link) {
  Eigen::Matrix3d I;
  I << inertial.I.xx, inertial.I.xy, inertial.I.xz,  //
      inertial.I.xy, inertial.I.yy, inertial.I.yz,   //
      inertial.I.xz, inertial.I.yz, inertial.I.zz;
  const detail::SymmetricEigen<3> found = detail::eigen_of_symmetric(I);
  Eigen::Matrix3d axes = found.vectors;
  if (axes.determinant() < 0.0) axes.col(2) = -axes.col(2);
  const Eigen::Vector3d d = found.values;
  const double sum = d.sum();
  Json radii = Json::array();
  for (int i = 0; i < 3; ++i) {
    radii.push_back(std::sqrt(std::max(0.0, 2.5 / inertial.mass * (sum - 2.0 * d[i]))));
  }
  Transform<double> principal{Mat3<double>::zero(), Vec3<double>::zero()};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) principal.E(i, j) = axes(j, i);
  }
  const Transform<double> X = principal * inertial.origin.transform() * link.X;
  return {{"mass", inertial.mass}, {"at", placement(X)}, {"radii", radii}};
}

/// Ends of bars that no joint of the tree marks: ends of loops' joints and pins of laws.
Json loop_ends(const Description& description, const Model& model) {
  Json out = Json::array();
  for (const Tie& tie : ties_of(description)) {
    Json ends = Json::array();
    for (const BarEnd& end : tie.ends) {
      const Link& link = model.link(end.link);
      ends.push_back({{"body", link.body}, {"point", vector(on_body(link, end.at))}});
    }
    out.push_back({{"name", tie.name}, {"type", tie.type}, {"ends", ends}});
  }
  return out;
}

/// The units of which the robot is composed, as `espalier graph --kind subsystems` has them, each
/// with its bodies.
Json subsystems_of(const Model& model) {
  const graph::MechanismGraphs& graphs = model.graphs();
  const graph::SubsystemGraph all = graphs.subsystems();
  std::vector<Json> bodies(all.unit_count(), Json::array());
  for (int i = 0; i <= model.body_count(); ++i) {
    const std::string& name = model.body_names()[i];
    int owner = 0;
    if (graphs.composition != nullptr) {
      // Links of a unit are named "unit.link", those of a unit within it "unit.inner.link".
      std::size_t longest = 0;
      for (int u = 0; u < all.unit_count(); ++u) {
        const std::string prefix = all.unit(u).name + ".";
        if (name.starts_with(prefix) && prefix.size() > longest) longest = prefix.size(), owner = u;
      }
    } else if (i > 0) {
      // A unit for each cluster, below that of the ground.
      for (int b = 0; b < graphs.connectivity.body_count(); ++b) {
        if (graphs.connectivity.body_name(b) == name) owner = graphs.clusters.cluster_of[b] + 1;
      }
    }
    bodies[owner].push_back(i);
  }
  Json nodes = Json::array(), edges = Json::array();
  for (int u = 0; u < all.unit_count(); ++u) {
    nodes.push_back(
        {{"name", all.unit(u).name}, {"type", all.unit(u).type}, {"bodies", bodies[u]}});
  }
  for (const graph::Connection& c : all.connections()) {
    edges.push_back({{"from", c.from.unit},
                     {"to", c.to.unit},
                     {"ports", {all.port_name(c.from), all.port_name(c.to)}},
                     {"kind", c.closure ? "closure" : "connection"}});
  }
  return {{"nodes", nodes}, {"edges", edges}};
}

std::string unit_of(const Model& model, const Joint& joint) {
  switch (model.runs()[model.body(joint.body).run].subspace) {
    case SubspaceKind::revolute_z:
      return "rad";
    case SubspaceKind::prismatic_z:
      return "m";
    default:
      return "";
  }
}

void neutral_of(const Model& model, const Joint& joint, std::vector<double>& q) {
  const BodyRun& run = model.runs()[model.body(joint.body).run];
  run.joints->neutral(q.data() + run.q);
}

}  // namespace

std::vector<Slider> sliders_of(const Model& model) {
  std::vector<Slider> out;
  const std::span<const Joint> joints = model.joints();
  for (const Coordinate& c : model.coordinates()) {
    const auto it = std::find_if(joints.begin(), joints.end(),
                                 [&](const Joint& j) { return j.name == c.joint; });
    for (int k = 0; k < c.size; ++k) {
      Slider s;
      s.joint = static_cast<int>(it - joints.begin());
      s.rate = c.start + k, s.component = c.component + k;
      s.tangent = it->nq != it->nv;
      s.name = it->nv == 1 ? it->name : it->name + "[" + std::to_string(s.component) + "]";
      s.unit = unit_of(model, *it);
      s.label = s.name;
      if (s.tangent && (it->nv == 6 || it->nv == 3)) {
        // Turns about x, y, z, then moves along them.
        s.label = fmt::format("{} {} {}", it->name, s.component < 3 ? "turn" : "move",
                              "xyz"[s.component % 3]);
        s.unit = s.component < 3 ? "rad" : "m";
      }
      const Limits& limits = it->limits;
      const double reach = s.unit == "m" ? 0.5 : std::numbers::pi;
      s.limited = it->nv == 1 && (limits.lower || limits.upper);
      s.lower = it->nv == 1 && limits.lower ? *limits.lower : -reach;
      s.upper = it->nv == 1 && limits.upper ? *limits.upper : reach;
      if (!(s.lower < s.upper)) s.upper = s.lower + reach;
      for (std::size_t i = 0; i < model.clusters().size(); ++i) {
        const Cluster& cluster = model.clusters()[i];
        if (s.rate >= cluster.v && s.rate < cluster.v + cluster.nv) s.cluster = static_cast<int>(i);
      }
      out.push_back(std::move(s));
    }
  }
  return out;
}

double slider_value(const Model& model, const Slider& slider, const double* q) {
  const Joint& joint = model.joints()[slider.joint];
  if (!slider.tangent) return q[joint.q + slider.component];
  std::vector<double> neutral(q, q + model.nq()), tangent(model.spanning_nv());
  neutral_of(model, joint, neutral);
  model.difference(neutral.data(), q, tangent.data());
  return tangent[joint.v + slider.component];
}

void set_slider(const Model& model, const Slider& slider, double value, double* q) {
  const Joint& joint = model.joints()[slider.joint];
  if (!slider.tangent) {
    q[joint.q + slider.component] = value;
    return;
  }
  std::vector<double> neutral(q, q + model.nq()), tangent(model.spanning_nv()), moved(model.nq());
  neutral_of(model, joint, neutral);
  model.difference(neutral.data(), q, tangent.data());
  tangent[joint.v + slider.component] = value;
  model.integrate(neutral.data(), tangent.data(), moved.data());
  std::copy_n(moved.begin() + joint.q, joint.nq, q + joint.q);
}

Json scene_of(const Description& description, const Model& model, const MeshFiles& meshes) {
  std::vector<int> joint_of(model.body_count() + 1, -1);
  for (std::size_t i = 0; i < model.joints().size(); ++i) {
    joint_of[model.joints()[i].body] = static_cast<int>(i);
  }
  Json bodies = Json::array();
  for (int i = 0; i <= model.body_count(); ++i) {
    const Body& body = model.body(i);
    bodies.push_back({{"name", model.body_names()[i]},
                      {"parent", i == 0 ? -1 : body.parent},
                      {"cluster", i == 0 ? -1 : body.cluster},
                      {"joint", joint_of[i]},
                      {"placement", i == 0 ? placement(Transform<double>::identity())
                                           : placement(body.placement)},
                      {"rotor", false}});
  }
  for (const Rotor& rotor : model.rotors()) bodies[rotor.body]["rotor"] = true;

  Json links = Json::array();
  for (const Link& link : model.links()) {
    Json out{{"name", link.name},       {"body", link.body},        {"mass", link.mass},
             {"at", placement(link.X)}, {"visuals", Json::array()}, {"collisions", Json::array()}};
    const auto it = std::find_if(description.links.begin(), description.links.end(),
                                 [&](const LinkDescription& d) { return d.name == link.name; });
    if (it != description.links.end() && it->inertial && it->inertial->mass > 0.0) {
      out["inertia"] = ellipsoid(*it->inertial, link);
    }
    links.push_back(std::move(out));
  }
  for (const PlacedShape& placed : model.shapes()) {
    Json shape = shape_json(placed.shape.shape, meshes);
    shape["at"] = placement(placed.X);
    shape["name"] = placed.shape.name;
    if (const auto& c = placed.shape.color) shape["color"] = {c->r, c->g, c->b, c->a};
    links[placed.link][placed.role == PlacedShape::Role::visual ? "visuals" : "collisions"]
        .push_back(std::move(shape));
  }

  Json joints = Json::array();
  for (const Joint& joint : model.joints()) {
    Json out{{"name", joint.name},
             {"type", joint.type},
             {"body", joint.body},
             {"q", joint.q},
             {"nq", joint.nq},
             {"independent", joint.independent >= 0},
             {"unit", unit_of(model, joint)}};
    if (joint.limits.lower) out["lower"] = *joint.limits.lower;
    if (joint.limits.upper) out["upper"] = *joint.limits.upper;
    joints.push_back(std::move(out));
  }

  Json clusters = Json::array();
  for (const Cluster& cluster : model.clusters()) {
    Json members = Json::array();
    for (int k = 0; k < cluster.count; ++k) members.push_back(cluster.first + k);
    for (int k = 0; k < cluster.rotors; ++k) {
      members.push_back(model.rotors()[cluster.rotor + k].body);
    }
    clusters.push_back({{"name", cluster.name},
                        {"parent", cluster.parent},
                        {"bodies", members},
                        {"freedoms", cluster.nv},
                        {"constrained", cluster.constrained},
                        {"variable", cluster.constrained && cluster.G.empty()},
                        {"constraints", cluster.constraints},
                        {"recognised", cluster.recognised}});
  }

  Json sliders = Json::array();
  for (const Slider& s : sliders_of(model)) {
    sliders.push_back({{"name", s.name},
                       {"label", s.label},
                       {"joint", s.joint},
                       {"cluster", s.cluster},
                       {"lower", s.lower},
                       {"upper", s.upper},
                       {"limited", s.limited},
                       {"unit", s.unit}});
  }
  Json frames = Json::array();
  for (const PlacedFrame& frame : model.frames()) {
    frames.push_back({{"name", frame.name}, {"body", frame.body}, {"at", placement(frame.X)}});
  }
  Json problems = Json::array();
  for (const MeshFiles::File& file : meshes.files()) {
    if (!file.problem.empty()) problems.push_back("mesh '" + file.name + "': " + file.problem);
  }
  return {{"name", model.name()},
          {"gravity", vector(model.gravity())},
          {"freedoms", model.nv()},
          {"mass", model.mass()},
          {"bodies", bodies},
          {"links", links},
          {"joints", joints},
          {"clusters", clusters},
          {"loops", loop_ends(description, model)},
          {"subsystems", subsystems_of(model)},
          {"frames", frames},
          {"sliders", sliders},
          {"problems", problems}};
}

}  // namespace espalier::viewer
