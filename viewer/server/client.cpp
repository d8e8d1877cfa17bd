#include "viewer/server/client.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>

#include "espalier/kernel/format.hpp"
#include "viewer/server/coordinates.hpp"
#include "viewer/server/messages.hpp"

namespace espalier::viewer {

namespace {

// A frame's part of the clock that its computation may take, so that other clients are served.
constexpr double frame_budget = 0.02;  // [s]
// Frames on their way to a page. One that draws slower than they come would fall behind by seconds,
// and neither draw nor take a click any more.
constexpr int most_unseen = 2;

}  // namespace

Stage::Stage(const Host& h, const std::string& file, const CompileOptions& o,
             const std::vector<std::filesystem::path>& mesh_folders, const ReadOptions& reading)
    : host(h),
      robot_file(file),
      options(o),
      description(h.read(file, reading)),
      model(h.compile(description, options)),
      meshes(*model, file, mesh_folders),
      scene(scene_with(description, model, names)),
      start(model->nq()),
      usual_margins(Mechanism(host, model).usual_margins()) {
  model->neutral(start.data());
}

Json Stage::scene_with(const Description& d, const ModelPtr& m, RunNames& usual) const {
  Json out = scene_of(d, *m, meshes);
  const Registry& registry = host.registry();
  Json algorithms = Json::array(), integrators = Json::array();
  for (const Entry* e : registry.algorithms()) {
    if (e->problem == ForwardDynamics<double>::problem && registry.can(*e, *m).ok) {
      algorithms.push_back(e->about.name);
    }
  }
  for (const Entry* e : registry.entries(Kind::integrator)) integrators.push_back(e->about.name);
  std::string& algorithm = usual.simulation.algorithm;
  const bool there =
      std::find(algorithms.begin(), algorithms.end(), Json(algorithm)) != algorithms.end();
  if (!there && !algorithms.empty()) algorithm = algorithms.front().get<std::string>();
  out["algorithms"] = algorithms, out["integrators"] = integrators;
  out["controllers"] = controller_names(controllers);
  out["algorithm"] = algorithm, out["integrator"] = usual.simulation.integrator;
  out["controller"] = usual.controller;
  return out;
}

Client::Client(const Stage& stage)
    : stage_(stage),
      description_(&stage.description, [](const Description*) {}),
      model_(stage.model),
      scene_(stage.scene),
      mechanism_(std::make_unique<Mechanism>(stage.host, stage.model, stage.usual_margins)),
      names_(stage.names) {
  scene_["controllers"] = controller_names(stage.controllers);
  mechanism_->place(stage.start);
  if (stage.other == nullptr) return;
  other_ = std::make_unique<Client>(*stage.other);
  scene_["compared"] = true;
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
    take_other(message, out);
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
///   {"do": "coordinates", "cluster": i, "joint": name}  makes a dependent joint independent; a
///       new scene. Without "joint": those that determine the others best here
///   {"do": "drag", "link": i, "point": [link axes], "target": [world axes]}
///   {"do": "show", "reactions": bool, "strength": link or -1}  what poses tell besides
///   {"do": "play", "speed", "dt", "algorithm", "integrator", "controller"}  {"do": "pause"}
///   {"do": "step", as "play"}                        one step of a simulation
///   {"do": "rest"}                                   ends the simulation: rates are zero again
///   {"do": "seen", "frame": n}                       a frame is drawn; not answered
Json Client::answer(const Json& message) {
  const std::string what = member(message, "do", "");
  if (what == "hello") {
    Json out = pose();
    out["scene"] = scene_;
    return out;
  }
  if (what == "play" || what == "step") {
    start_simulation(message);
    playing_ = what == "play";
    seen_ = sent_;
    if (playing_) return pose();
    try {
      run_->step(step_);
    } catch (const std::exception&) {
      leave_simulation();  // its state is that of the failure
      throw;
    }
    mechanism_->place(run_->q());
    return pose();
  }
  if (what == "pause") {
    playing_ = false;
    return pose();
  }
  if (what == "show") {
    show_reactions_ = flag(message, "reactions", show_reactions_);
    const double link = number(message, "strength", strength_of_);
    strength_of_ = link == -1.0 ? -1 : index(message, "strength");
    if (strength_of_ >= static_cast<int>(model_->links().size())) {
      const int wrong = std::exchange(strength_of_, -1);
      throw SizeMismatch(fmt::format("viewer: 'strength' is {}, expected a link below {}, or -1",
                                     wrong, model_->links().size()));
    }
    return pose();
  }
  return move(what, message);
}

/// What moves the robot by hand ends its simulation.
Json Client::move(const std::string& what, const Json& message) {
  std::string notice;
  bool other_scene = false;
  if (what == "set") {
    mechanism_->set(index(message, "slider"), number(message, "value"));
  } else if (what == "neutral") {
    mechanism_->neutral();
  } else if (what == "random") {
    mechanism_->random(static_cast<unsigned long long>(index(message, "seed")));
  } else if (what == "drag") {
    mechanism_->drag(index(message, "link"), vector(message, "point"), vector(message, "target"));
  } else if (what == "place") {
    mechanism_->resume(numbers(message, "q"));
  } else if (what == "coordinates") {
    change_coordinates(index(message, "cluster"), member(message, "joint", ""));
    other_scene = true;
  } else if (what == "branch") {
    if (!mechanism_->other_branch(index(message, "cluster"))) {
      notice = "No other assembly of this cluster was found at these coordinates.";
    }
  } else if (what != "rest") {
    throw UnknownName(
        fmt::format("viewer: 'do' is '{}', expected hello, set, neutral, random, place, branch, "
                    "coordinates, drag, show, play, pause, step, rest or seen",
                    what.substr(0, 40)));
  }
  leave_simulation();
  Json out = pose();
  if (!notice.empty()) out["notice"] = notice;
  if (other_scene) out["scene"] = scene_;
  return out;
}

void Client::change_coordinates(int cluster, const std::string& joint) {
  OtherCoordinates other = with_other_coordinates(stage_.host, *description_, stage_.options,
                                                  *model_, mechanism_->q(), cluster, joint);
  auto mechanism = std::make_unique<Mechanism>(stage_.host, other.model);
  mechanism->place(other.q);
  RunNames names = names_;
  Json scene = stage_.scene_with(other.description, other.model, names);
  if (other_ != nullptr) scene["compared"] = true;
  description_ = std::make_shared<const Description>(std::move(other.description));
  model_ = other.model;
  leave_simulation();
  forces_.reset();
  mechanism_ = std::move(mechanism), scene_ = std::move(scene), names_ = names;
}

void Client::start_simulation(const Json& message) {
  const double dt = between(message, "dt", step_, 1e-6, 0.05);
  const double speed = between(message, "speed", speed_, 0.001, 10.0);
  RunNames wanted = names_;
  wanted.simulation.algorithm = member(message, "algorithm", names_.simulation.algorithm);
  wanted.simulation.integrator = member(message, "integrator", names_.simulation.integrator);
  wanted.controller = member(message, "controller", names_.controller);
  const bool same = wanted.simulation.algorithm == names_.simulation.algorithm &&
                    wanted.simulation.integrator == names_.simulation.integrator &&
                    wanted.controller == names_.controller;
  if (run_ == nullptr) {
    run_ = std::make_unique<Run>(stage_.host, model_, wanted, stage_.controllers, mechanism_->q(),
                                 std::vector<double>(model_->nv(), 0.0), 0.0);
  } else if (!same) {
    run_ = std::make_unique<Run>(stage_.host, model_, wanted, stage_.controllers, run_->q(),
                                 run_->v(), run_->time());
  }
  names_ = wanted, step_ = dt, speed_ = speed;
}

void Client::leave_simulation() {
  playing_ = false;
  run_.reset();
}

Json Client::pose() {
  Json out{{"pose", mechanism_->pose()}, {"playing", playing_}};
  if (run_ != nullptr) out["sample"] = run_->sample();
  add_forces(out["pose"]);
  return out;
}

/// What was asked for by "show"; a reason in its place where it cannot be told here.
void Client::add_forces(Json& pose) {
  if (!show_reactions_ && strength_of_ < 0) return;
  try {
    if (forces_ == nullptr) {
      forces_ = std::make_unique<Forces>(stage_.host, *description_, stage_.options, model_);
    }
    if (strength_of_ >= 0) pose["strength"] = forces_->strength(mechanism_->q(), strength_of_);
    if (!show_reactions_) return;
    // Held at rest, or as it moves.
    std::vector<double> v(model_->nv(), 0.0), vdot = v;
    if (run_ != nullptr) v = run_->v(), run_->accelerations(vdot);
    pose["reactions"] = forces_->reactions(mechanism_->q(), v, vdot);
  } catch (const Error& error) {
    pose["forces_problem"] = error.what();
  }
}

std::optional<std::string> Client::tick(double seconds) {
  if (!playing_ || run_ == nullptr || sent_ - seen_ >= most_unseen) return std::nullopt;
  const auto begin = std::chrono::steady_clock::now();
  const double until = run_->time() + std::clamp(seconds, 0.0, 0.1) * speed_;
  Json out;
  try {
    while (run_->time() < until - 1e-12) {
      const double h = std::min(step_, until - run_->time());
      run_->step(h);
      if (other_ != nullptr && other_->run_ != nullptr) other_->run_->step(h);
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin;
      if (spent.count() > frame_budget) break;
    }
    mechanism_->place(run_->q());
    out = pose();
    if (other_ != nullptr && other_->run_ != nullptr) {
      other_->mechanism_->place(other_->run_->q());
      out["other"] = other_->pose();
    }
  } catch (const std::exception& error) {
    // The last closed position stays on the screen, with what stopped it.
    leave_simulation();
    out = pose();
    if (other_ != nullptr) {
      other_->leave_simulation();
      out["other"] = other_->pose();
    }
    out["error"] = error.what();
  }
  if (other_ != nullptr) out["difference"] = difference();
  out["frame"] = ++sent_;
  return to_text(out);
}

}  // namespace espalier::viewer
