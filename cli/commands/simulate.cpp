#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <filesystem>
#include <iostream>
#include <type_traits>

#include "cli/command.hpp"
#include "cli/controller_file.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_form.hpp"
#include "cli/motion_table.hpp"
#include "cli/positions.hpp"
#include "cli/progress.hpp"
#include "cli/results.hpp"
#include "cli/state.hpp"
#include "cli/table.hpp"
#include "espalier/host/output_file.hpp"
#include "espalier/kernel/suggest.hpp"
#include "espalier/simulation/contact/contact_simulation.hpp"
#include "espalier/simulation/contact/ground.hpp"
#include "espalier/simulation/simulation.hpp"

namespace espalier::cli {

namespace {

/// What a run came to.
struct Summary {
  double duration = 0.0, seconds = 0.0;
  long long samples = 0;
  double first_energy = 0.0, last_energy = 0.0, largest_drift = 0.0, largest_kinetic = 0.0;
  double largest_residual = 0.0;

  void take(const Sample& now) {
    if (samples++ == 0) first_energy = now.energy();
    last_energy = now.energy();
    largest_drift = std::max(largest_drift, std::abs(last_energy - first_energy));
    largest_kinetic = std::max(largest_kinetic, now.kinetic);
    largest_residual = std::max(largest_residual, now.residual);
  }
};

/// Columns that say what touches: the force on each shape of the robot.
class ContactColumns {
 public:
  explicit ContactColumns(const contact::ContactSimulation& simulation) : simulation_(simulation) {
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

  const std::vector<double>& values() {
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

  std::vector<std::string> names;

 private:
  const contact::ContactSimulation& simulation_;
  std::vector<const contact::Plan::Solid*> shapes_;
  std::vector<double> values_;
};

/// Integrates a robot's motion in time.
class Simulate final : public Command {
  void add_options(CLI::App& app) override {
    app_ = &app;
    model_.add_to(app);
    app.add_option("--algorithm", names_.algorithm, "for forward dynamics")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--integrator", names_.integrator, "see 'list integrators'")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--option", integrator_options_,
                   "of the integrator, e.g. relative_tolerance=1e-8; may be repeated")
        ->type_name("NAME=NUMBER")
        ->allow_extra_args(false);
    app.add_option("--duration", duration_, "simulated time [s]")->type_name("T")->required();
    app.add_option("--dt", dt_, "step [s]; integrators of variable steps take their own within it")
        ->type_name("H")
        ->required();
    app.add_option("--state", state_,
                   "state at the start: a file as of 'eval', '-' for standard input, or the name "
                   "of a state in the robot's file")
        ->type_name("FILE");
    app.add_option("--controller", controller_, "controller file")->type_name("FILE");
    app.add_option(
           "--ground", ground_,
           "rigid contact: 'plane' for z = 0, or a ground file; steps of length H by Moreau's "
           "method instead of an integrator")
        ->type_name("plane|FILE");
    app.add_option("--solver", steps_.solver,
                   "of contact impulses: see 'list algorithms --problem contact-impulses'")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--output", output_, "the motion as CSV, or as arrays of NumPy")
        ->type_name("FILE.csv|FILE.npz");
    app.add_option("--every", every_, "rows of the output: one every so many steps")
        ->check(CLI::Range(1, 1000000000))
        ->capture_default_str();
    app.add_flag("!--no-passive", simulation_.passive,
                 "damping, friction and springs of the joints do not act");
    app.add_option("--damping", damping_,
                   "of joints: in the integrator's stages, implicit (order 2, for fast dampers), "
                   "or automatic: implicit where the integrator is not stable at this step")
        ->type_name("automatic|in-stages|implicit")
        ->check(CLI::IsMember({"automatic", "in-stages", "implicit"}).description(""))
        ->capture_default_str();
    app.add_flag("!--stop-at-dead-points", simulation_.past_dead_points,
                 "keep the model's independent joints, and stop where they do not determine the "
                 "others");
    app.add_option("--loop-error", simulation_.loop_error,
                   "steps of rk4 are taken in parts where closing the loops moves a joint by more "
                   "than this share of its way; 0: as they are")
        ->type_name("SHARE")
        ->capture_default_str();
    app.add_option("--friction-rate", simulation_.friction_rate,
                   "dry friction is friction tanh(rate / this): no chatter about zero [rad/s, m/s]")
        ->type_name("RATE")
        ->capture_default_str();
    app.footer(R"(
Loops are closed after every step. Near a dead point of the model's independent joints the run goes
on in others; the CSV keeps the names of the model's. Through a singular position of the mechanism
itself it goes on along its branch, with a warning; with --ground it keeps the model's joints and
stops at both. The run stops with exit code 1 where loops
cannot be closed on their branch, or where a number is no longer finite; the CSV then ends there, as
it does with exit code 130 at Ctrl-C. Until the end its rows stand beside it, in a file of its name
and six letters. Joint limits do not act without --ground: a joint that passes one is named in a
warning. In the state file,
"tau" and "external_wrenches" act all the time, "vdot" does not matter; joints of loops that depend
on others may be left out.

Controller file (JSON): one object, or {"controllers": [...]} for several that act together.
  {"type": "constant", "tau": {joint: number or list}}
  {"type": "pd", "joints": {joint: {"kp": 0, "kd": 0, "target": 0, "target_rate": 0}}}
      tau = kp (target - q) + kd (target_rate - qd), on joints of one rate
  {"type": "table", "time": [...], "tau": {joint: [...]}}
  {"type": "table", "file": "torques.csv"}     with the header time,joint,...
      linear between its times, the first row before and the last row after them
Joints may be any of the model: independent, dependent, or a rotor behind a gear.

Ground file (JSON): what the robot touches, and with what; all of it may be left out.
  {"friction": 0.7, "restitution": 0,
   "plane": {"height": 0, "rpy": [0, 0, 0]},
   "height_field": {"columns": 3, "rows": 2, "spacing": 0.5, "heights": [...], "xyz": [0, 0, 0]},
   "shapes": [{"link": "foot", "sphere": 0.02, "xyz": [0, 0, -0.1], "friction": 1},
              {"link": "trunk", "box": [0.2, 0.1, 0.05]}],
   "self_collision": false, "exclude": [["link", "link"]]}
  Without "shapes" the model's collision shapes touch. Kinds: sphere, box (half edges), hull
  (points), mesh (a file: its convex hull, of 32 corners where it has more), capsule and cylinder
  (radius, half length along z); "link": "" is the ground. With "stiffness" and "damping" of a
  point the ground yields. Joints stop at their limits, and dry
  friction holds them exactly. Steps that are not solved to 1e-6 m/s are counted.

CSV: time, q.<joint> and v.<joint> ([k] for the k-th of several), kinetic, gravity, springs and
their sum energy [J], loop_residual; with --ground contact.<shape>.fx, fy, fz [N, world axes], the
number of points that bear load, and contact_residual [m/s]. A FILE.npz has an array of each name,
numpy.load("motion.npz")["q.knee"]; its rows wait in memory until the end.

Example: espalier simulate four_bar.urdf --duration 10 --dt 0.0005 --output motion.csv)");
  }

  int run(Session& session) override {
    if (!(dt_ > 0.0) || !std::isfinite(dt_)) {
      throw usage_error(fmt::format("simulate: --dt is {}, expected a positive number", dt_));
    }
    if (!(duration_ >= 0.0) || !std::isfinite(duration_)) {
      throw usage_error(
          fmt::format("simulate: --duration is {}, expected a number not below zero", duration_));
    }
    if (!(duration_ / dt_ <= 0x1.0p50)) {
      throw usage_error(fmt::format(
          "simulate: --duration over --dt is {:.3g} steps, expected at most 1.1e+15, which time in "
          "double precision can tell apart (take longer steps, or a shorter duration)",
          duration_ / dt_));
    }
    if (!(simulation_.friction_rate > 0.0) || !std::isfinite(simulation_.friction_rate)) {
      throw usage_error(fmt::format("simulate: --friction-rate is {}, expected a positive number",
                                    simulation_.friction_rate));
    }
    if (!(simulation_.loop_error >= 0.0) || !std::isfinite(simulation_.loop_error)) {
      throw usage_error(
          fmt::format("simulate: --loop-error is {}, expected a number not below zero",
                      simulation_.loop_error));
    }
    using Damping = SimulationOptions::Damping;
    simulation_.damping = damping_ == "implicit"    ? Damping::implicit
                          : damping_ == "in-stages" ? Damping::in_stages
                                                    : Damping::automatic;
    for (const std::string& option : integrator_options_) add_option(option);
    const Host& host = session.host();
    host.registry().find_algorithm(ForwardDynamics<double>::problem, names_.algorithm);
    host.registry().find(Kind::integrator, names_.integrator);
    const ModelPtr model = model_.load(session);
    State state = state_ ? read_state(model, *state_) : neutral_state(model);
    if (duration_ > 0.0 && dt_ > duration_) {
      session.warn({Finding::Severity::warning,
                    fmt::format("simulate: --dt is {:g} s, longer than --duration, expected a part "
                                "of it (the only step is of {:g} s)",
                                dt_, duration_),
                    ""});
    }
    if (state_) warn_near_dead_points(session, *model, state.inputs.q, "the start");
    std::vector<std::unique_ptr<Controller>> controllers;
    if (controller_) controllers = read_controllers(*model, *controller_);
    warn_of_idle_options(session);
    if (ground_) {
      contact::StepOptions step;
      step.passive = simulation_.passive;
      step.closing = simulation_.closing;
      if (!simulation_.passive) step.friction = contact::StepOptions::Friction::none;
      host.registry().find_algorithm(contact::ContactImpulses<double>::problem, steps_.solver);
      contact::WorldReport shapes;
      const contact::World world = ground(*model, shapes);
      warn_of_shapes(session, shapes.left_out);
      tell_of_meshes(session, shapes.meshes);
      meshes_ = std::move(shapes.meshes);
      warn_of_depth(session, host, model, world, step, state);
      contact::ContactSimulation simulation(host.registry(), model, world, step, steps_,
                                            std::move(controllers));
      ContactColumns columns(simulation);
      return move(session, *model, simulation, state, columns.names,
                  [&] { return columns.values(); });
    }
    const auto simulation =
        make_simulation(host, model, names_, simulation_, std::move(controllers));
    return move(session, *model, *simulation, state, {}, [] { return std::vector<double>{}; });
  }

  /// @param more    names of columns beside those of all motions
  /// @param values  what stands in them now
  template <class S, class F>
  int move(Session& session, const Model& model, S& simulation, const State& state,
           const std::vector<std::string>& more, F&& values) {
    simulation.set_gravity(state.gravity);
    simulation.set_forces(state.inputs.tau);
    simulation.set_wrenches(state.inputs.wrenches);
    simulation.start(state.inputs.q, state.inputs.v);

    std::unique_ptr<MotionTable> table;
    if (output_) table = motion_table(*output_, model, more);
    Summary summary;
    const auto start = std::chrono::steady_clock::now();
    const auto tell = [&] {
      if constexpr (std::is_same_v<S, Simulation>) tell_events(session, simulation);
    };
    std::exception_ptr stopped;
    try {
      const Interrupt interrupt;
      Progress progress("simulate " + model.name());
      simulation.run(duration_, dt_, table ? every_ : std::max(every_, quiet_every()),
                     [&](const Sample& now) {
                       if (table) table->row(now, values());
                       summary.take(now);
                       progress.show(duration_ > 0.0 ? now.t / duration_ : 1.0);
                       return !Interrupt::asked();
                     });
    } catch (const OutputError&) {
      throw;  // a file that cannot be written whole does not take its place
    } catch (...) {
      stopped = std::current_exception();
    }
    tell();
    if (table) table->close();  // with all rows until here
    if (stopped) std::rethrow_exception(stopped);
    summary.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    summary.duration = simulation.time();
    report(session, model, summary, simulation);
    if (!Interrupt::asked() || !(summary.duration < duration_)) return ok;
    std::cerr << fmt::format(
        "espalier: simulate: interrupted at {:g} s of {:g} s{}\n", summary.duration, duration_,
        output_ ? fmt::format("; {} holds {} rows", *output_, summary.samples) : "");
    return interrupted;
  }

  /// Options that the other kind of run reads.
  void warn_of_idle_options(Session& session) const {
    static const std::vector<std::string> of_flight{
        "--algorithm",           "--integrator", "--option",       "--damping",
        "--stop-at-dead-points", "--loop-error", "--friction-rate"};
    static const std::vector<std::string> of_contact{"--solver"};
    for (const std::string& name : ground_ ? of_flight : of_contact) {
      if (app_->get_option(name)->count() == 0) continue;
      session.warn({Finding::Severity::warning,
                    fmt::format("simulate: {} is given, expected it {} --ground only (it has no "
                                "effect here)",
                                name, ground_ ? "without" : "with"),
                    ""});
    }
  }

  /// The world of --ground. What is wrong in its file is wrong usage.
  contact::World ground(const Model& model, contact::WorldReport& shapes) const {
    if (*ground_ == "plane") return contact::plane_ground(model, shapes, model_.reading);
    if (!std::filesystem::exists(*ground_) && ground_->find_first_of("./") == std::string::npos) {
      throw usage_error("--ground is '" + *ground_ +
                        "', which is no file, expected 'plane' or a ground file (JSON)" +
                        did_you_mean(*ground_, {"plane"}));
    }
    const std::string text = parse_json(*ground_, "ground").dump();  // says where it is no JSON
    try {
      return contact::read_ground(model, text, *ground_, shapes, model_.reading);
    } catch (const InvalidModel& error) {
      throw usage_error(error.what());
    }
  }

  /// Shapes that overlap before anything moves: what pushes them apart is no physics.
  void warn_of_depth(Session& session, const Host& host, const ModelPtr& model,
                     const contact::World& world, const contact::StepOptions& step,
                     const State& state) const {
    contact::ContactSimulation trial(host.registry(), model, world, step, steps_);
    const auto worst = contact::overlap_at_start(trial, state.inputs.q, state.inputs.v, dt_);
    if (!worst) return;
    session.warn({Finding::Severity::warning,
                  fmt::format("simulate: shapes '{}' and '{}' overlap by {:.3g} m at the start, "
                              "expected none to (place the robot higher with \"q\" in --state; "
                              "z of 'root' is its third number)",
                              worst->first, worst->second, worst->depth),
                  ""});
  }

  void warn_of_shapes(Session& session, const std::vector<std::string>& left_out) const {
    if (left_out.empty()) return;
    session.warn(
        {Finding::Severity::warning,
         fmt::format("simulate: collision shapes that touch nothing are {}, expected "
                     "planes, boxes, spheres, capsules, cylinders and meshes (give what is to "
                     "touch as \"shapes\" in a file for --ground)",
                     fmt::join(left_out, ", ")),
         ""});
  }

  /// Concave meshes once, all together.
  static void tell_of_meshes(Session& session, const std::vector<contact::MeshHull>& meshes) {
    std::vector<std::string> hollow;
    for (const contact::MeshHull& m : meshes) {
      if (m.hollow > 0.0) hollow.push_back(fmt::format("{} ({:.2g} m deep)", m.shape, m.hollow));
    }
    if (hollow.empty()) return;
    session.warn({Finding::Severity::warning,
                  fmt::format("simulate: meshes that are concave are {}, taken as their hull (give "
                              "convex parts as \"shapes\" in a file for --ground)",
                              fmt::join(hollow, ", ")),
                  ""});
  }

  /// Warnings; that other joints are independent for a while is part of the report.
  static void tell_events(Session& session, const Simulation& simulation) {
    int told = 0;
    for (const SimulationEvent& event : simulation.events()) {
      if (event.kind == SimulationEvent::Kind::coordinates) continue;
      if (event.kind == SimulationEvent::Kind::singularity && ++told > 3) continue;
      session.warn({Finding::Severity::warning, simulation.text(event), ""});
    }
    if (told > 3) {
      session.warn({Finding::Severity::warning,
                    fmt::format("the mechanism was singular {} times in all", told), ""});
    }
  }

  /// Without an output, energies are looked at a thousand times: enough for their drift.
  int quiet_every() const {
    return static_cast<int>(std::clamp(duration_ / dt_ / 1000.0, 1.0, 1e9));
  }

  void add_option(const std::string& option) {
    const std::size_t split = option.find('=');
    double value = 0.0;
    try {
      std::size_t used = 0;
      value = std::stod(option.substr(std::min(option.size(), split + 1)), &used);
      if (split == std::string::npos || split + 1 + used != option.size()) throw std::exception();
    } catch (const std::exception&) {
      throw usage_error("simulate: --option is '" + option + "', expected NAME=NUMBER");
    }
    names_.integrator_options[option.substr(0, split)] = {value};
  }

  static const char* kind_of(const SimulationEvent& event) {
    switch (event.kind) {
      case SimulationEvent::Kind::coordinates:
        return "coordinates";
      case SimulationEvent::Kind::singularity:
        return "singularity";
      case SimulationEvent::Kind::limit:
        return "limit";
      case SimulationEvent::Kind::turn:
        return "turn";
      case SimulationEvent::Kind::damping:
        return "damping";
    }
    return "";
  }

  template <class S>
  void report(Session& session, const Model& model, const Summary& s, const S& simulation) const {
    constexpr bool touches = std::is_same_v<S, contact::ContactSimulation>;
    const std::string& algorithm = touches ? steps_.solver : names_.algorithm;
    const std::string& integrator = touches ? steps_.step : names_.integrator;
    const double change = s.last_energy - s.first_energy;
    const double factor = s.seconds > 0.0 ? s.duration / s.seconds : 0.0;
    if (session.json) {
      Json out{{"model", model.name()},
               {"algorithm", algorithm},
               {"integrator", integrator},
               {"duration", s.duration},
               {"dt", dt_},
               {"rows", s.samples},
               {"energy",
                {{"first", s.first_energy},
                 {"last", s.last_energy},
                 {"largest_change", s.largest_drift},
                 {"relative_to_largest_kinetic",
                  s.largest_kinetic > 0.0 ? Json(s.largest_drift / s.largest_kinetic) : Json()}}},
               {"largest_loop_residual", s.largest_residual},
               {"least_singularity_margin", simulation.least_margin()},
               {"seconds", s.seconds},
               {"real_time_factor", factor}};
      if constexpr (!touches) {
        out["events"] = Json::array();
        for (const SimulationEvent& event : simulation.events()) {
          out["events"].push_back(
              {{"kind", kind_of(event)}, {"t", event.t}, {"text", simulation.text(event)}});
        }
      }
      State end;
      end.inputs.q = simulation.q(), end.inputs.v = simulation.v();
      end.inputs.tau.assign(model.nv(), 0.0), end.inputs.vdot.assign(model.nv(), 0.0);
      const Json all = to_json(model, end);
      out["final"] = {{"q", all["q"]}, {"v", all["v"]}};
      if constexpr (touches) {
        out["contact"] = {{"points", simulation.contacts().size()},
                          {"residual", simulation.contact_residual()},
                          {"unsolved_steps", simulation.unsolved_steps()},
                          {"deep_steps", simulation.deep_steps()},
                          {"hulls", Json::array()}};
        for (const contact::MeshHull& m : meshes_) {
          out["contact"]["hulls"].push_back({{"shape", m.shape},
                                             {"mesh", m.file},
                                             {"corners", m.corners},
                                             {"of", m.of},
                                             {"gap", m.gap},
                                             {"hollow", m.hollow}});
        }
      }
      session.print(out);
      return;
    }
    std::string text = fmt::format(
        "{}: {:g} s by {} and {}, steps of {:g} s\n\n"
        "energy: {:.9g} J at the start, {:.9g} J at the end ({:+.3g} J); largest change {:.3g} J",
        model.name(), s.duration, algorithm, integrator, dt_, s.first_energy, s.last_energy, change,
        s.largest_drift);
    // Of a robot at rest, rounding over rounding says nothing.
    if (s.largest_kinetic > 1e-12 * std::abs(s.first_energy) && s.largest_kinetic > 1e-30) {
      text += fmt::format(", {:.3g} of the largest kinetic energy",
                          s.largest_drift / s.largest_kinetic);
    }
    text += "\n";
    if (model.has_variable_constraints()) {
      text += fmt::format("loops: largest residual {:.3g}, least singularity margin {:.3g}\n",
                          s.largest_residual, simulation.least_margin());
    }
    if constexpr (!touches) {
      const auto changes = std::count_if(
          simulation.events().begin(), simulation.events().end(),
          [](const SimulationEvent& e) { return e.kind == SimulationEvent::Kind::coordinates; });
      if (changes > 0) {
        text += fmt::format("coordinates: changed {} times near dead points (--json lists them)\n",
                            changes);
      }
    }
    if constexpr (touches) {
      text += fmt::format(
          "contact: {} points within the margin at the end; {} steps not solved to 1e-6 m/s, {} "
          "too deep\n",
          simulation.contacts().size(), simulation.unsolved_steps(), simulation.deep_steps());
      text += hulls_text();
    }
    text += fmt::format("time: {:.3g} s, {:.3g} times real time\n", s.seconds, factor);
    if (output_) text += fmt::format("{}: {} rows\n", *output_, s.samples);
    session.print(text);
  }

  /// What hulls of few corners leave out.
  std::string hulls_text() const {
    if (meshes_.empty()) return "";
    const auto worst = std::max_element(meshes_.begin(), meshes_.end(),
                                        [](const auto& a, const auto& b) { return a.gap < b.gap; });
    return fmt::format(
        "hulls: {} of meshes; the surface of {} is {:.2g} m outside of its {} corners of {}, of "
        "others less\n",
        meshes_.size(), worst->shape, worst->gap, worst->corners, worst->of);
  }

  CLI::App* app_ = nullptr;
  ModelArguments model_;
  SimulationNames names_;
  SimulationOptions simulation_;
  std::vector<std::string> integrator_options_;
  double duration_ = 0.0, dt_ = 0.0;
  contact::StepNames steps_;
  std::optional<std::string> state_, controller_, output_, ground_;
  std::string damping_ = "automatic";
  int every_ = 1;
  std::vector<contact::MeshHull> meshes_;  ///< that touch as hulls
};

const Registered<Simulate> registered_simulate{
    {"simulate", "integrate a robot's motion in time", 12}};

}  // namespace

}  // namespace espalier::cli
