#include "algorithm.hpp"

#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "espalier/sensing/sensor_dynamics.hpp"
#include "python/src/values.hpp"

namespace espalier::python {

namespace {

/// Calls that are timed before it is settled whether the lock is worth letting go.
constexpr int timed_calls = 8;
constexpr double long_call = 1e-6;  // [s]

}  // namespace

BoundAlgorithm::BoundAlgorithm(Robot robot, const Entry& entry, Setup setup, Options options)
    : robot_(std::move(robot)),
      entry_(entry),
      setup_(std::move(setup)),
      options_(std::move(options)),
      asker_{entry.problem + " by " + entry.about.name + " on '" + robot_.model->name() + "'"},
      algorithm_(robot_.host->registry().create(entry, setup_)) {
  const Model& m = *robot_.model;
  sizes_ = {m.nq(), m.nv(), m.nv(), m.nv()};
  expect_setup();
  find_roles();
}

/// What the problem asks for: it is solved once, and once without each input.
void BoundAlgorithm::find_roles() {
  for (int i = 0; i < 4; ++i) (inputs_.*role_members[i]).assign(sizes_[i], 0.0);
  robot_.model->neutral(inputs_.q.data());
  try {
    algorithm_->solve(inputs_, results_);
  } catch (const SingularMechanism&) {
    // The neutral position may be one where there is no answer.
  }
  for (int i = 0; i < 4; ++i) {
    // Of a robot without degrees of freedom an empty one is right: one number too many is not.
    std::vector<double> kept(sizes_[i] == 0 ? 1 : 0);
    kept.swap(inputs_.*role_members[i]);
    try {
      algorithm_->solve(inputs_, results_);
    } catch (const SizeMismatch&) {
      needed_[i] = true;
    } catch (const Error&) {
      // Not about sizes.
    }
    kept.swap(inputs_.*role_members[i]);
    // Sensors may measure any of them.
    needed_[i] = needed_[i] || entry_.needs_sensors;
    if (needed_[i]) order_.push_back(i);
  }
}

std::vector<std::string> BoundAlgorithm::argument_names() const {
  std::vector<std::string> out;
  for (const int i : order_) out.emplace_back(role_names[i]);
  return out;
}

void BoundAlgorithm::set_gravity(const Vec3<double>& g) {
  algorithm_->set_gravity(g);
  for (const auto& one : batches_) {
    if (one != nullptr) one->set_gravity(g);
  }
  for (const auto& one : workers_) one->set_gravity(g);
}

std::string BoundAlgorithm::symbolic() const {
  const auto* sensors = dynamic_cast<const SensorDynamics<double>*>(algorithm_.get());
  return sensors == nullptr ? std::string() : sensors->symbolic();
}

BoundAlgorithm::Call BoundAlgorithm::parse(PyObject* args, PyObject* kwargs) const {
  Call call;
  const Py_ssize_t count = PyTuple_GET_SIZE(args);
  Py_ssize_t at = 0;
  if (count > 0 && PyUnicode_Check(PyTuple_GET_ITEM(args, 0))) {
    call.select = py::handle(PyTuple_GET_ITEM(args, 0)).cast<std::string>();
    at = 1;
  }
  if (count - at > static_cast<Py_ssize_t>(order_.size())) {
    std::string names;
    for (const std::string& name : argument_names()) names += (names.empty() ? "" : ", ") + name;
    throw py::type_error(asker_.who + ": number of arrays is " + std::to_string(count - at) +
                         ", expected at most " + std::to_string(order_.size()) + " (" + names +
                         (names.empty() ? "" : "; ") + "others by name)");
  }
  for (std::size_t k = 0; at < count; ++at, ++k) {
    call.role(order_[k]) = py::reinterpret_borrow<py::object>(PyTuple_GET_ITEM(args, at));
  }
  if (kwargs != nullptr) {
    static constexpr std::array<std::pair<const char*, py::object Call::*>, 13> members{
        {{"out", &Call::out},
         {"q", &Call::q},
         {"v", &Call::v},
         {"tau", &Call::tau},
         {"vdot", &Call::vdot},
         {"wrenches", &Call::wrenches},
         {"acceleration", &Call::acceleration},
         {"measurements", &Call::measurements},
         {"multipliers", &Call::multipliers},
         {"direction", &Call::direction},
         {"time_step", &Call::time_step},
         {"status", &Call::status},
         {"variant", &Call::variant}}};
    PyObject *key = nullptr, *value = nullptr;
    for (Py_ssize_t position = 0; PyDict_Next(kwargs, &position, &key, &value);) {
      const char* name = PyUnicode_AsUTF8(key);
      const auto* member = std::find_if(members.begin(), members.end(), [&](const auto& m) {
        return std::strcmp(m.first, name) == 0;
      });
      if (member == members.end()) {
        std::vector<std::string> known;
        for (const auto& m : members) known.emplace_back(m.first);
        throw py::type_error(asker_.who + ": argument is '" + name + "'" + suggest(name, known));
      }
      py::object& to = call.*(member->second);
      if (to)
        throw py::type_error(asker_.who + ": argument '" + name +
                             "' is given twice, expected once");
      if (value != Py_None) to = py::reinterpret_borrow<py::object>(value);
    }
  }
  if (needed_[0] && !call.q && sizes_[0] > 0) {
    throw py::type_error(asker_.who + ": q is missing, expected positions of shape (" +
                         std::to_string(sizes_[0]) + ",) or (batch, " + std::to_string(sizes_[0]) +
                         ")");
  }
  return call;
}

py::object BoundAlgorithm::call(PyObject* args, PyObject* kwargs) {
  Call call = parse(args, kwargs);
  bool several = false;
  for (int i = 0; i < 4; ++i) {
    py::object& x = call.role(i);
    if (!x) continue;
    if (!is_float64(x)) x = real_array(x, role_names[i], asker_);
    const int nd = dimensions(x);
    if ((nd != 1 && nd != 2) || extent(x, nd - 1) != sizes_[i]) {
      const std::string n = std::to_string(sizes_[i]);
      asker_.refuse_shape(role_names[i], x, "(" + n + ",) or (batch, " + n + ")");
    }
    several = several || nd == 2;
  }
  if (call.direction && takes_direction(entry_)) {
    expect_direction(call.direction);
    for (const int role : order_) {
      several = several ||
                direction_along(py::reinterpret_borrow<py::dict>(call.direction), role).ndim() == 2;
    }
  }
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) {
    // Another thread is at work, perhaps without Python's lock, which it may want to take back.
    WithoutGil released;
    lock.lock();
  }
  expect_taken(call);
  expect_out(call);
  return several ? solve_batch(call) : solve_one(call);
}

/// A vector of the right size into `to`; zeros where there is none.
void BoundAlgorithm::take(py::handle from, const char* what, long size,
                          std::vector<double>& to) const {
  if (!from) {
    to.assign(size, 0.0);
    return;
  }
  to.resize(size);
  if (is_float64(from)) {
    const char* element = static_cast<const char*>(data(from));
    const py::ssize_t step = stride(from, 0);
    if (step == sizeof(double)) {
      std::memcpy(to.data(), element, size * sizeof(double));
    } else {
      for (long k = 0; k < size; ++k, element += step) std::memcpy(&to[k], element, sizeof(double));
    }
    return;
  }
  to = vector_of(from, what, size, asker_);
}

/// From a dict of link to six numbers, or an array (links, 6).
void BoundAlgorithm::read_wrenches(py::handle object) {
  if (!wrenches_) wrenches_.emplace(robot_.model);
  wrenches_->clear();
  const auto add = [&](const Link& link, const double* w) {
    wrenches_->add(link, {{w[0], w[1], w[2]}, {w[3], w[4], w[5]}});
  };
  if (py::isinstance<py::dict>(object)) {
    for (const auto& [name, wrench] : py::reinterpret_borrow<py::dict>(object)) {
      const std::string link = text_of(name, asker_.who, "link of wrenches");
      add(robot_.model->link(link),
          vector_of(wrench, ("wrench on link '" + link + "'").c_str(), 6, asker_).data());
    }
    return;
  }
  const py::array array = real_array(object, "wrenches", asker_);
  const auto links = robot_.model->links();
  if (array.ndim() != 2 || array.shape(0) != static_cast<py::ssize_t>(links.size()) ||
      array.shape(1) != 6) {
    asker_.refuse_shape("wrenches", array,
                        "(" + std::to_string(links.size()) +
                            ", 6), a row for each link, moment first, or a dict by link");
  }
  const py::array_t<double, py::array::c_style | py::array::forcecast> plain(array);
  for (std::size_t i = 0; i < links.size(); ++i) add(links[i], plain.data() + 6 * i);
}

py::object BoundAlgorithm::solve_one(Call& call) {
  if (call.status || call.variant) {
    throw py::type_error(asker_.who + ": " + (call.status ? "status" : "variant") +
                         " is given for one state, expected it for a batch alone");
  }
  if (!options_.variants.empty()) {
    throw py::type_error(asker_.who + ": variants are given for one state, expected a batch");
  }
  for (int i = 0; i < 4; ++i) {
    if (needed_[i] || call.role(i)) {
      take(call.role(i), role_names[i], sizes_[i], inputs_.*role_members[i]);
    }
  }
  inputs_.wrenches = nullptr;
  if (call.wrenches) {
    read_wrenches(call.wrenches);
    inputs_.wrenches = &*wrenches_;
  }
  const auto vector = [&](const py::object& x, const char* what, std::vector<double>& to) {
    to.clear();
    if (!x) return;
    const py::array array = real_array(x, what, asker_);
    if (array.ndim() != 1) asker_.refuse_shape(what, array, "(rows,)");
    to = vector_of(array, what, array.shape(0), asker_);
  };
  vector(call.acceleration, "acceleration", inputs_.task_acceleration);
  vector(call.measurements, "measurements", inputs_.measurements);
  vector(call.multipliers, "multipliers", inputs_.multipliers);
  inputs_.time_step =
      call.time_step ? number_of(call.time_step, asker_.who, "time_step") : Inputs{}.time_step;
  if (options_.check && call.q && !robot_.model->is_tree()) {
    expect_closed(asker_.who, *robot_.model, inputs_.q.data());
  }
  if (call.direction) {
    read_direction(call.direction);
    WithoutGil released;
    solve_along(*algorithm_, inputs_, direction_, results_);
  } else if (calls_ < timed_calls) {
    ++calls_;
    const double start = seconds_now();
    algorithm_->solve(inputs_, results_);
    least_seconds_ = std::min(least_seconds_, seconds_now() - start);
  } else if (least_seconds_ > long_call) {
    WithoutGil released;
    algorithm_->solve(inputs_, results_);
  } else {
    algorithm_->solve(inputs_, results_);
  }
  if (options_.check) {
    expect_finite();
    const int remarks = answers();  // the margin, and whether a dead point is near
    if (remarks < static_cast<int>(results_.size()) && results_[remarks + 1].values[0] != 0.0) {
      warn_near_dead_point();
    }
  }
  const Choice choice = call.select.empty() ? Choice{} : choose(call.select);
  return result_of_one(call, choice);
}

double BoundAlgorithm::seconds_per_solve(int calls, int rounds) {
  WithoutGil released;
  const std::scoped_lock lock(mutex_);
  const InputViews in = inputs_;
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const double start = seconds_now();
    for (int k = 0; k < calls; ++k) algorithm_->solve(in, results_);
    best = std::min(best, (seconds_now() - start) / calls);
  }
  return best;
}

}  // namespace espalier::python
