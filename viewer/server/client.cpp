#include "viewer/server/client.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>

namespace espalier::viewer {

namespace {

// A frame's part of the clock that its computation may take, so that other clients are served.
constexpr double frame_budget = 0.02;  // [s]
// Frames on their way to a page. One that draws slower than they come would fall behind by seconds,
// and neither draw nor take a click any more.
constexpr int most_unseen = 2;

std::string member(const Json& message, const char* key, const std::string& fallback) {
  const auto it = message.find(key);
  if (it == message.end()) return fallback;
  if (it->is_string()) return it->get<std::string>();
  throw InvalidModel(fmt::format("viewer: '{}' is {}, expected a text", key, it->type_name()));
}
double number(const Json& message, const char* key, std::optional<double> fallback = {}) {
  const auto it = message.find(key);
  if (it != message.end() && it->is_number()) return it->get<double>();
  if (it == message.end() && fallback) return *fallback;
  throw InvalidModel(fmt::format("viewer: '{}' is {}, expected a number", key,
                                 it == message.end() ? "missing" : it->type_name()));
}
int index(const Json& message, const char* key) {
  const double x = number(message, key);
  if (x >= 0.0 && x < 1e9 && x == std::floor(x)) return static_cast<int>(x);
  throw InvalidModel(fmt::format("viewer: '{}' is {}, expected a whole number from 0", key, x));
}
Vec3<double> vector(const Json& message, const char* key) {
  const auto it = message.find(key);
  if (it != message.end() && it->is_array() && it->size() == 3 &&
      std::all_of(it->begin(), it->end(), [](const Json& x) { return x.is_number(); })) {
    return {(*it)[0].get<double>(), (*it)[1].get<double>(), (*it)[2].get<double>()};
  }
  throw InvalidModel(fmt::format("viewer: '{}' is not a vector, expected three numbers", key));
}
std::vector<double> numbers(const Json& message, const char* key) {
  const auto it = message.find(key);
  if (it != message.end() && it->is_array() &&
      std::all_of(it->begin(), it->end(), [](const Json& x) { return x.is_number(); })) {
    return it->get<std::vector<double>>();
  }
  throw InvalidModel(fmt::format("viewer: '{}' is not a list, expected numbers", key));
}
double between(const Json& message, const char* key, double fallback, double lower, double upper) {
  const double x = number(message, key, fallback);
  if (x >= lower && x <= upper) return x;
  throw InvalidModel(
      fmt::format("viewer: '{}' is {}, expected a number from {} to {}", key, x, lower, upper));
}

}  // namespace

Stage::Stage(const Host& h, const std::string& file, const CompileOptions& options,
             const std::vector<std::filesystem::path>& mesh_folders)
    : host(h),
      robot_file(file),
      description(h.read(file)),
      model(h.compile(description, options)),
      meshes(*model, file, mesh_folders),
      scene(scene_of(description, *model, meshes)),
      start(model->nq()) {
  model->neutral(start.data());
  const Registry& registry = h.registry();
  Json algorithms = Json::array(), integrators = Json::array();
  for (const Entry* e : registry.algorithms()) {
    if (e->problem == ForwardDynamics<double>::problem && registry.can(*e, *model).ok) {
      algorithms.push_back(e->about.name);
    }
  }
  for (const Entry* e : registry.entries(Kind::integrator)) integrators.push_back(e->about.name);
  const bool usual =
      std::find(algorithms.begin(), algorithms.end(), Json(names.algorithm)) != algorithms.end();
  if (!usual && !algorithms.empty()) names.algorithm = algorithms.front().get<std::string>();
  scene["algorithms"] = algorithms, scene["integrators"] = integrators;
  scene["algorithm"] = names.algorithm, scene["integrator"] = names.integrator;
}

Client::Client(const Stage& stage)
    : stage_(stage), mechanism_(stage.host, stage.model), names_(stage.names) {
  mechanism_.place(stage.start);
}

std::string Client::receive(std::string_view text) {
  Json out;
  const Json message = Json::parse(text.begin(), text.end(), nullptr, false);
  try {
    if (!message.is_object()) {
      throw InvalidModel("viewer: message is no JSON object, expected {\"do\": ...}");
    }
    if (member(message, "do", "") == "seen") {
      seen_ = std::clamp(index(message, "frame"), seen_, sent_);
      return {};
    }
    out = answer(message);
  } catch (const std::exception& error) {
    out = {{"error", error.what()}};
  }
  if (message.is_object()) {
    const auto id = message.find("id");
    if (id != message.end() && id->is_number_integer()) out["id"] = *id;
  }
  return to_text(out);
}

/// Messages:
///   {"do": "hello"}                                  the scene, and the pose
///   {"do": "set", "slider": i, "value": x}           moves an independent coordinate
///   {"do": "neutral"}  {"do": "random", "seed": n}
///   {"do": "place", "q": [spanning positions]}       as before a server went
///   {"do": "branch", "cluster": i}                   another assembly at the same coordinates
///   {"do": "drag", "link": i, "point": [link axes], "target": [world axes]}
///   {"do": "play", "speed", "dt", "algorithm", "integrator"}  {"do": "pause"}
///   {"do": "step", as "play"}                        one step of a simulation
///   {"do": "rest"}                                   ends the simulation: rates are zero again
///   {"do": "seen", "frame": n}                       a frame is drawn; not answered
Json Client::answer(const Json& message) {
  const std::string what = member(message, "do", "");
  if (what == "hello") {
    Json out = pose();
    out["scene"] = stage_.scene;
    return out;
  }
  if (what == "play" || what == "step") {
    start_simulation(message);
    if (what == "step") {
      playing_ = false;
      try {
        simulation_->step(step_);
      } catch (const std::exception&) {
        leave_simulation();  // its state is that of the failure
        throw;
      }
      mechanism_.place(simulation_->q());
    } else {
      playing_ = true;
      seen_ = sent_;
    }
    return pose();
  }
  if (what == "pause") {
    playing_ = false;
    return pose();
  }
  if (what == "rest") {
    leave_simulation();
  } else if (what == "set") {
    mechanism_.set(index(message, "slider"), number(message, "value"));
    leave_simulation();
  } else if (what == "neutral") {
    mechanism_.neutral();
    leave_simulation();
  } else if (what == "random") {
    mechanism_.random(static_cast<unsigned long long>(index(message, "seed")));
    leave_simulation();
  } else if (what == "drag") {
    mechanism_.drag(index(message, "link"), vector(message, "point"), vector(message, "target"));
    leave_simulation();
  } else if (what == "place") {
    mechanism_.resume(numbers(message, "q"));
    leave_simulation();
  } else if (what == "branch") {
    const bool other = mechanism_.other_branch(index(message, "cluster"));
    leave_simulation();
    Json out = pose();
    if (!other) out["notice"] = "No other assembly of this cluster was found at these coordinates.";
    return out;
  } else {
    throw UnknownName(
        fmt::format("viewer: 'do' is '{}', expected hello, set, neutral, random, place, branch, "
                    "drag, play, pause, step, rest or seen",
                    what.substr(0, 40)));
  }
  return pose();
}

void Client::start_simulation(const Json& message) {
  const double dt = between(message, "dt", step_, 1e-6, 0.05);
  const double speed = between(message, "speed", speed_, 0.001, 10.0);
  SimulationNames wanted = names_;
  wanted.algorithm = member(message, "algorithm", names_.algorithm);
  wanted.integrator = member(message, "integrator", names_.integrator);
  if (simulation_ == nullptr || wanted.algorithm != names_.algorithm ||
      wanted.integrator != names_.integrator) {
    auto simulation = make_simulation(stage_.host, stage_.model, wanted);
    if (simulation_ != nullptr) {
      simulation->start(simulation_->q(), simulation_->v(), simulation_->time());
    } else {
      simulation->start(mechanism_.q(), std::vector<double>(stage_.model->nv(), 0.0));
    }
    simulation_ = std::move(simulation);
  }
  names_ = wanted, step_ = dt, speed_ = speed;
}

void Client::leave_simulation() {
  playing_ = false;
  simulation_.reset();
}

Json Client::pose() {
  Json out{{"pose", mechanism_.pose()}, {"playing", playing_}};
  if (simulation_ != nullptr) {
    const Sample now = simulation_->sample();
    out["sample"] = {{"t", now.t},
                     {"kinetic", now.kinetic},
                     {"gravity", now.gravity},
                     {"springs", now.springs},
                     {"energy", now.energy()},
                     {"v", std::vector<double>(now.v.begin(), now.v.end())}};
  }
  return out;
}

std::optional<std::string> Client::tick(double seconds) {
  if (!playing_ || simulation_ == nullptr || sent_ - seen_ >= most_unseen) return std::nullopt;
  const auto begin = std::chrono::steady_clock::now();
  const double until = simulation_->time() + std::clamp(seconds, 0.0, 0.1) * speed_;
  Json out;
  try {
    while (simulation_->time() < until - 1e-12) {
      simulation_->step(std::min(step_, until - simulation_->time()));
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (spent.count() > frame_budget) break;
    }
    mechanism_.place(simulation_->q());
    out = pose();
  } catch (const std::exception& error) {
    // The last closed position stays on the screen, with what stopped it.
    leave_simulation();
    out = pose();
    out["error"] = error.what();
  }
  out["frame"] = ++sent_;
  return to_text(out);
}

}  // namespace espalier::viewer
