#include <pybind11/stl.h>

#include <atomic>

#include "espalier/simulation/contact/contact_batch.hpp"
#include "espalier/simulation/contact/world.hpp"
#include "python/src/arrays.hpp"
#include "recorded_run.hpp"
#include "robot_rows.hpp"

// Many robots on rigid ground (ContactBatch).

namespace espalier::python {

namespace {

using contact::PlacedShape;
using contact::Shape;
using contact::StepOptions;

/// What espalier/contact.py says of the world and of the steps.
struct ContactSetup {
  contact::Surface surface{};
  std::optional<Shape> terrain{};
  std::array<double, 3> origin{};  ///< of the terrain
  bool shapes_of_file = true, self_collision = false;
  std::vector<std::tuple<std::string, double, std::array<double, 3>>> balls{};
  contact::ContactBatchOptions options{};
};

contact::World world_of(const Model& model, const ContactSetup& setup,
                        contact::WorldReport& report) {
  contact::World world;
  if (setup.shapes_of_file) world = contact::world_of(model, setup.surface, &report);
  world.self_collision = setup.self_collision;
  for (const auto& [link, radius, at] : setup.balls) {
    PlacedShape ball;
    ball.link = link, ball.shape = Shape::sphere(radius), ball.surface = setup.surface;
    ball.pose.xyz = {at[0], at[1], at[2]};
    world.shapes.push_back(ball);
  }
  if (setup.terrain) {
    PlacedShape ground;
    ground.shape = *setup.terrain, ground.surface = setup.surface, ground.name = "ground";
    ground.pose.xyz = {setup.origin[0], setup.origin[1], setup.origin[2]};
    world.shapes.push_back(ground);
  }
  return world;
}

ContactSetup read_setup(const py::dict& from, const Asker& asker) {
  ContactSetup setup;
  setup.surface = {.friction = from["friction"].cast<double>(),
                   .restitution = from["restitution"].cast<double>(),
                   .stiffness = from["stiffness"].cast<double>(),
                   .damping = from["damping"].cast<double>(),
                   .torsional_friction = from["torsional_friction"].cast<double>(),
                   .rolling_friction = from["rolling_friction"].cast<double>()};
  if (const py::object ground = from["ground"]; py::isinstance<py::str>(ground)) {
    setup.terrain = Shape::plane();
  } else if (!ground.is_none()) {
    const py::array_t<double, py::array::c_style | py::array::forcecast> heights(
        real_array(ground, "ground", asker));
    setup.terrain = Shape::height_field(
        static_cast<int>(heights.shape(1)), static_cast<int>(heights.shape(0)),
        from["spacing"].cast<double>(), {heights.data(), heights.data() + heights.size()});
  }
  setup.origin = from["origin"].cast<std::array<double, 3>>();
  setup.shapes_of_file = from["collisions"].cast<bool>();
  setup.self_collision = from["self_collision"].cast<bool>();
  setup.balls = from["balls"].cast<decltype(setup.balls)>();
  StepOptions& step = setup.options.step;
  for (const auto& [joint, gains] :
       from["drives"].cast<std::vector<std::pair<std::string, std::array<double, 5>>>>()) {
    const auto& [kp, kd, most, stall, no_load_rate] = gains;
    step.drives.push_back({joint, kp, kd, most, stall, no_load_rate});
  }
  const auto dry = from["dry_friction"].cast<std::string>();
  step.friction = dry == "rows"       ? StepOptions::Friction::rows
                  : dry == "implicit" ? StepOptions::Friction::implicit
                                      : StepOptions::Friction::none;
  step.limits = from["limits"].cast<bool>();
  step.passive = from["passive"].cast<bool>();
  step.tolerance = from["tolerance"].cast<double>();
  setup.options.threads = from["threads"].cast<int>();
  return setup;
}

/// One thread of Python at a time; others wait, and let Python run meanwhile. Arrays are (N, n).
class ContactRobots {
 public:
  ContactRobots(Robot robot, const py::dict& setup)
      : robot_(std::move(robot)), asker_{"contact batch of '" + robot_.model->name() + "'"} {
    const ContactSetup read = read_setup(setup, asker_);
    contact::WorldReport report;
    const contact::World world = world_of(*robot_.model, read, report);
    left_out_ = report.left_out;
    for (const contact::MeshHull& m : report.meshes) {
      if (m.hollow > 0.0) hollow_.push_back(m.shape);
    }
    run_ = std::make_unique<contact::ContactBatch>(robot_.host->registry(), robot_.model, world,
                                                   read.options);
    for (const auto& solid : run_->plan().solids()) shapes_.append(solid.name);
  }

  void start(py::handle q, py::handle v, double t) {
    const py::array positions = real_array(q, "q", asker_);
    const std::vector<double> at = columns_of(positions, "q", robot_.model->nq(), -1, asker_);
    const long N = positions.shape(0);  // nq may be 0
    const std::vector<double> rates = columns_of(v, "v", robot_.model->nv(), N, asker_);
    alone_([&] {
      run_->start(static_cast<int>(N), at, rates, t);
      count_ = N;
    });
  }
  /// Robots by their numbers, with as many rows of q and v.
  void reset(const std::vector<int>& robots, py::handle q, py::handle v) {
    reset_robots(*run_, alone_, robots, q, v, *robot_.model, asker_);
  }
  void step(double h, int steps) {
    alone_([&] {
      expect_started();
      Signals signals;
      for (int k = 0; k < steps; ++k, signals.look()) run_->step(h);
    });
  }

  void set_friction(py::handle factors) {
    expect_started();
    const auto x = vector_of(factors, "friction", count_, asker_);
    alone_([&] { run_->set_friction(x); });
  }
  void set_masses(const std::vector<std::string>& links, py::handle factors) {
    expect_started();
    const auto x = columns_of(factors, "masses", static_cast<long>(links.size()), count_, asker_);
    alone_([&] { run_->set_masses(links, x); });
  }
  void set_ground(py::handle offsets) {
    expect_started();
    const bool heights = real_array(offsets, "ground", asker_).ndim() == 1;
    const auto x = heights ? vector_of(offsets, "ground", count_, asker_)
                           : columns_of(offsets, "ground", 3, count_, asker_);
    alone_([&] { run_->set_ground(x); });
  }
  void set_gravity(const std::array<double, 3>& g) {
    alone_([&] { run_->set_gravity({g[0], g[1], g[2]}); });
  }
  void set_targets(py::handle positions, py::handle rates, py::handle torques) {
    expect_started();
    const long drives = static_cast<long>(run_->plan().drives().size());
    const auto read = [&](py::handle from, const char* what) {
      return from.is_none() ? std::vector<double>()
                            : columns_of(from, what, drives, count_, asker_);
    };
    const auto p = read(positions, "positions"), r = read(rates, "rates"),
               t = read(torques, "torques");
    alone_([&] { run_->set_targets(p, r, t); });
  }
  void set_forces(py::handle tau) {
    expect_started();
    const auto x = columns_of(tau, "tau", robot_.model->nv(), count_, asker_);
    alone_([&] { run_->set_forces(x); });
  }

  py::array q() {
    return rows([&] { return run_->sample().q; }, robot_.model->nq());
  }
  py::array v() {
    return rows([&] { return run_->sample().v; }, robot_.model->nv());
  }
  double time() {
    double t = 0.0;
    alone_([&] { t = run_->sample().t; });
    return t;
  }
  /// (N, shapes, 3)
  py::array forces() {
    const auto n = static_cast<py::ssize_t>(py::len(shapes_));
    py::array out = rows([&] { return run_->forces(); }, 3 * static_cast<long>(n));
    return out.reshape({out.shape(0), n, py::ssize_t{3}});
  }
  py::array residuals() {
    const auto all = copy([&] { return run_->residuals(); });
    return array_of(all.data(), {static_cast<py::ssize_t>(all.size())});
  }
  py::array status() {
    std::vector<contact::RobotStatus> all;
    alone_([&] { all.assign(run_->status().begin(), run_->status().end()); });
    py::array_t<std::uint8_t> out(static_cast<py::ssize_t>(all.size()));
    for (std::size_t k = 0; k < all.size(); ++k) {
      out.mutable_data()[k] = static_cast<std::uint8_t>(all[k]);
    }
    return out;
  }
  py::array save(int robot) {
    std::vector<double> out(run_->saved_size());
    alone_([&] { run_->save(robot, out); });
    return array_of(out.data(), {static_cast<py::ssize_t>(out.size())});
  }
  void restore(int robot, py::handle saved) {
    const auto x = vector_of(saved, "saved", static_cast<long>(run_->saved_size()), asker_);
    alone_([&] { run_->restore(robot, x); });
  }
  py::list shapes() const { return shapes_; }
  /// Collision shapes of the robot's file that touch nothing, and meshes that touch as their hull.
  std::vector<std::string> left_out() const { return left_out_; }
  std::vector<std::string> hollow() const { return hollow_; }

 private:
  template <class F>
  std::vector<double> copy(F&& rows) {
    std::vector<double> out;
    alone_([&] {
      const std::span<const double> all = rows();
      out.assign(all.begin(), all.end());
    });
    return out;
  }
  /// As many as there are when they are copied.
  template <class F>
  py::array_t<double> rows(F&& columns, long n) {
    return robot_rows(alone_, columns, count_, n);
  }
  void expect_started() const {
    if (count_ == 0) throw Error(asker_.who + ": number of robots is 0, expected start() before");
  }

  Robot robot_;
  Asker asker_;
  OneAtATime alone_;
  std::unique_ptr<contact::ContactBatch> run_;
  py::list shapes_;
  std::vector<std::string> left_out_, hollow_;
  std::atomic<long> count_ = 0;  ///< robots; read without the lock
};

}  // namespace

void bind_contact(py::module_& module) {
  py::class_<ContactRobots>(module, "ContactRobots", "Many copies of a robot on rigid ground.")
      .def(py::init<Robot, const py::dict&>(), py::arg("robot"), py::arg("setup"))
      .def("start", &ContactRobots::start, py::arg("q"), py::arg("v"), py::arg("t") = 0.0)
      .def("reset", &ContactRobots::reset, py::arg("robots"), py::arg("q"), py::arg("v"))
      .def("step", &ContactRobots::step, py::arg("dt"), py::arg("steps") = 1)
      .def("set_friction", &ContactRobots::set_friction, py::arg("factors"))
      .def("set_masses", &ContactRobots::set_masses, py::arg("links"), py::arg("factors"))
      .def("set_ground", &ContactRobots::set_ground, py::arg("offsets"))
      .def("set_gravity", &ContactRobots::set_gravity, py::arg("gravity"))
      .def("set_targets", &ContactRobots::set_targets, py::arg("positions"), py::arg("rates"),
           py::arg("torques"))
      .def("set_forces", &ContactRobots::set_forces, py::arg("tau"))
      .def("save", &ContactRobots::save, py::arg("robot"))
      .def("restore", &ContactRobots::restore, py::arg("robot"), py::arg("saved"))
      .def_property_readonly("q", &ContactRobots::q)
      .def_property_readonly("v", &ContactRobots::v)
      .def_property_readonly("t", &ContactRobots::time)
      .def_property_readonly("forces", &ContactRobots::forces)
      .def_property_readonly("residuals", &ContactRobots::residuals)
      .def_property_readonly("status", &ContactRobots::status)
      .def_property_readonly("shapes", &ContactRobots::shapes)
      .def_property_readonly("left_out", &ContactRobots::left_out)
      .def_property_readonly("hollow", &ContactRobots::hollow);
}

}  // namespace espalier::python
