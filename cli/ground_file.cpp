#include "cli/ground_file.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "cli/json_form.hpp"
#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/mesh_files.hpp"

namespace espalier::cli {

namespace {

using contact::PlacedShape;
using contact::Shape;
using contact::Surface;
using contact::World;

class GroundReader {
 public:
  GroundReader(const Model& model, const std::string& file, contact::WorldReport& report,
               const ReadOptions& reading)
      : model_(model), form_{file}, report_(report), reading_(reading) {}

  World read() {
    const Json all = parse_json(form_.file, "ground");
    form_.object(all, "ground file");
    form_.expect_keys(all, "",
                      {"friction", "restitution", "stiffness", "damping", "plane", "height_field",
                       "shapes", "self_collision", "exclude", "margin"});
    surface(all, surface_);
    World world;
    if (all.contains("plane") || !all.contains("height_field")) {
      world.shapes.push_back(World::ground(surface_));
    }
    if (all.contains("plane")) plane(all["plane"], world.shapes.back());
    if (all.contains("height_field")) world.shapes.push_back(height_field(all["height_field"]));
    if (all.contains("shapes")) {
      if (!all["shapes"].is_array()) form_.refuse("'shapes'", all["shapes"], "a list of objects");
      for (const Json& item : all["shapes"]) world.shapes.push_back(shape(item));
    } else {
      World of_model = contact::world_of(model_, surface_, &report_, reading_);
      std::move(of_model.shapes.begin(), of_model.shapes.end(), std::back_inserter(world.shapes));
      world.excluded = std::move(of_model.excluded);
    }
    if (all.contains("self_collision")) {
      if (!all["self_collision"].is_boolean()) {
        form_.refuse("'self_collision'", all["self_collision"], "true or false");
      }
      world.self_collision = all["self_collision"].get<bool>();
    }
    if (all.contains("margin")) form_.numbers(all["margin"], "'margin'", 1, &world.margin);
    if (all.contains("exclude")) exclude(all["exclude"], world);
    return world;
  }

 private:
  void surface(const Json& from, Surface& s) const {
    for (const auto& [key, place] :
         {std::pair{"friction", &s.friction}, std::pair{"restitution", &s.restitution},
          std::pair{"stiffness", &s.stiffness}, std::pair{"damping", &s.damping}}) {
      if (from.contains(key)) form_.numbers(from[key], "'" + std::string(key) + "'", 1, place);
    }
  }
  void vector(const Json& from, const char* key, Vec3<double>& to) const {
    if (!from.contains(key)) return;
    std::array<double, 3> x{};
    form_.numbers(from[key], "'" + std::string(key) + "'", 3, x.data());
    to = {x[0], x[1], x[2]};
  }
  void plane(const Json& from, PlacedShape& ground) const {
    form_.object(from, "'plane'");
    form_.expect_keys(from, " of 'plane'", {"height", "rpy"});
    if (from.contains("height")) form_.numbers(from["height"], "'height'", 1, &ground.pose.xyz.z);
    vector(from, "rpy", ground.pose.rpy);
  }
  double number(const Json& from, const std::string& of, const char* key) const {
    if (!from.contains(key)) {
      throw usage_error(form_.file + ": '" + key + "' of " + of + " is missing, expected it");
    }
    double x = 0.0;
    form_.numbers(from[key], "'" + std::string(key) + "'", 1, &x);
    return x;
  }
  int count(const Json& from, const std::string& of, const char* key) const {
    const double x = number(from, of, key);
    if (x >= 2.0 && x <= 1e6 && x == std::floor(x)) return static_cast<int>(x);
    throw usage_error(form_.file + ": '" + key + "' of " + of + " is " + from[key].dump() +
                      ", expected a whole number from 2 to 1000000");
  }
  PlacedShape height_field(const Json& from) const {
    const std::string of = "'height_field'";
    form_.object(from, of);
    form_.expect_keys(from, " of " + of, {"columns", "rows", "spacing", "heights", "xyz", "rpy"});
    const int columns = count(from, of, "columns"), rows = count(from, of, "rows");
    std::vector<double> heights(static_cast<std::size_t>(columns) * rows);
    if (!from.contains("heights")) {
      throw usage_error(form_.file + ": 'heights' of " + of + " is missing, expected it");
    }
    form_.numbers(from["heights"], "'heights'", columns * rows, heights.data());
    PlacedShape ground;
    ground.shape =
        Shape::height_field(columns, rows, number(from, of, "spacing"), std::move(heights));
    ground.surface = surface_;
    ground.name = "ground";
    vector(from, "xyz", ground.pose.xyz);
    vector(from, "rpy", ground.pose.rpy);
    return ground;
  }
  /// The hull of a mesh, found as a robot's would be that is written beside the ground file.
  Shape mesh(const Json& from, PlacedShape& s) const {
    if (!from.is_string()) form_.refuse("'mesh'", from, "a file");
    const auto name = from.get<std::string>();
    const std::optional<std::string> path = find_mesh(name, form_.file, reading_);
    if (!path) {
      throw usage_error(form_.file + ": 'mesh' is '" + name +
                        "', which is missing, expected a file in the ground file's folder or a "
                        "search path (name its folder by --search, or allow others by --outside)");
    }
    contact::MeshHull summary;
    Vec3<double> middle;
    const Shape hull = contact::mesh_shape(*path, {1, 1, 1}, middle, summary);
    s.pose.xyz += transpose_times(s.pose.transform().E, middle);
    summary.shape = s.name.empty() ? s.link : s.name;
    report_.meshes.push_back(std::move(summary));
    return hull;
  }
  PlacedShape shape(const Json& from) const {
    form_.object(from, "a shape");
    form_.expect_keys(from, " of a shape",
                      {"link", "name", "sphere", "box", "hull", "mesh", "capsule", "cylinder",
                       "xyz", "rpy", "friction", "restitution", "stiffness", "damping"});
    PlacedShape s;
    for (const auto& [key, place] : {std::pair{"link", &s.link}, std::pair{"name", &s.name}}) {
      if (!from.contains(key)) continue;
      if (!from[key].is_string()) form_.refuse("'" + std::string(key) + "'", from[key], "a name");
      *place = from[key].get<std::string>();
    }
    if (!s.link.empty()) (void)form_.link(model_, "shapes", s.link);
    int kinds = 0;
    double two[2];
    Vec3<double> half{0, 0, 0};
    if (from.contains("sphere") && ++kinds > 0) s.shape = Shape::sphere(number(from, "", "sphere"));
    if (from.contains("box") && ++kinds > 0) {
      vector(from, "box", half);
      s.shape = Shape::box(half);
    }
    if (from.contains("capsule") && ++kinds > 0) {
      form_.numbers(from["capsule"], "'capsule'", 2, two);
      s.shape = Shape::capsule(two[0], two[1]);
    }
    if (from.contains("cylinder") && ++kinds > 0) {
      form_.numbers(from["cylinder"], "'cylinder'", 2, two);
      s.shape = Shape::cylinder(two[0], two[1]);
    }
    if (from.contains("hull") && ++kinds > 0) {
      if (!from["hull"].is_array()) form_.refuse("'hull'", from["hull"], "a list of points");
      std::vector<Vec3<double>> vertices;
      for (const Json& point : from["hull"]) {
        double x[3];
        form_.numbers(point, "point of 'hull'", 3, x);
        vertices.emplace_back(x[0], x[1], x[2]);
      }
      s.shape = Shape::hull(std::move(vertices));
    }
    vector(from, "xyz", s.pose.xyz);
    vector(from, "rpy", s.pose.rpy);
    if (from.contains("mesh") && ++kinds > 0) s.shape = mesh(from["mesh"], s);
    if (kinds != 1) {
      throw usage_error(form_.file + ": number of kinds of a shape on link '" + s.link + "' is " +
                        std::to_string(kinds) +
                        ", expected one of sphere, box, capsule, cylinder, hull, mesh");
    }
    s.surface = surface_;
    surface(from, s.surface);
    return s;
  }
  void exclude(const Json& from, World& world) const {
    const auto pair = [](const Json& x) {
      return x.is_array() && x.size() == 2 && x[0].is_string() && x[1].is_string();
    };
    if (!from.is_array() || !std::all_of(from.begin(), from.end(), pair)) {
      form_.refuse("'exclude'", from, "a list of pairs of link names");
    }
    for (const Json& x : from) {
      world.excluded.emplace_back(x[0].get<std::string>(), x[1].get<std::string>());
    }
  }

  const Model& model_;
  JsonForm form_;
  Surface surface_;
  contact::WorldReport& report_;
  const ReadOptions& reading_;
};

}  // namespace

contact::World read_ground(const Model& model, const std::string& plane_or_file,
                           contact::WorldReport& report, const ReadOptions& reading) {
  World world;
  if (plane_or_file == "plane") {
    world = contact::world_of(model, {}, &report, reading);
    world.shapes.insert(world.shapes.begin(), World::ground());
  } else {
    world = GroundReader(model, plane_or_file, report, reading).read();
  }
  const auto moves = [&](const PlacedShape& s) {
    return !s.link.empty() && model.link(s.link).body != 0;
  };
  if (!std::any_of(world.shapes.begin(), world.shapes.end(), moves)) {
    throw InvalidModel("--ground " + plane_or_file + ": number of shapes on links of " +
                       model.name() +
                       " that move is 0, expected some (give \"shapes\" in a ground file, or "
                       "collision shapes in the model's; see 'simulate --help')");
  }
  return world;
}

}  // namespace espalier::cli
