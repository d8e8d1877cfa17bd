#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "benchmarks/loops/contestants.hpp"
#include "benchmarks/peers/loop_peer.h"
#include "espalier/kernel/model/motion/spanning_motion.hpp"

namespace espalier::bench {

namespace {

/// What stops early says something about the robot's accelerations; how much is told beside it.
constexpr double iterated_agreement = 1e-1;

/// The table of a module, or null where it was not built.
const espalier_loop_peer* load(const std::string& name) {
  const std::string file = ESPALIER_PEER_FOLDER "/peer_" + name + ".so";
  if (!std::filesystem::exists(file)) return nullptr;
  // Local: libraries that are compiled differently do not see each other's symbols.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  void* entry = dlsym(library, "espalier_loop_peer_table");
  if (entry == nullptr) throw std::runtime_error(dlerror());
  return reinterpret_cast<espalier_loop_peer_entry>(entry)();
}

void write(const Vec3<double>& v, double* out) { out[0] = v.x, out[1] = v.y, out[2] = v.z; }

espalier_loop_body body_of(const Model& model, int i) {
  const Body& body = model.body(i);
  const Transform<double>& X = body.placement;
  espalier_loop_body out{};
  out.parent = body.parent - 1;
  for (int c = 0; c < 3; ++c) {  // E takes the parent's coordinates to the frame's: its transpose
    out.rotation[c] = X.E.row[c].x;
    out.rotation[3 + c] = X.E.row[c].y;
    out.rotation[6 + c] = X.E.row[c].z;
  }
  write(X.r, out.offset);
  const RigidInertia<double>& I = body.inertia;
  out.mass = I.m;
  const Vec3<double> com = I.m > 0.0 ? scale(1.0 / I.m, I.h) : Vec3<double>{0, 0, 0};
  write(com, out.com);
  const double cc = dot(com, com);
  const auto about_com = [&](double about_origin, double a, double b, double diagonal) {
    return about_origin - I.m * (diagonal * cc - a * b);
  };
  const double xx = about_com(I.I.xx, com.x, com.x, 1), yy = about_com(I.I.yy, com.y, com.y, 1),
               zz = about_com(I.I.zz, com.z, com.z, 1), xy = about_com(I.I.xy, com.x, com.y, 0),
               xz = about_com(I.I.xz, com.x, com.z, 0), yz = about_com(I.I.yz, com.y, com.z, 0);
  const double rows[9] = {xx, xy, xz, xy, yy, yz, xz, yz, zz};
  std::copy(std::begin(rows), std::end(rows), out.inertia);
  return out;
}

/// G of the whole robot, by rows; empty where it is not constant.
std::vector<double> constant_G(const Model& model) {
  if (model.has_variable_constraints()) return {};
  std::vector<double> G(static_cast<std::size_t>(model.spanning_nv()) * model.nv(), 0.0);
  for (const Cluster& c : model.clusters()) {
    for (int row = 0; row < c.rows(); ++row) {
      for (int j = 0; j < c.nv; ++j) {
        const double value = c.constrained ? c.G[row * c.nv + j] : row == j ? 1.0 : 0.0;
        G[static_cast<std::size_t>(c.rate(row)) * model.nv() + c.v + j] = value;
      }
    }
  }
  return G;
}

std::vector<espalier_loop_pin> pins_of(const LoopRobot& robot) {
  std::vector<espalier_loop_pin> pins;
  for (const SharedPoint& point : robot.points) {
    espalier_loop_pin& pin = pins.emplace_back();
    for (int s = 0; s < 2; ++s) {
      pin.body[s] = point.body[s] - 1;
      write(point.point[s], pin.point[s]);
    }
  }
  return pins;
}

/// @throws std::runtime_error for types that peers are not given
espalier_loop_joint kind_of(const Joint& joint) {
  if (joint.type == "revolute" || joint.type == "continuous") return espalier_loop_revolute;
  if (joint.type == "prismatic") return espalier_loop_prismatic;
  if (joint.type == "universal") return espalier_loop_universal;
  if (joint.type == "spherical") return espalier_loop_spherical;
  throw std::runtime_error("joint '" + joint.name + "' is of type " + joint.type +
                           ", expected revolute, prismatic, universal or spherical");
}

class Built {
 public:
  Built(const espalier_loop_peer& peer, const LoopRobot& robot, const Model& model,
        const std::vector<RandomState>& states)
      : table(peer) {
    std::vector<espalier_loop_body> bodies;
    for (int i = 1; i <= model.body_count(); ++i) {
      bodies.push_back(body_of(model, i));
      const bool root = robot.floating && i == 1;
      if (!root) bodies.back().joint = kind_of(model.joints()[model.body(i).joint]);
    }
    const std::vector<int> independent(model.independent_rates().begin(),
                                       model.independent_rates().end());
    const std::vector<double> G = constant_G(model);
    const std::vector<espalier_loop_pin> pins = pins_of(robot);
    espalier_loop_robot plain{};
    plain.floating = robot.floating;
    write(model.gravity(), plain.gravity);
    plain.body_count = model.body_count(), plain.bodies = bodies.data();
    plain.nv = model.nv(), plain.independent = independent.data();
    plain.G = G.empty() ? nullptr : G.data();
    plain.pin_count = static_cast<int>(pins.size()), plain.pins = pins.data();
    char message[500] = "";
    handle = table.open(&plain, message, sizeof message);
    if (handle == nullptr) throw std::runtime_error(message);
    SpanningMotion<double> motion(model);
    for (int k = 0; k < state_count; ++k) {
      motion.update(states[k].q.data(), states[k].v.data());
      table.set(handle, k, states[k].q.data(), motion.qd(), states[k].tau.data());
    }
  }
  ~Built() { table.close(handle); }
  Built(const Built&) = delete;
  Built& operator=(const Built&) = delete;

  const espalier_loop_peer& table;
  void* handle = nullptr;
};

class Way final : public Contestant {
 public:
  Way(const std::shared_ptr<Built>& built, int way, const LoopRobot& robot)
      : Contestant(work_of(*built, way), built->table.library, built->table.way(built->handle, way),
                   built->table.iterates(built->handle, way) != 0 ? iterated_agreement : rounding),
        built_(built),
        way_(way),
        robot_(robot) {}
  void call(int k) override { built_->table.run(built_->handle, way_, k); }
  std::vector<double> result(int) override {
    const std::size_t n = robot_.model->nv();
    const std::size_t columns = work == Work::forward ? 1 : n;
    std::vector<double> out(n * columns);
    built_->table.read(built_->handle, way_, out.data());
    if (robot_.kept == nullptr) return out;
    std::vector<double> ordered(out.size());
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < columns; ++j) {
        const std::size_t from = columns == 1 ? 0 : robot_.kept_rate[j];
        ordered[i * columns + j] = out[robot_.kept_rate[i] * columns + from];
      }
    }
    return ordered;
  }

 private:
  static Work work_of(const Built& built, int way) {
    const bool derivatives = built.table.is_derivatives(built.handle, way) != 0;
    return derivatives ? Work::forward_derivatives : Work::forward;
  }

  std::shared_ptr<Built> built_;
  int way_;
  const LoopRobot& robot_;
};

}  // namespace

void add_loop_peers(const LoopRobot& robot, Contestants& all, Refusals& refused) {
  const bool rotors = robot.kept != nullptr;
  for (std::string name : {"pinocchio_loops", "pinocchio_4_loops", "generalized_rbda"}) {
    try {
      const espalier_loop_peer* table = load(name);
      if (table == nullptr) continue;
      name = table->library;
      const auto built = std::make_shared<Built>(*table, robot, rotors ? *robot.kept : *robot.model,
                                                 rotors ? robot.kept_states : robot.states);
      for (int way = 0; way < table->way_count(built->handle); ++way) {
        all.push_back(std::make_unique<Way>(built, way, robot));
      }
    } catch (const std::exception& error) {
      refused.emplace_back(name, error.what());
    }
  }
}

}  // namespace espalier::bench
