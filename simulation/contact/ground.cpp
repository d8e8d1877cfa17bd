#include "espalier/simulation/contact/ground.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/mesh_files.hpp"
#include "espalier/kernel/suggest.hpp"
#include "espalier/kernel/text.hpp"

namespace espalier::contact {

namespace {

using Json = nlohmann::json;

class GroundReader {
 public:
  GroundReader(const Model& model, const std::string& file, WorldReport& report,
               const ReadOptions& reading)
      : model_(model), file_(file), report_(report), reading_(reading) {}

  World read(std::string_view text) {
    Json all;
    try {
      all = Json::parse(text);
    } catch (const Json::exception& error) {
      fail(std::string("text is no JSON (") + error.what() + "), expected an object");
    }
    expect_object(all, "ground");
    expect_keys(all, "",
                {"friction", "restitution", "stiffness", "damping", "torsional_friction",
                 "rolling_friction", "plane", "height_field", "shapes", "self_collision", "exclude",
                 "margin"});
    surface(all, surface_);
    World world;
    if (all.contains("plane") || !all.contains("height_field")) {
      world.shapes.push_back(World::ground(surface_));
    }
    if (all.contains("plane")) plane(all["plane"], world.shapes.back());
    if (all.contains("height_field")) world.shapes.push_back(height_field(all["height_field"]));
    if (all.contains("shapes")) {
      if (!all["shapes"].is_array()) refuse("'shapes'", all["shapes"], "a list of objects");
      for (const Json& item : all["shapes"]) world.shapes.push_back(shape(item));
    } else {
      World of_model = world_of(model_, surface_, &report_, reading_);
      std::move(of_model.shapes.begin(), of_model.shapes.end(), std::back_inserter(world.shapes));
      world.excluded = std::move(of_model.excluded);
    }
    if (all.contains("self_collision")) {
      if (!all["self_collision"].is_boolean()) {
        refuse("'self_collision'", all["self_collision"], "true or false");
      }
      world.self_collision = all["self_collision"].get<bool>();
    }
    if (all.contains("margin")) numbers(all["margin"], "'margin'", 1, &world.margin);
    if (all.contains("exclude")) exclude(all["exclude"], world);
    return world;
  }

 private:
  void surface(const Json& from, Surface& s) const {
    for (const auto& [key, place] :
         {std::pair{"friction", &s.friction}, std::pair{"restitution", &s.restitution},
          std::pair{"stiffness", &s.stiffness}, std::pair{"damping", &s.damping},
          std::pair{"torsional_friction", &s.torsional_friction},
          std::pair{"rolling_friction", &s.rolling_friction}}) {
      if (from.contains(key)) numbers(from[key], "'" + std::string(key) + "'", 1, place);
    }
  }
  void vector(const Json& from, const char* key, Vec3<double>& to) const {
    if (!from.contains(key)) return;
    std::array<double, 3> x{};
    numbers(from[key], "'" + std::string(key) + "'", 3, x.data());
    to = {x[0], x[1], x[2]};
  }
  void plane(const Json& from, PlacedShape& ground) const {
    expect_object(from, "'plane'");
    expect_keys(from, " of 'plane'", {"height", "rpy", "velocity"});
    if (from.contains("height")) numbers(from["height"], "'height'", 1, &ground.pose.xyz.z);
    vector(from, "rpy", ground.pose.rpy);
    vector(from, "velocity", ground.velocity);
  }
  double number(const Json& from, const std::string& of, const char* key) const {
    if (!from.contains(key)) {
      fail("'" + std::string(key) + "' of " + of + " is missing, expected it");
    }
    double x = 0.0;
    numbers(from[key], "'" + std::string(key) + "'", 1, &x);
    return x;
  }
  int count(const Json& from, const std::string& of, const char* key) const {
    const double x = number(from, of, key);
    if (x >= 2.0 && x <= 1e6 && x == std::floor(x)) return static_cast<int>(x);
    fail("'" + std::string(key) + "' of " + of + " is " + from[key].dump() +
         ", expected a whole number from 2 to 1000000");
  }
  PlacedShape height_field(const Json& from) const {
    const std::string of = "'height_field'";
    expect_object(from, of);
    expect_keys(from, " of " + of, {"columns", "rows", "spacing", "heights", "xyz", "rpy"});
    const int columns = count(from, of, "columns"), rows = count(from, of, "rows");
    std::vector<double> heights(static_cast<std::size_t>(columns) * rows);
    if (!from.contains("heights")) {
      fail("'heights' of " + of + " is missing, expected it");
    }
    numbers(from["heights"], "'heights'", columns * rows, heights.data());
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
    if (!from.is_string()) refuse("'mesh'", from, "a file");
    const auto name = from.get<std::string>();
    const std::optional<std::string> path = find_mesh(name, file_, reading_);
    if (!path) {
      fail("'mesh' is '" + name +
           "', which is missing, expected a file in the ground file's folder or a "
           "search path (name its folder by --search, or allow others by --outside)");
    }
    MeshHull summary;
    Vec3<double> middle;
    const Shape hull = mesh_shape(*path, {1, 1, 1}, middle, summary);
    s.pose.xyz += transpose_times(s.pose.transform().E, middle);
    summary.shape = s.name.empty() ? s.link : s.name;
    report_.meshes.push_back(std::move(summary));
    return hull;
  }
  PlacedShape shape(const Json& from) const {
    expect_object(from, "a shape");
    expect_keys(from, " of a shape",
                {"link", "name", "sphere", "box", "hull", "mesh", "capsule", "cylinder", "xyz",
                 "rpy", "friction", "restitution", "stiffness", "damping", "torsional_friction",
                 "rolling_friction", "velocity"});
    PlacedShape s;
    for (const auto& [key, place] : {std::pair{"link", &s.link}, std::pair{"name", &s.name}}) {
      if (!from.contains(key)) continue;
      if (!from[key].is_string()) refuse("'" + std::string(key) + "'", from[key], "a name");
      *place = from[key].get<std::string>();
    }
    if (!s.link.empty()) expect_link("shapes", s.link);
    int kinds = 0;
    double two[2];
    Vec3<double> half{0, 0, 0};
    if (from.contains("sphere") && ++kinds > 0) s.shape = Shape::sphere(number(from, "", "sphere"));
    if (from.contains("box") && ++kinds > 0) {
      vector(from, "box", half);
      s.shape = Shape::box(half);
    }
    if (from.contains("capsule") && ++kinds > 0) {
      numbers(from["capsule"], "'capsule'", 2, two);
      s.shape = Shape::capsule(two[0], two[1]);
    }
    if (from.contains("cylinder") && ++kinds > 0) {
      numbers(from["cylinder"], "'cylinder'", 2, two);
      s.shape = Shape::cylinder(two[0], two[1]);
    }
    if (from.contains("hull") && ++kinds > 0) {
      if (!from["hull"].is_array()) refuse("'hull'", from["hull"], "a list of points");
      std::vector<Vec3<double>> vertices;
      for (const Json& point : from["hull"]) {
        double x[3];
        numbers(point, "point of 'hull'", 3, x);
        vertices.emplace_back(x[0], x[1], x[2]);
      }
      s.shape = Shape::hull(std::move(vertices));
    }
    vector(from, "xyz", s.pose.xyz);
    vector(from, "rpy", s.pose.rpy);
    vector(from, "velocity", s.velocity);
    if (from.contains("mesh") && ++kinds > 0) s.shape = mesh(from["mesh"], s);
    if (kinds != 1) {
      fail("number of kinds of a shape on link '" + s.link + "' is " + std::to_string(kinds) +
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
      refuse("'exclude'", from, "a list of pairs of link names");
    }
    for (const Json& x : from) {
      world.excluded.emplace_back(x[0].get<std::string>(), x[1].get<std::string>());
    }
  }

  // The form of what is read; messages begin with the file's name.
  [[noreturn]] void fail(const std::string& what) const { throw InvalidModel(file_ + ": " + what); }
  [[noreturn]] void refuse(const std::string& what, const Json& got,
                           const std::string& expected) const {
    fail(what + " is of type " + got.type_name() + ", expected " + expected);
  }
  void expect_object(const Json& value, const std::string& what) const {
    if (!value.is_object()) refuse(what, value, "an object {name: ...}");
  }
  void expect_keys(const Json& object, const std::string& of,
                   const std::vector<std::string>& known) const {
    for (const auto& item : object.items()) {
      if (std::find(known.begin(), known.end(), item.key()) != known.end()) continue;
      throw UnknownName(file_ + ": key '" + item.key() + "'" + of + " is unknown" +
                        suggest(item.key(), known));
    }
  }
  /// A number, or a list of `size` numbers.
  void numbers(const Json& value, const std::string& what, int size, double* out) const {
    const bool single = !value.is_array();
    const int got = single ? 1 : static_cast<int>(value.size());
    for (int k = 0; k < got; ++k) {
      const Json& x = single ? value : value[k];
      if (!x.is_number()) {
        refuse(what, x, size == 1 ? "a number" : std::to_string(size) + " numbers");
      }
      if (k < size) out[k] = x.get<double>();
    }
    if (got == size) return;
    throw SizeMismatch(file_ + ": size of " + what + " is " + std::to_string(got) + ", expected " +
                       std::to_string(size));
  }
  void expect_link(const std::string& key, const std::string& name) const {
    if (model_.find_link(name) != nullptr) return;
    std::vector<std::string> known;
    for (const Link& l : model_.links()) known.push_back(l.name);
    throw UnknownName(file_ + ": link '" + name + "' in '" + key + "' is unknown" +
                      suggest(name, known));
  }

  const Model& model_;
  std::string file_;
  Surface surface_;
  WorldReport& report_;
  const ReadOptions& reading_;
};

void expect_solids(const std::string& who, const Model& model, const World& world) {
  const auto moves = [&](const PlacedShape& s) {
    return !s.link.empty() && model.link(s.link).body != 0;
  };
  if (std::any_of(world.shapes.begin(), world.shapes.end(), moves)) return;
  throw InvalidModel(who +
                     ": number of shapes on links that move is 0, expected some (give \"shapes\" "
                     "in a ground file, or "
                     "collision shapes in the model's)");
}

}  // namespace

World plane_ground(const Model& model, WorldReport& report, const ReadOptions& reading) {
  World world = world_of(model, {}, &report, reading);
  // A floor of the file at the same place would double every point.
  const auto is_floor = [&](const PlacedShape& s) {
    if (s.shape.kind != Shape::Kind::plane || model.link(s.link).body != 0) return false;
    const Transform<double> X = s.pose.transform() * model.link(s.link).X;
    return std::abs(X.r.z) < 1e-9 && X.E(2, 2) > 1.0 - 1e-12;
  };
  if (std::none_of(world.shapes.begin(), world.shapes.end(), is_floor)) {
    world.shapes.insert(world.shapes.begin(), World::ground());
  }
  expect_solids("ground 'plane'", model, world);
  return world;
}

World read_ground(const Model& model, std::string_view json, const std::string& origin,
                  WorldReport& report, const ReadOptions& reading) {
  World world = GroundReader(model, origin, report, reading).read(json);
  expect_solids("ground " + text::quoted(origin), model, world);
  return world;
}

std::optional<Overlap> overlap_at_start(ContactSimulation& trial, In<double> q, In<double> v,
                                        double h) {
  constexpr double deep = 5e-3;  // [m]; robots are often placed to the millimetre
  try {
    trial.start(q, v);
    trial.step(h);
  } catch (const SingularMechanism&) {
    return std::nullopt;  // the run tells
  }
  std::optional<Overlap> worst;
  for (const ContactSample& c : trial.contacts()) {
    if (c.gap < -deep && (!worst || -c.gap > worst->depth)) {
      worst = {std::string(c.first), std::string(c.second), -c.gap};
    }
  }
  return worst;
}

}  // namespace espalier::contact
