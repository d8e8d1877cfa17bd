#include "cli/files/contact_run.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>

#include "cli/files/json_form.hpp"
#include "espalier/kernel/suggest.hpp"

namespace espalier::cli {

namespace {

void warn_of_shapes(Session& session, const std::vector<std::string>& left_out) {
  if (left_out.empty()) return;
  session.warn(
      fmt::format("simulate: collision shapes that touch nothing are {}, expected planes, boxes, "
                  "spheres, capsules, cylinders and meshes (give what is to touch as \"shapes\" in "
                  "a file for --ground)",
                  fmt::join(left_out, ", ")));
}

/// Concave meshes once, all together.
void warn_of_meshes(Session& session, const std::vector<contact::MeshHull>& meshes) {
  std::vector<std::string> hollow;
  for (const contact::MeshHull& m : meshes) {
    if (m.hollow > 0.0) hollow.push_back(fmt::format("{} ({:.2g} m deep)", m.shape, m.hollow));
  }
  if (hollow.empty()) return;
  session.warn(
      fmt::format("simulate: meshes that are concave are {}, taken as their hull (give convex "
                  "parts as \"shapes\" in a file for --ground)",
                  fmt::join(hollow, ", ")));
}

contact::World read_world(const Model& model, const std::string& ground,
                          contact::WorldReport& shapes, const ReadOptions& reading) {
  if (ground == "plane") return contact::plane_ground(model, shapes, reading);
  if (!std::filesystem::exists(ground) && ground.find_first_of("./") == std::string::npos) {
    throw usage_error("--ground is '" + ground +
                      "', which is no file, expected 'plane' or a ground file (JSON)" +
                      did_you_mean(ground, {"plane"}));
  }
  const std::string text = parse_json(ground, "ground").dump();  // says where it is no JSON
  try {
    return contact::read_ground(model, text, ground, shapes, reading);
  } catch (const InvalidModel& error) {
    throw usage_error(error.what());
  }
}

}  // namespace

Ground read_ground(Session& session, const Model& model, const std::string& ground,
                   const ReadOptions& reading) {
  Ground out;
  out.world = read_world(model, ground, out.shapes, reading);
  warn_of_shapes(session, out.shapes.left_out);
  warn_of_meshes(session, out.shapes.meshes);
  return out;
}

void warn_of_overlap(Session& session, contact::ContactSimulation& trial, const State& start,
                     double dt) {
  const auto worst = contact::overlap_at_start(trial, start.inputs.q, start.inputs.v, dt);
  if (!worst) return;
  session.warn(
      fmt::format("simulate: shapes '{}' and '{}' overlap by {:.3g} m at the start, "
                  "expected none to (place the robot higher with \"q\" in --state; z of "
                  "'root' is its third number)",
                  worst->first, worst->second, worst->depth));
}

ContactColumns::ContactColumns(const contact::ContactSimulation& simulation)
    : simulation_(simulation) {
  std::vector<std::string> taken;
  for (const auto& solid : simulation.plan().solids()) {
    if (solid.body == 0) continue;
    // Shapes of one link may have one name.
    const auto same = std::count(taken.begin(), taken.end(), solid.name);
    taken.push_back(solid.name);
    std::string name = "contact." + solid.name;
    if (same > 0) name += "[" + std::to_string(same) + "]";
    for (const char* axis : {".fx", ".fy", ".fz"}) names.push_back(name + axis);
    shapes_.push_back(&solid);
  }
  names.emplace_back("contacts");
  names.emplace_back("contact_residual");
}

const std::vector<double>& ContactColumns::values() {
  values_.assign(names.size(), 0.0);
  const auto forces = simulation_.shape_forces();
  std::size_t k = 0;
  for (const auto* solid : shapes_) {
    const Vec3<double>& f = forces[solid - simulation_.plan().solids().data()];
    for (int i = 0; i < 3; ++i) values_[k++] = f[i];
  }
  for (const auto& c : simulation_.contacts()) values_[k] += dot(c.force, c.force) > 0.0;
  values_[k + 1] = simulation_.contact_residual();
  return values_;
}

}  // namespace espalier::cli
