#include "espalier/simulation/contact/contact_simulation.hpp"

#include <pybind11/stl.h>

#include "espalier/simulation/contact/ground.hpp"
#include "recorded_run.hpp"

// One robot on rigid ground.

namespace espalier::python {

namespace {

using contact::ContactSimulation;

/// Forces on the robot's shapes over time, and how many points bear load.
class RecordedContact {
 public:
  explicit RecordedContact(const ContactSimulation& simulation) : simulation_(simulation) {
    for (const auto& solid : simulation.plan().solids()) {
      if (solid.body == 0) continue;
      // Shapes of one link may have one name.
      const auto same = std::count(taken_.begin(), taken_.end(), solid.name);
      taken_.push_back(solid.name);
      names_.push_back(same > 0 ? solid.name + "[" + std::to_string(same) + "]" : solid.name);
      shapes_.push_back(&solid - simulation.plan().solids().data());
    }
    forces_.resize(shapes_.size());
  }

  void take() {
    const auto all = simulation_.shape_forces();
    for (std::size_t k = 0; k < shapes_.size(); ++k) {
      const Vec3<double>& f = all[shapes_[k]];
      const double row[3] = {f.x, f.y, f.z};
      forces_[k].add(row);
    }
    double loaded = 0.0;
    for (const auto& c : simulation_.contacts()) loaded += dot(c.force, c.force) > 0.0;
    loaded_.add(loaded);
    residuals_.add(simulation_.contact_residual());
  }
  py::dict arrays() const {
    py::dict forces, out;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      forces[py::str(names_[k])] = forces_[k].matrix();
    }
    out["forces"] = forces;
    out["points"] = loaded_.vector();
    out["residual"] = residuals_.vector();
    out["unsolved_steps"] = simulation_.unsolved_steps();
    out["deep_steps"] = simulation_.deep_steps();
    return out;
  }

 private:
  const ContactSimulation& simulation_;
  std::vector<std::string> taken_, names_;
  std::vector<std::ptrdiff_t> shapes_;
  std::vector<Rows> forces_;
  Rows loaded_, residuals_;
};

/// @param ground  JSON, or nothing: the plane z = 0. @param origin  its file
py::dict simulate_on_ground(const Robot& robot, py::handle q, py::handle v, double duration,
                            double h, int every, const py::list& controllers, py::handle tau,
                            const std::optional<std::string>& ground, const std::string& origin,
                            const std::string& solver, bool passive,
                            std::optional<std::array<double, 3>> gravity,
                            const py::object& progress) {
  const Asker asker{"simulate '" + robot.model->name() + "'"};
  const auto start_q = vector_of(q, "q", robot.model->nq(), asker);
  const auto start_v = vector_of(v, "v", robot.model->nv(), asker);
  expect_times(asker.who, duration, h, every);
  expect_start(asker, *robot.model, start_q);
  contact::WorldReport report;
  const contact::World world = ground ? contact::read_ground(*robot.model, *ground, origin, report)
                                      : contact::plane_ground(*robot.model, report);
  contact::StepOptions options;
  options.passive = passive;
  if (!passive) options.friction = contact::StepOptions::Friction::none;
  contact::StepNames names;
  names.solver = solver;
  robot.host->registry().find_algorithm(contact::ContactImpulses<double>::problem, solver);
  ContactSimulation trial(robot.host->registry(), robot.model, world, options, names);
  const auto overlap = contact::overlap_at_start(trial, start_q, start_v, h);
  ContactSimulation run(robot.host->registry(), robot.model, world, options, names,
                        controllers_of(robot, controllers));
  if (gravity) run.set_gravity({(*gravity)[0], (*gravity)[1], (*gravity)[2]});
  if (!tau.is_none()) run.set_forces(vector_of(tau, "tau", robot.model->nv(), asker));
  RecordedRun record(duration, progress);
  RecordedContact contacts(run);
  {
    WithoutGil released;
    run.start(start_q, start_v);
    run.run(
        duration, h, every,
        [&](const Sample& now) {
          contacts.take();
          return record.take(now);
        },
        [&] { return record.go_on(); });
  }
  py::dict out = record.arrays();
  out["least_margin"] = run.least_margin();
  out["contact"] = contacts.arrays();
  std::vector<std::string> hollow;
  for (const contact::MeshHull& m : report.meshes) {
    if (m.hollow > 0.0) hollow.push_back(m.shape);
  }
  out["left_out"] = report.left_out;
  out["hollow"] = hollow;
  out["overlap"] = overlap
                       ? py::object(py::make_tuple(overlap->first, overlap->second, overlap->depth))
                       : py::none();
  return out;
}

}  // namespace

void bind_contact_simulation(py::module_& module) {
  module.def("simulate_on_ground", &simulate_on_ground, py::arg("robot"), py::arg("q"),
             py::arg("v"), py::arg("duration"), py::arg("dt"), py::arg("every"),
             py::arg("controllers"), py::arg("tau"), py::arg("ground"), py::arg("origin"),
             py::arg("solver"), py::arg("passive"), py::arg("gravity"), py::arg("progress"));
}

}  // namespace espalier::python
