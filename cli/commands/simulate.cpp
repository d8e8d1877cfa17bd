#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <iostream>

#include "cli/command.hpp"
#include "cli/files/contact_run.hpp"
#include "cli/files/controller_file.hpp"
#include "cli/files/positions.hpp"
#include "cli/files/state.hpp"
#include "cli/interrupt.hpp"
#include "cli/output/motion_table.hpp"
#include "cli/output/simulation_report.hpp"
#include "cli/progress.hpp"
#include "espalier/host/output_file.hpp"
#include "espalier/simulation/messages.hpp"
#include "espalier/simulation/simulation.hpp"

namespace espalier::cli {

namespace {

constexpr const char* footer = R"(
Loops are closed after every step. Near a dead point of the model's independent joints, the run goes
on in other coordinates; the CSV keeps those of the model. The run also passes a singular position of
the mechanism itself, along its branch and with a warning. With --ground it stops at both. It stops
with exit code 1 if loops cannot be closed on their branch or a number is no longer finite, and with
130 at Ctrl-C; the CSV then ends there. Until the run ends, its rows are in a file of the same name
with six more letters. Without --ground, joint limits do not act; a joint that passes one is named in
a warning. "tau" and "external_wrenches" of the state file act all the time and "vdot" is ignored;
dependent joints may be left out.

Controller file (JSON): one object, or {"controllers": [...]} for several that act together.
  {"type": "constant", "tau": {joint: number or list}}
  {"type": "pd", "joints": {joint: {"kp": 0, "kd": 0, "target": 0, "target_rate": 0}}}
      tau = kp (target - q) + kd (target_rate - qd), on joints with one rate
  {"type": "table", "time": [...], "tau": {joint: [...]}}
  {"type": "table", "file": "torques.csv"}     with the header time,joint,...
      linear between its times, constant before the first and after the last
Joints may be any of the model: independent, dependent, or a rotor behind a gear.

Ground file (JSON): what the robot touches, and with which shapes; all of it is optional.
  {"friction": 0.7, "restitution": 0, "torsional_friction": 0, "rolling_friction": 0,
   "plane": {"height": 0, "rpy": [0, 0, 0], "velocity": [0, 0, 0]},
   "height_field": {"columns": 3, "rows": 2, "spacing": 0.5, "heights": [...], "xyz": [0, 0, 0],
                    "rpy": [0, 0, 0]},
   "shapes": [{"link": "foot", "sphere": 0.02, "xyz": [0, 0, -0.1], "friction": 1},
              {"link": "trunk", "box": [0.2, 0.1, 0.05]}],
   "self_collision": false, "exclude": [["link", "link"]]}
  Without "shapes", the collision shapes of the model are used. Kinds: sphere, box (half edges),
  hull (points), mesh (a file; its convex hull, reduced to 32 corners), capsule and cylinder (radius,
  half length along z). "link": "" is the ground. With "stiffness" and "damping" of a point, the
  ground yields. Torsional and rolling friction are lengths [m]: the moment that a point bears is at
  most that times its normal force. A surface with a "velocity" [m/s] runs as a belt does. Joints
  stop at their limits, and dry friction holds them exactly. Steps that are not solved to 1e-6 m/s
  are counted.

CSV: time, q.<joint> and v.<joint> ([k] for the k-th of several), kinetic, gravity, springs and
their sum energy [J], loop_residual; with --ground contact.<shape>.fx, fy, fz [N, world axes], the
number of points that bear load, and contact_residual [m/s]. A FILE.npz has an array of each name,
numpy.load("motion.npz")["q.knee"]. Both are written while the simulation runs, on cores that are
free, and take their names when they are whole.

Example: espalier simulate four_bar.urdf --duration 10 --dt 0.0005 --output motion.csv)";

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
                   "option of the integrator, e.g. relative_tolerance=1e-8; may be repeated")
        ->type_name("NAME=NUMBER")
        ->allow_extra_args(false);
    app.add_option("--duration", duration_, "simulated time [s]")->type_name("T")->required();
    app.add_option("--dt", dt_,
                   "step [s]; integrators with variable steps take their own within it")
        ->type_name("H")
        ->required();
    app.add_option("--state", state_,
                   "initial state: a file as for 'eval', '-' for standard input, or the name of a "
                   "state in the robot file")
        ->type_name("FILE");
    app.add_option("--controller", controller_, "controller file")->type_name("FILE");
    app.add_option(
           "--ground", ground_,
           "rigid contact with the plane z = 0 ('plane') or with a ground file; takes steps of "
           "length H by Moreau's method instead of an integrator")
        ->type_name("plane|FILE");
    app.add_option("--solver", steps_.solver,
                   "solver of contact impulses: see 'list algorithms --problem contact-impulses'")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--output", output_, "write the motion as CSV, or as NumPy arrays")
        ->type_name("FILE.csv|FILE.npz");
    app.add_option("--every", every_, "write a row every so many steps")
        ->check(CLI::Range(1, 1000000000))
        ->capture_default_str();
    add_physics_options(app);
    app.footer(footer);
  }

  void add_physics_options(CLI::App& app) {
    app.add_flag("!--no-passive", simulation_.passive,
                 "ignore damping, friction and springs of the joints");
    app.add_option(
           "--damping", damping_,
           "integration of joint damping: in the integrator's stages, implicit (order 2, for "
           "fast dampers), or automatic: implicit if the integrator would be unstable")
        ->type_name("automatic|in-stages|implicit")
        ->check(CLI::IsMember({"automatic", "in-stages", "implicit"}).description(""))
        ->capture_default_str();
    app.add_flag("!--stop-at-dead-points", simulation_.past_dead_points,
                 "keep the model's independent joints, and stop where they no longer determine the "
                 "others");
    app.add_option("--loop-error", simulation_.loop_error,
                   "divide a step of rk4 where closing the loops moves a joint by more than this "
                   "share of its way; 0: never")
        ->type_name("SHARE")
        ->capture_default_str();
    app.add_option(
           "--friction-rate", simulation_.friction_rate,
           "smooth dry friction to friction * tanh(rate / RATE), to avoid chatter about zero "
           "[rad/s, m/s]")
        ->type_name("RATE")
        ->capture_default_str();
  }

  int run(Session& session) override {
    expect_numbers();
    read_options();
    const Host& host = session.host();
    host.registry().find_algorithm(ForwardDynamics<double>::problem, names_.algorithm);
    host.registry().find(Kind::integrator, names_.integrator);
    const ModelPtr model = model_.load(session);
    State state = state_ ? read_state(model, *state_) : neutral_state(model);
    if (duration_ > 0.0 && dt_ > duration_) {
      session.warn(
          fmt::format("simulate: --dt is {:g} s, longer than --duration, expected a part of it "
                      "(the only step is of {:g} s)",
                      dt_, duration_));
    }
    if (state_) warn_near_dead_points(session, *model, state.inputs.q, "the start");
    std::vector<std::unique_ptr<Controller>> controllers;
    if (controller_) controllers = read_controllers(*model, *controller_);
    warn_of_idle_options(session);
    return ground_ ? run_on_ground(session, model, state, std::move(controllers))
                   : run_free(session, model, state, std::move(controllers));
  }

  void expect_numbers() const {
    const auto refuse = [](const char* option, double value, const char* expected) {
      throw usage_error(fmt::format("simulate: {} is {}, expected {}", option, value, expected));
    };
    if (!(dt_ > 0.0) || !std::isfinite(dt_)) refuse("--dt", dt_, "a positive number");
    if (!(duration_ >= 0.0) || !std::isfinite(duration_)) {
      refuse("--duration", duration_, "a number not below zero");
    }
    if (!(duration_ / dt_ <= 0x1.0p50)) {
      throw usage_error(fmt::format(
          "simulate: --duration over --dt is {:.3g} steps, expected at most 1.1e+15, which time in "
          "double precision can tell apart (take longer steps, or a shorter duration)",
          duration_ / dt_));
    }
    const double rate = simulation_.friction_rate, error = simulation_.loop_error;
    if (!(rate > 0.0) || !std::isfinite(rate)) {
      refuse("--friction-rate", rate, "a positive number");
    }
    if (!(error >= 0.0) || !std::isfinite(error)) {
      refuse("--loop-error", error, "a number not below zero");
    }
  }

  void read_options() {
    using Damping = SimulationOptions::Damping;
    simulation_.damping = damping_ == "implicit"    ? Damping::implicit
                          : damping_ == "in-stages" ? Damping::in_stages
                                                    : Damping::automatic;
    for (const std::string& option : integrator_options_) add_option(option);
  }

  /// Options that the other kind of run reads.
  void warn_of_idle_options(Session& session) const {
    static const std::vector<std::string> of_flight{
        "--algorithm",           "--integrator", "--option",       "--damping",
        "--stop-at-dead-points", "--loop-error", "--friction-rate"};
    static const std::vector<std::string> of_contact{"--solver"};
    for (const std::string& name : ground_ ? of_flight : of_contact) {
      if (app_->get_option(name)->count() == 0) continue;
      session.warn(
          fmt::format("simulate: {} is given, expected it {} --ground only (it has no effect here)",
                      name, ground_ ? "without" : "with"));
    }
  }

  int run_free(Session& session, const ModelPtr& model, const State& state,
               std::vector<std::unique_ptr<Controller>> controllers) {
    const auto simulation =
        make_simulation(session.host(), model, names_, simulation_, std::move(controllers));
    RunReport report = report_of(*model, names_.algorithm, names_.integrator);
    std::unique_ptr<RowEnergies> energies;
    if (output_) energies = RowEnergies::make(session.host(), model, state.gravity);
    simulation->leave_energies(energies != nullptr);
    const bool whole = move(
        report, *simulation, state, energies.get(), {}, [] { return std::vector<double>{}; },
        [&] { tell_events(session, *simulation); });
    add_events(report, *simulation);
    return tell(session, report, whole);
  }

  int run_on_ground(Session& session, const ModelPtr& model, const State& state,
                    std::vector<std::unique_ptr<Controller>> controllers) {
    const Registry& registry = session.host().registry();
    contact::StepOptions step;
    step.passive = simulation_.passive;
    step.closing = simulation_.closing;
    if (!simulation_.passive) step.friction = contact::StepOptions::Friction::none;
    registry.find_algorithm(contact::ContactImpulses<double>::problem, steps_.solver);
    const Ground ground = read_ground(session, *model, *ground_, model_.reading);
    {
      contact::ContactSimulation trial(registry, model, ground.world, step, steps_);
      warn_of_overlap(session, trial, state, dt_);
    }
    contact::ContactSimulation simulation(registry, model, ground.world, step, steps_,
                                          std::move(controllers));
    ContactColumns columns(simulation);
    RunReport report = report_of(*model, steps_.solver, steps_.step);
    const bool whole = move(
        report, simulation, state, nullptr, columns.names, [&] { return columns.values(); }, [] {});
    add_contacts(report, simulation, ground.shapes.meshes);
    return tell(session, report, whole);
  }

  RunReport report_of(const Model& model, const std::string& algorithm,
                      const std::string& integrator) const {
    return {.model = model,
            .algorithm = algorithm,
            .integrator = integrator,
            .dt = dt_,
            .summary = {},
            .least_margin = 0.0,
            .q = {},
            .v = {},
            .output = output_,
            .more = Json::object(),
            .lines = {}};
  }

  /// @param energies  computes those of the table's rows; null: samples have them
  /// @param names     of columns beside those of all motions
  /// @param values    what stands in them now
  /// @param after     is called at the end, also at one by an error
  /// @return whether it went on to the end
  template <class S, class Values, class After>
  bool move(RunReport& report, S& simulation, const State& state, RowEnergies* energies,
            const std::vector<std::string>& names, Values&& values, After&& after) {
    simulation.set_gravity(state.gravity);
    simulation.set_forces(state.inputs.tau);
    simulation.set_wrenches(state.inputs.wrenches);
    simulation.start(state.inputs.q, state.inputs.v);

    std::unique_ptr<MotionTable> table;
    if (output_) table = motion_table(*output_, report.model, names, rows_of_run(), energies);
    RunSummary& summary = report.summary;
    const auto start = std::chrono::steady_clock::now();
    std::exception_ptr stopped;
    try {
      const Interrupt interrupt;
      Progress progress("simulate " + report.model.name());
      simulation.run(
          duration_, dt_, table ? every_ : std::max(every_, quiet_every()),
          [&](const Sample& now) {
            if (table) table->row(now, values());
            summary.take(now);
            progress.show(duration_ > 0.0 ? now.t / duration_ : 1.0);
            return !Interrupt::asked();
          },
          [] { return !Interrupt::asked(); });
    } catch (const OutputError&) {
      throw;  // a file that cannot be written whole does not take its place
    } catch (...) {
      stopped = std::current_exception();
    }
    after();
    if (table) table->close();  // with all rows until here
    if (energies != nullptr) summary.energies = energies->range();
    if (stopped) std::rethrow_exception(stopped);
    summary.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    summary.duration = simulation.time();
    report.least_margin = simulation.least_margin();
    report.q = simulation.q(), report.v = simulation.v();
    return !Interrupt::asked() || !(summary.duration < duration_);
  }

  /// The start, every so many steps, and the end.
  std::size_t rows_of_run() const {
    const long long steps = detail::steps_of_run("simulate", duration_, dt_, every_, true);
    return static_cast<std::size_t>(1 + (steps + every_ - 1) / every_);
  }

  int tell(Session& session, const RunReport& report, bool whole) const {
    print(session, report);
    if (whole) return ok;
    const RunSummary& summary = report.summary;
    std::cerr << fmt::format(
        "espalier: simulate: interrupted at {:g} s of {:g} s{}\n", summary.duration, duration_,
        output_ ? fmt::format("; {} holds {} rows", *output_, summary.samples) : "");
    return interrupted;
  }

  /// Warnings; that other joints are independent for a while is part of the report.
  static void tell_events(Session& session, const Simulation& simulation) {
    int told = 0;
    for (const SimulationEvent& event : simulation.events()) {
      if (event.kind == SimulationEvent::Kind::coordinates) continue;
      if (event.kind == SimulationEvent::Kind::singularity && ++told > 3) continue;
      session.warn(simulation.text(event));
    }
    if (told > 3) session.warn(fmt::format("the mechanism was singular {} times in all", told));
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
};

const Registered<Simulate> registered_simulate{{"simulate", "simulate a robot over time", 12}};

}  // namespace

}  // namespace espalier::cli
