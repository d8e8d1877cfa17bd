#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <atomic>

#include "espalier/simulation/batch_simulation.hpp"
#include "espalier/simulation/controllers.hpp"
#include "espalier/simulation/damping/stiff_joints.hpp"
#include "python/src/values.hpp"
#include "recorded_run.hpp"
#include "robot_rows.hpp"

// Robots in time: one (Simulation) and many (BatchSimulation).

namespace espalier::python {

namespace {

/// A Python function f(t, q, v) of the time, spanning positions and independent rates. It returns
/// forces on the independent rates, or a dict of joint to forces, or None.
class PythonController final : public Controller {
 public:
  PythonController(const Robot& robot, py::object function)
      : model_(robot.model),
        function_(std::move(function)),
        asker_{"controller of '" + model_->name() + "'"} {}
  ~PythonController() override {
    const WithGil held;
    function_ = py::object();
  }

  void drive(double t, const double* q, const double* qd, double* forces) override {
    const WithGil held;
    const auto independent = model_->independent_rates();
    py::array_t<double> v(model_->nv());
    for (int i = 0; i < model_->nv(); ++i) v.mutable_data()[i] = qd[independent[i]];
    py::array_t<double> positions(model_->nq());
    const StopIfEnded stop;
    std::copy_n(q, model_->nq(), positions.mutable_data());
    const py::tuple arguments = py::make_tuple(t, positions, v);
    const py::object answer = call_unless_ending(function_, arguments);
    const StopIfEnded stop_here;
    if (answer.is_none()) return;
    if (py::isinstance<py::dict>(answer)) {
      for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(answer)) {
        const Joint& joint = model_->joint(text_of(name, asker_.who, "joint of its forces"));
        if (PyNumber_Check(value.ptr()) && !py::hasattr(value, "__len__")) {
          if (joint.nv != 1) {
            throw SizeMismatch(asker_.who + ": force on joint '" + joint.name +
                               "' is one number, expected " + std::to_string(joint.nv));
          }
          forces[joint.v] += number_of(value, asker_.who, "force on joint '" + joint.name + "'");
          continue;
        }
        const auto x = vector_of(value, "force", joint.nv, asker_);
        for (int k = 0; k < joint.nv; ++k) forces[joint.v + k] += x[k];
      }
      return;
    }
    const auto tau = vector_of(answer, "tau", model_->nv(), asker_);
    for (int i = 0; i < model_->nv(); ++i) forces[independent[i]] += tau[i];
  }

 private:
  ModelPtr model_;
  py::object function_;
  Asker asker_;
};

/// From a callable, or from ("pd", {joint: {...}}) and ("constant", {joint: numbers}) that
/// simulation.py makes of the controllers that need no Python at run time.
std::unique_ptr<Controller> controller_of(const Robot& robot, const py::object& from) {
  if (!py::isinstance<py::tuple>(from)) return std::make_unique<PythonController>(robot, from);
  const auto kind = py::tuple(from)[0].cast<std::string>();
  const py::dict joints = py::tuple(from)[1];
  if (kind == "constant") {
    std::vector<std::pair<std::string, std::vector<double>>> forces;
    for (const auto& [name, value] : joints) {
      forces.emplace_back(name.cast<std::string>(), value.cast<std::vector<double>>());
    }
    return std::make_unique<ConstantForces>(*robot.model, forces);
  }
  std::vector<std::pair<std::string, PdControl::Gains>> gains;
  for (const auto& [name, value] : joints) {
    const auto g = value.cast<std::array<double, 4>>();
    gains.emplace_back(name.cast<std::string>(), PdControl::Gains{g[0], g[1], g[2], g[3]});
  }
  return std::make_unique<PdControl>(*robot.model, gains);
}

}  // namespace

std::vector<std::unique_ptr<Controller>> controllers_of(const Robot& robot, const py::list& from) {
  std::vector<std::unique_ptr<Controller>> all;
  for (const py::handle c : from) {
    all.push_back(controller_of(robot, py::reinterpret_borrow<py::object>(c)));
  }
  return all;
}

void expect_start(const Asker& asker, const Model& model, std::vector<double> q) {
  model.normalize(q.data());
  expect_closed(asker.who, model, q.data(), 1e-3);
}

void expect_times(const std::string& who, double duration, double h, int every) {
  if (h > 0.0 && std::isfinite(h) && duration >= 0.0 && std::isfinite(duration) && every > 0)
    return;
  throw InvalidModel(who + ": duration, dt and every are " + std::to_string(duration) + ", " +
                     std::to_string(h) + " and " + std::to_string(every) +
                     ", expected a duration not below zero, a positive step and at least 1");
}

namespace {

py::dict simulate(const Robot& robot, py::handle q, py::handle v, double duration, double h,
                  int every, const py::list& controllers, py::handle tau,
                  const std::string& algorithm, const std::string& integrator,
                  const std::map<std::string, double>& integrator_options, bool passive,
                  double friction_rate, std::optional<std::array<double, 3>> gravity,
                  const py::object& progress) {
  const Asker asker{"simulate '" + robot.model->name() + "'"};
  const auto start_q = vector_of(q, "q", robot.model->nq(), asker);
  const auto start_v = vector_of(v, "v", robot.model->nv(), asker);
  expect_times(asker.who, duration, h, every);
  expect_start(asker, *robot.model, start_q);
  SimulationNames names;
  names.algorithm = algorithm;
  names.integrator = integrator;
  for (const auto& [key, value] : integrator_options) names.integrator_options[key] = {value};
  SimulationOptions options;
  options.passive = passive;
  options.friction_rate = friction_rate;
  const auto run =
      make_simulation(*robot.host, robot.model, names, options, controllers_of(robot, controllers));
  const Vec3<double> weight =
      gravity ? Vec3<double>{(*gravity)[0], (*gravity)[1], (*gravity)[2]} : robot.model->gravity();
  run->set_gravity(weight);
  const auto energies = SampleEnergies::make(*robot.host, robot.model, weight);
  run->leave_energies(energies != nullptr);
  if (!tau.is_none()) run->set_forces(vector_of(tau, "tau", robot.model->nv(), asker));
  RecordedRun record(duration, progress);
  {
    WithoutGil released;
    run->start(start_q, start_v);
    run->run(
        duration, h, every, [&](const Sample& now) { return record.take(now); },
        [&] { return record.go_on(); });
    if (energies != nullptr) record.complete(*energies);
  }
  py::dict out = record.arrays();
  out["least_margin"] = run->least_margin();
  return out;
}

/// Many robots in time; arrays are (N, n).
class ManyRobots {
 public:
  ManyRobots(Robot robot, const std::string& algorithm, const std::string& integrator, int threads,
             bool passive, double friction_rate)
      : robot_(std::move(robot)), asker_{"batch simulation of '" + robot_.model->name() + "'"} {
    BatchSimulationOptions options;
    options.threads = threads;
    options.algorithm = algorithm;
    options.integrator = integrator;
    options.passive = passive;
    options.friction_rate = friction_rate;
    run_ = make_batch_simulation(*robot_.host, robot_.model, options);
    options_ = options;
    run_->set_controller([this](const BatchSample&, std::span<double> tau) {
      for (std::size_t i = 0; i < tau.size(); ++i) tau[i] += tau_[i];
    });
  }

  std::vector<std::string> stiff_joints(double h) const {
    return espalier::stiff_joints(*robot_.host, robot_.model, options_, h);
  }

  void start(py::handle q, py::handle v, double t) {
    const py::array positions = real_array(q, "q", asker_);
    const std::vector<double> at = columns_of(positions, "q", robot_.model->nq(), -1, asker_);
    const long count = positions.shape(0);  // nq may be 0
    const std::vector<double> rates = columns_of(v, "v", robot_.model->nv(), count, asker_);
    alone_([&] {
      run_->start(static_cast<int>(count), at, rates, t);
      tau_.assign(rates.size(), 0.0);
      count_ = count;
    });
  }

  /// Robots by their numbers, with as many rows of q and v; the others stay as they are.
  void reset(const std::vector<int>& robots, py::handle q, py::handle v) {
    reset_robots(*run_, alone_, robots, q, v, *robot_.model, asker_);
  }

  /// @param tau  (N, nv), constant over the steps; None: zero
  void step(py::handle tau, double h, int steps) {
    if (count_ == 0) throw Error(asker_.who + ": number of robots is 0, expected start() before");
    if (!(h > 0.0) || steps < 1) {
      throw InvalidModel(asker_.who + ": step is " + std::to_string(h) + " and number of steps " +
                         std::to_string(steps) + ", expected a positive step at least once");
    }
    std::vector<double> given;
    if (!tau.is_none()) given = columns_of(tau, "tau", robot_.model->nv(), count_, asker_);
    alone_([&] {
      given.resize(tau.is_none() ? tau_.size() : given.size(), 0.0);
      expect_size(asker_.who.c_str(), "tau", static_cast<long>(given.size()),
                  static_cast<long>(tau_.size()));  // another thread may have started others
      tau_ = std::move(given);
      Signals signals;
      for (int k = 0; k < steps; ++k, signals.look()) run_->step(h);
    });
  }

  py::array q() {
    return copy([&] { return run_->sample().q; }, robot_.model->nq());
  }
  py::array v() {
    return copy([&] { return run_->sample().v; }, robot_.model->nv());
  }
  double time() {
    double t = 0.0;
    alone_([&] { t = run_->sample().t; });
    return t;
  }
  py::array status() {
    std::vector<BatchStatus> all;
    alone_([&] {
      all.resize(count_);
      run_->judge(all);
    });
    py::array_t<std::uint8_t> out(static_cast<py::ssize_t>(all.size()));
    for (std::size_t k = 0; k < all.size(); ++k) {
      out.mutable_data()[k] = static_cast<std::uint8_t>(all[k]);
    }
    return out;
  }
  void set_gravity(const std::array<double, 3>& g) {
    alone_([&] { run_->set_gravity({g[0], g[1], g[2]}); });
  }

 private:
  /// Numbers of all robots, `each` of one.
  template <class F>
  py::array copy(F&& columns, long each) {
    return robot_rows(alone_, columns, count_, each);
  }

  Robot robot_;
  Asker asker_;
  OneAtATime alone_;
  BatchSimulationOptions options_;
  std::unique_ptr<BatchSimulation> run_;
  std::atomic<long> count_ = 0;  ///< robots; read without the lock
  std::vector<double> tau_;
};

}  // namespace

void bind_simulation(py::module_& module) {
  module.def("simulate", &simulate, py::arg("robot"), py::arg("q"), py::arg("v"),
             py::arg("duration"), py::arg("dt"), py::arg("every"), py::arg("controllers"),
             py::arg("tau"), py::arg("algorithm"), py::arg("integrator"),
             py::arg("integrator_options"), py::arg("passive"), py::arg("friction_rate"),
             py::arg("gravity"), py::arg("progress"));
  py::class_<ManyRobots>(module, "ManyRobots", "Many copies of a robot in time.")
      .def(py::init<Robot, std::string, std::string, int, bool, double>(), py::arg("robot"),
           py::arg("algorithm") = "c-aba", py::arg("integrator") = "rk4", py::arg("threads") = 0,
           py::arg("passive") = true, py::arg("friction_rate") = 0.05)
      .def("start", &ManyRobots::start, py::arg("q"), py::arg("v"), py::arg("t") = 0.0)
      .def("reset", &ManyRobots::reset, py::arg("robots"), py::arg("q"), py::arg("v"))
      .def("step", &ManyRobots::step, py::arg("tau"), py::arg("dt"), py::arg("steps") = 1)
      .def("stiff_joints", &ManyRobots::stiff_joints, py::arg("dt"),
           "Joints whose damping or friction the integrator does not bear, a sentence each.")
      .def("set_gravity", &ManyRobots::set_gravity, py::arg("gravity"))
      .def_property_readonly("q", &ManyRobots::q)
      .def_property_readonly("v", &ManyRobots::v)
      .def_property_readonly("t", &ManyRobots::time)
      .def_property_readonly("status", &ManyRobots::status);
}

}  // namespace espalier::python
