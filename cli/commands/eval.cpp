#include <spdlog/fmt/fmt.h>
#include <algorithm>
#include <limits>

#include "cli/command.hpp"
#include "cli/files/design_families.hpp"
#include "cli/files/state.hpp"
#include "cli/files/subsystems.hpp"
#include "cli/number_options.hpp"
#include "cli/output/results.hpp"
#include "espalier/kernel/model/motion/passive.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

namespace espalier::cli {

namespace {

/// Solves the problems of one algorithm at one state.
class Eval final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.add_option("--algorithm", algorithm_,
                   "name of the algorithm (see 'list algorithms'); default: the best for --problem "
                   "that can handle the model")
        ->type_name("NAME");
    app.add_option(
           "--problem", problem_,
           "problem to solve; default: all that --algorithm solves, or forward-dynamics without "
           "--algorithm")
        ->type_name("NAME");
    auto* state =
        app.add_option("--state", state_, "state file; '-': standard input")->type_name("FILE");
    add_seed(app, "--random", seed_,
             "random state with this seed; the JSON output has it as \"state\"")
        ->excludes(state);
    end_effectors_.add_to(app,
                          "default: those of the state, or of a random one all links that "
                          "move and carry no other");
    design_.add_to(app);
    app.add_flag("--group-by-name", group_by_name_,
                 "joints with the same name up to the first dot are one of Bremer's subsystems; "
                 "default: the groups of the state file, and single clusters for the rest");
    app.add_flag(
        "--passive", passive_,
        "damping, friction and springs of the joints act: they are added to the given tau, "
        "and a computed tau or bias overcomes them");
    app.footer(R"(
State file (JSON, SI units; every part is optional):
  {"q":    {joint: number or list},      neutral if left out; quaternions x y z w, normalised
                                         if off by at most 1e-3; a floating joint has
                                         [x y z, qx qy qz qw]
   "v":    {joint: number or list},      rates; floating: angular first, body frame
   "tau":  {joint: number or list},      forces, for forward dynamics
   "vdot": {joint: number or list},      accelerations, for inverse dynamics and kinematics
   "gravity": [x, y, z],                 default: the model's
   "external_wrenches": {link: [nx, ny, nz, fx, fy, fz]},   moment first, link frame
   "end_effectors": [{"link": name, "rows": "6d" | "3d" | [[6 numbers], ...],
                      "offset": [x, y, z], "axes": "link" | "world", "acceleration": [...]}],
   "inputs": [{"joint": name} | {"link": name, "rows": ..., "offset": ..., "axes": ...}, ...],
   "groups": {subsystem: [joints]}}      for bremer, bremer-on and minimal-form
Dependent joints need no q (a given one must fit to 1e-6) and have no v, tau and vdot. Rows of
matrices are in the order of "coordinates". Placements of links are position and quaternion in the
world; velocity and spatial acceleration are angular first, in the link frame.

End-effectors are for inverse-osim, operational-space and constrained-dynamics, whose matrices have
their rows in this order. A row is six numbers, angular first, that multiply the twist of a point of
the link; the point is "offset" [m] from the link's origin (default: 0), in link axes. "6d" is the
whole twist, "3d" the velocity of the point. "axes" are the axes of the rows: those of the link
(default for "6d" and for numbers; rates are components of the spatial acceleration) or of the world
(default for "3d"; rates are those of the angular velocity and of the point's velocity).
"acceleration" is the wanted acceleration of the rows, for constrained-dynamics (default: 0).
Without end-effectors, an algorithm for several problems solves those that need none. If two problems
have a result of the same name, the second one is named problem:name.

Inputs are for input-matrix: motors on any joints, dependent ones too, and contacts, whose wrenches
have rows like those of end-effectors. Each may have a "name". Its columns are called name, or
name[k] for a joint with several rates and for the rows of a contact, in the order of "inputs".
Without inputs, an algorithm for several problems solves those that need none. A random state has a
motor on every independent joint that is not free, and a contact (3d) on every moving link that
carries no other.

Groups say which bodies form one subsystem of Bremer's method, by the joints that carry them. They
are whole clusters that are connected. bremer computes the matrices of each subsystem,
  y = T y_parent + F rates, dy/dt = T dy_parent/dt + F d(rates)/dt + c, M dy/dt + h - B u,
where y is the twist of the link that carries it (angular first, link frame) and its own rates.

Examples:
  espalier eval arm.urdf --algorithm aba --state state.json --json
  espalier eval arm.urdf --algorithm dense --problem inverse-osim --end-effector hand:3d
  espalier eval walker.yaml --algorithm bremer --group-by-name --json
  espalier eval arm.urdf --algorithm rnea --random 1
  espalier eval arm.urdf --problem mass-matrix)");
  }

  int run(Session& session) override {
    const Registry& registry = session.host().registry();
    // A wrong name is told before a model is read.
    std::vector<const Entry*> entries;
    if (!algorithm_.empty()) entries = select_algorithm(registry, algorithm_, problem_);
    if (problem_.empty()) problem_ = ForwardDynamics<double>::problem;
    if (algorithm_.empty()) expect_problem(registry, problem_);
    const ModelPtr model = model_.load(session);
    if (algorithm_.empty()) {
      entries = {&best_algorithm(registry, problem_, *model)};
      algorithm_ = entries[0]->about.name;
    }
    State state = state_  ? read_state(model, *state_)
                  : seed_ ? random_state(model, *seed_, end_effectors_.read(*model))
                          : neutral_state(model);
    const auto uses_them = [](const Entry* e) { return e->needs_end_effectors; };
    if (end_effectors_.given() && std::none_of(entries.begin(), entries.end(), uses_them)) {
      throw usage_error("eval: --end-effector is given, expected none for problem " +
                        entries[0]->problem +
                        " (its result is of all links; end-effectors are for inverse-osim, "
                        "operational-space and constrained-dynamics)");
    }
    if (!seed_ && end_effectors_.given()) state.replace(end_effectors_.read(*model));
    const Entry& first = *entries[0];
    if (state.end_effectors.empty() && !first.needs_end_effectors) {
      std::erase_if(entries, [](const Entry* e) { return e->needs_end_effectors; });
    }
    if (state.actuation.empty() && !first.needs_inputs) {
      std::erase_if(entries, [](const Entry* e) { return e->needs_inputs; });
    }
    if (!first.needs_sensors) {
      std::erase_if(entries, [](const Entry* e) { return e->needs_sensors; });
    }
    if (group_by_name_) state.groups = groups_by_name(*model);
    const Setup setup{model, state.end_effectors, state.actuation, state.groups,
                      forward_sensors(*model)};
    Results results;
    for (const Entry* entry : entries) {
      Results answer = solve(session, *entry, setup, state);
      for (Result& r : answer) {
        const auto same = [&](const Result& other) { return other.name == r.name; };
        if (std::any_of(results.begin(), results.end(), same))
          r.name = entry->problem + ":" + r.name;
      }
      results.insert(results.end(), answer.begin(), answer.end());
    }
    warn_of_idle_options(session, entries, setup);

    const Vec3<double>& g = state.gravity;
    if (session.json) {
      Json out{
          {"model", model->name()}, {"algorithm", algorithm_}, {"problem", entries[0]->problem}};
      for (const Entry* entry : entries) out["problems"].push_back(entry->problem);
      out["gravity"] = {g.x, g.y, g.z};
      out["coordinates"] = Json::array();
      for (const Coordinate& c : model->coordinates()) {
        out["coordinates"].push_back({{"joint", c.joint}, {"start", c.start}, {"size", c.size}});
      }
      if (std::any_of(entries.begin(), entries.end(), [](auto* e) { return e->needs_inputs; })) {
        out["inputs"] = InputColumns(*model, setup.inputs).names();
      }
      if (!subsystems_.empty()) {
        out["subsystems"] = subsystems_;
      } else {
        add_results(*model, results, out);
      }
      if (seed_) out["state"] = to_json(*model, state);
      session.print(out);
    } else {
      std::string problems;
      for (const Entry* entry : entries)
        problems += (problems.empty() ? "" : ", ") + entry->problem;
      std::string passive;  // simulations have them unless told
      if (forces_matter_ && PassiveForces(model).any()) {
        passive = passive_ ? ", with damping, friction and springs of the joints"
                           : ", without damping, friction and springs of the joints (--passive)";
      }
      session.print(fmt::format("{}: {} by {}, gravity {:g} {:g} {:g}{}\n\n{}{}", model->name(),
                                problems, algorithm_, g.x, g.y, g.z, passive, subsystem_table_,
                                describe(setup, results)));
    }
    return ok;
  }

  /// Options that have no effect on what these compute.
  void warn_of_idle_options(Session& session, const std::vector<const Entry*>& entries,
                            const Setup& setup) const {
    const auto warn = [&](const char* option, const std::string& expected) {
      session.warn(
          fmt::format("eval: {} is given for problem {} by {}, expected {} (it has no effect here)",
                      option, entries[0]->problem, entries[0]->about.name, expected));
    };
    const auto none = [&](const auto& uses) {
      return std::none_of(entries.begin(), entries.end(), uses);
    };
    const Registry& registry = session.host().registry();
    if (group_by_name_ && none([&](auto* e) { return reads_groups(registry, *e, setup); })) {
      warn("--group-by-name", "it with the algorithms bremer, bremer-on and minimal-form only");
    }
    if (passive_ && !forces_matter_) {
      warn("--passive", "it for problems of forces, as forward-dynamics and inverse-dynamics");
    }
    if (design_.given() && none([](const Entry* e) { return DesignOption::is_for(e->problem); })) {
      warn("--design", "it for problem design-variation only");
    }
  }

  /// Who reads groups refuses one of joints that are none.
  static bool reads_groups(const Registry& registry, const Entry& entry, Setup setup) {
    setup.groups = {{"unknown", {"\n"}}};
    try {
      registry.create(entry, setup);
    } catch (const Error&) {
      return true;
    }
    return false;
  }

  /// Whether forces of the joints change results: NaN in these is NaN in those.
  static bool depend_on_forces(const Results& results, Algorithm& algorithm, Inputs inputs) {
    std::fill(inputs.tau.begin(), inputs.tau.end(), std::numeric_limits<double>::quiet_NaN());
    Results others;
    try {
      algorithm.solve(inputs, others);
    } catch (const Error&) {
      return true;
    }
    return !std::equal(results.begin(), results.end(), others.begin(), others.end(),
                       [](const Result& a, const Result& b) { return a.values == b.values; });
  }

  Results solve(Session& session, const Entry& entry, const Setup& setup, const State& state) {
    const ModelPtr& model = setup.model;
    const std::unique_ptr<Algorithm> algorithm = session.host().registry().create(entry, setup);
    design_.add_families(session, model_, *algorithm);
    algorithm->set_gravity(state.gravity);
    Inputs inputs = state.inputs;
    std::vector<double> passive(model->nv(), 0.0);
    if (passive_) passive_forces(model, inputs.q.data(), inputs.v.data(), passive.data());
    for (int i = 0; i < model->nv(); ++i) inputs.tau[i] += passive[i];
    Results results;
    algorithm->solve(inputs, results);
    for (Result& r : results) {  // forces that drive the robot overcome the passive ones
      if (r.name != "tau" && r.name != "bias") continue;
      forces_matter_ = true;
      for (int i = 0; i < model->nv(); ++i) r.values[i] -= passive[i];
    }
    // Solved once more only where the answer is told of.
    if (!forces_matter_ && (passive_ || PassiveForces(model).any())) {
      forces_matter_ = depend_on_forces(results, *algorithm, inputs);
    }
    expect_finite(entry.about.name, setup, results);
    if (const auto* m = dynamic_cast<const SubsystemMatrices<double>*>(algorithm.get())) {
      subsystems_ = to_json(*m);
      subsystem_table_ = describe(*m) + "\n";
    }
    return results;
  }

  ModelArguments model_;
  std::string algorithm_, problem_;
  std::optional<std::string> state_;
  std::optional<unsigned long long> seed_;
  EndEffectorOption end_effectors_;
  DesignOption design_;
  bool passive_ = false, group_by_name_ = false;
  bool forces_matter_ = false;  ///< to one of the results
  Json subsystems_;             ///< of the problem subsystem-matrices
  std::string subsystem_table_;
};

const Registered<Eval> registered_eval{
    {"eval", "solve a problem (forward dynamics, mass matrix, ...) at one state", 10}};

}  // namespace

}  // namespace espalier::cli
