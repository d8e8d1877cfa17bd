#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "algorithm.hpp"
#include "python/src/values.hpp"

// What a problem has no use for is refused by its name: dropped, it would be a wrong answer.

namespace espalier::python {

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// All numbers of an answer; nothing where there is none.
std::optional<std::vector<double>> answer(Algorithm& algorithm, const Inputs& in) {
  Results results;
  try {
    algorithm.solve(in, results);
  } catch (const Error&) {
    return std::nullopt;
  }
  std::vector<double> out;
  for (const Result& r : results) out.insert(out.end(), r.values.begin(), r.values.end());
  return out;
}

}  // namespace

/// @throws TypeError (Python) for parts that the problem does not read: it would refuse unknown
/// ones
void BoundAlgorithm::expect_setup() const {
  const auto refuse = [&](const char* what) {
    throw py::type_error(asker_.who + ": " + what + " are given, expected none (" + entry_.problem +
                         " has no use for them)");
  };
  const auto expect_read = [&](const char* what, const auto& given, bool needed,
                               const auto& forget) {
    if (given.empty() || needed) return;
    Setup unknown = setup_;
    forget(unknown);
    try {
      robot_.host->registry().create(entry_, unknown);
    } catch (const Error&) {
      return;
    }
    refuse(what);
  };
  const std::string nothing = "\n";  // no name of anything
  expect_read("end_effectors", setup_.end_effectors, entry_.needs_end_effectors,
              [&](Setup& s) { s.end_effectors[0].link = nothing; });
  expect_read("inputs", setup_.inputs, entry_.needs_inputs, [&](Setup& s) {
    s.inputs[0] = Input{};
    s.inputs[0].joint = nothing;
  });
  expect_read("sensors", setup_.sensors, entry_.needs_sensors,
              [&](Setup& s) { s.sensors[0].joint = s.sensors[0].link = nothing; });
  expect_read("groups", setup_.groups, false, [&](Setup& s) { s.groups[0].joints = {nothing}; });
  if (!setup_.symbolic.empty() && !entry_.needs_sensors) refuse("symbolic pivots");
}

/// Whether an answer depends on an argument besides the arrays of a state: NaN in it is NaN in the
/// answer. Where that cannot be told it counts as taken.
bool BoundAlgorithm::takes(const std::string& name) {
  const auto known = taken_.find(name);
  if (known != taken_.end()) return known->second;
  const bool taken = try_argument(name);
  taken_[name] = taken;
  return taken;
}

bool BoundAlgorithm::try_argument(const std::string& name) {
  const Model& m = *robot_.model;
  if (name == "direction") return takes_direction(entry_);
  if (name == "measurements") return entry_.needs_sensors;
  if (m.nv() == 0) return true;
  Inputs in;
  for (int i = 0; i < 4; ++i) (in.*role_members[i]).assign(sizes_[i], 0.0);
  m.neutral(in.q.data());
  const auto trial = robot_.host->registry().create(entry_, setup_);
  const auto before = answer(*trial, in);
  Wrenches<double> wrenches(robot_.model);
  if (name == "wrenches") {
    for (const Link& link : m.links()) wrenches.add(link, {{nan, nan, nan}, {nan, nan, nan}});
    in.wrenches = &wrenches;
  } else if (name == "acceleration") {
    long rows = 0;
    for (const EndEffector& e : setup_.end_effectors) rows += static_cast<long>(e.rows.size());
    in.task_acceleration.assign(std::max(rows, 1L), nan);
  } else if (name == "multipliers") {
    in.multipliers.assign(m.nv(), nan);
  } else if (name == "time_step") {
    in.time_step = nan;
  }
  const auto after = answer(*trial, in);
  if (!before || !after || before->size() != after->size() || before->empty()) return true;
  const auto is_nan = [](double x) { return std::isnan(x); };
  if (std::any_of(before->begin(), before->end(), is_nan)) return true;
  return std::memcmp(before->data(), after->data(), before->size() * sizeof(double)) != 0;
}

/// @throws TypeError (Python) naming an argument that the problem does not take
void BoundAlgorithm::expect_taken(const Call& call) {
  const std::array<std::pair<const char*, const py::object*>, 6> others{
      {{"wrenches", &call.wrenches},
       {"acceleration", &call.acceleration},
       {"measurements", &call.measurements},
       {"multipliers", &call.multipliers},
       {"direction", &call.direction},
       {"time_step", &call.time_step}}};
  const auto refuse = [&](const char* given) {
    std::string names;
    const auto add = [&](const std::string& name) { names += (names.empty() ? "" : ", ") + name; };
    for (const std::string& name : argument_names()) add(name);
    for (const auto& [name, value] : others) {
      if (takes(name)) add(name);
    }
    throw py::type_error(asker_.who + ": argument '" + given + "' is given, expected one of " +
                         names + " (the problem has no use for it)");
  };
  const std::array<const py::object*, 4> roles{&call.q, &call.v, &call.tau, &call.vdot};
  for (int i = 0; i < 4; ++i) {
    if (*roles[i] && !needed_[i]) refuse(role_names[i]);
  }
  for (const auto& [name, value] : others) {
    if (*value && !takes(name)) refuse(name);
  }
}

/// @throws UnknownName for an array of `out` that nothing would be written to
void BoundAlgorithm::expect_out(const Call& call) const {
  if (!call.out || results_.empty() || !py::isinstance<py::dict>(call.out)) return;
  std::vector<std::string> known;
  const std::size_t count = call.select.empty() ? answers() : results_.size();
  for (std::size_t k = 0; k < count; ++k) known.push_back(results_[k].name);
  for (const auto& [key, value] : py::reinterpret_borrow<py::dict>(call.out)) {
    const std::string name = text_of(key, asker_.who, "name in out");
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UnknownName(asker_.who + ": name in out is '" + name + "'" + suggest(name, known));
    }
  }
}

}  // namespace espalier::python
