#include <spdlog/fmt/fmt.h>
#include <cmath>

#include "cli/command.hpp"
#include "cli/files/sensors.hpp"
#include "cli/files/state.hpp"
#include "cli/number_options.hpp"
#include "cli/output/results.hpp"
#include "cli/output/table.hpp"
#include "espalier/sensing/sensor_dynamics.hpp"
#include "espalier/sensing/sensor_verdict.hpp"

namespace espalier::cli {

namespace {

Json to_json(const SensorVerdict& verdict) {
  Json out{{"kind", to_string(verdict.kind)},
           {"unknowns", verdict.unknowns},
           {"equations", verdict.equations},
           {"structural_rank", verdict.structural_rank},
           {"rank", verdict.rank},
           {"redundancy", verdict.redundancy},
           {"margin", verdict.margin}};
  for (const SensorVerdict::Combination& c : verdict.unseen) out["unseen"].push_back(c.text);
  if (!verdict.undetermined.empty()) out["undetermined"] = verdict.undetermined;
  if (!verdict.places.empty()) out["singular_at"] = verdict.places;
  for (const Sensor& cure : verdict.cures) out["cures"].push_back(sensor_json(cure));
  return out;
}

/// Judges a set of sensors and finds everything that they do not measure.
class Sense final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.add_option("--sensors", sensors_, "sensor file; '-': standard input")
        ->required()
        ->type_name("FILE");
    auto* state = app.add_option("--state", state_,
                                 "state file, as for 'eval': q, v, gravity and "
                                 "known external wrenches; default: neutral")
                      ->type_name("FILE");
    add_seed(app, "--random", seed_,
             "random state of this seed, and values of the sensors of a random motion there: "
             "the answer is compared with the truth")
        ->excludes(state);
    app.add_option("--algorithm", algorithm_,
                   "default: sparse-lu if there are as many equations as unknowns, else map")
        ->type_name("NAME");
    app.add_flag("--verdict", verdict_only_, "only say what the sensors determine");
    app.add_flag("--variances", variances_, "print the variances of all results (map and dense)");
    app.add_option("--save", save_, "write the symbolic analysis of sparse-lu to this file")
        ->type_name("FILE");
    app.add_option("--symbolic", symbolic_, "read it from this file instead of repeating it")
        ->type_name("FILE");
    app.footer(R"(
Sensor file (JSON, SI units):
  {"sensors": [{"kind": KIND, "joint": name or "name[k]", "link": name, "name": of the sensor,
                "xyz": [3], "rpy": [3],            frame of the sensor in its link
                "rows": ["fz", "mx"] or [[6 numbers], ...],   components, sensor axes; default: all
                "covariance": number, list or matrix,   of the noise; 0: exact; default: 1
                "value": number or list}, ...]}    measured; for all sensors or for none
Kinds: acceleration and torque (of a joint's rates and motor), wrench (external, on a link),
joint-wrench (what a joint transmits), accelerometer (proper acceleration of a point), angular-
acceleration, and gyroscope (replaces the angular velocity of the floating base). Two kinds measure
nothing: motor (an unknown torque drives this joint) and contact (an unknown wrench acts on this
link). On links without wrench or contact no external wrench acts. Joints with independent rates
that are not free have motors.

The verdict comes first: whether the sensors determine the dynamics at almost every position, at
none, or at all but some; what no sensor sees; and which single sensor would help. Exit code 1 if
the dynamics are determined nowhere. With values, the results follow, with the residual and
chi_square, which is about as large as the redundancy if the sensors agree. Vectors are in the axes
of a link, about its origin: body_acceleration and external_wrench of the link that they name,
joint_wrench on the joint's child (as a joint-wrench sensor without link and frame reads it).
loop_wrench is in the frame of the loop on its successor.

Examples:
  espalier sense walker.yaml --root floating --sensors feet.json --verdict
  espalier sense arm.urdf --sensors sensors.json --state state.json --json)");
  }

  int run(Session& session) override {
    const ModelPtr model = model_.load(session);
    const SensorFile file = read_sensors(sensors_, *model);
    const State state = state_  ? read_state(model, *state_)  // refused even if nothing is solved
                        : seed_ ? random_state(model, *seed_, {})
                                : neutral_state(model);
    const SensorVerdict verdict = judge(*model, file.sensors);
    Json out{{"model", model->name()}, {"verdict", to_json(verdict)}};
    std::string text = model->name() + ": " + verdict.text();
    if (!text.ends_with('\n')) text += '\n';
    const bool compute = !verdict_only_ && verdict.well_posed() && (seed_ || file.measured());
    if (compute) {
      text += '\n';
      solve(session, model, file, state, verdict, out, text);
    }
    session.json ? session.print(out) : session.print(text);
    return verdict.well_posed() ? ok : unusable;
  }

  void solve(Session& session, const ModelPtr& model, const SensorFile& file, State state,
             const SensorVerdict& verdict, Json& out, std::string& text) {
    if (algorithm_.empty()) {
      algorithm_ = verdict.equations == verdict.unknowns && !variances_ ? "sparse-lu" : "map";
    }
    Setup setup{model};
    setup.sensors = file.sensors;
    if (symbolic_) setup.symbolic = text_file(*symbolic_);
    const auto algorithm = session.host().create<SensorDynamics<double>>(algorithm_, setup);
    if (variances_) algorithm->set_variances(true);
    algorithm->set_gravity(state.gravity);
    std::unique_ptr<SensorDynamics<double>> truth;
    if (seed_) {
      truth = simulate(session.host(), setup, state);
      SensorSystem system(*model, file.sensors);
      state.inputs.measurements =
          simulated_measurements(system, *truth, state.inputs.q, state.inputs.v);
    } else {
      state.inputs.measurements = file.measurements(*model);
    }
    Results results;
    algorithm->solve(state.inputs, results);
    expect_finite(algorithm_, setup, results);
    if (save_) {
      if (algorithm->symbolic().empty()) {
        throw usage_error("--save: algorithm '" + algorithm_ +
                          "' finds nothing out off-line, expected 'sparse-lu'");
      }
      write_file(*save_, algorithm->symbolic());
    }
    out["algorithm"] = algorithm_;
    add_results(*model, results, out);
    if (seed_) out["state"] = to_json(*model, state);
    text += fmt::format("by {}\n\n{}", algorithm_, describe(setup, results));
    if (!truth) return;
    const double error = difference(*algorithm, *truth);
    out["difference_from_truth"] = error;
    text += fmt::format("\nlargest difference from the motion that was measured: {:.3g}\n", error);
  }

  /// A random motion: torques of all joints, and a wrench on every link that sensors take for
  /// touched.
  std::unique_ptr<SensorDynamics<double>> simulate(const Host& host, const Setup& measured,
                                                   State& state) const {
    Setup setup{measured.model};
    setup.sensors = forward_sensors(*measured.model);
    SensorSystem system(*measured.model, measured.sensors);
    for (const SensorSystem::Contact& contact : system.contacts()) {
      Sensor wrench;
      wrench.kind = Sensor::Kind::wrench, wrench.link = contact.link;
      setup.sensors.push_back(wrench);
    }
    auto truth = host.create<SensorDynamics<double>>("dense", setup);
    truth->set_gravity(state.gravity);
    std::vector<double> y = truth->system().measurements_of(state.inputs.tau, {nullptr, 0});
    for (std::size_t k = y.size() - 6 * system.contacts().size(); k < y.size(); ++k) {
      y[k] = std::sin(static_cast<double>(7 * k + *seed_));  // any numbers in [-1, 1]
    }
    truth->evaluate(state.inputs.q, state.inputs.v, y);
    return truth;
  }
  static double difference(const SensorDynamics<double>& got, const SensorDynamics<double>& truth) {
    const auto &a = got.answer(), &b = truth.answer();
    double worst = 0.0, size = 1.0;
    const auto compare = [&](double x, double y) {
      if (!(std::abs(x - y) <= worst)) worst = std::abs(x - y);
      size = std::max(size, std::abs(y));
    };
    for (std::size_t i = 0; i < a.vdot.size(); ++i) compare(a.vdot[i], b.vdot[i]);
    for (std::size_t i = 0; i < a.tau.size(); ++i) compare(a.tau[i], b.tau[i]);
    for (std::size_t i = 0; i < a.wrench.size(); ++i) {
      for (int k = 0; k < 6; ++k) compare(a.wrench[i][k], b.wrench[i][k]);
    }
    return worst / size;
  }
  static std::string text_file(const std::string& file) {
    const std::string wanted = "one that --save wrote";
    const std::string text = text_of(file, "file of --symbolic", wanted);
    if (text.empty()) throw usage_error(file + ": file of --symbolic is empty, expected " + wanted);
    return text;
  }

  ModelArguments model_;
  std::string sensors_, algorithm_;
  std::optional<std::string> state_, save_, symbolic_;
  std::optional<unsigned long long> seed_;
  bool verdict_only_ = false, variances_ = false;
};

const Registered<Sense> registered_sense{
    {"sense", "compute accelerations, torques and forces from arbitrary sensors", 17}};

}  // namespace

}  // namespace espalier::cli
