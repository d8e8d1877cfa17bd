#include "benchmarks/sensors/timing.hpp"

#include <klu.h>

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "benchmarks/chain.hpp"
#include "charts/format.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/sensing/sensor_dynamics.hpp"
#include "sensing/solvers/sensor_pivots.hpp"

namespace espalier::bench {

namespace {

using charts::format;
using Clock = std::chrono::steady_clock;
using Numbers = std::vector<double>;

/// SuiteSparse's KLU from the start: analysis, factorisation, solution.
void klu_from_the_start(const SparsePattern& pattern, Numbers values, const Numbers& b,
                        Numbers& x) {
  SparsePattern p = pattern;  // it takes arrays that may be written
  klu_common common;
  klu_defaults(&common);
  klu_symbolic* symbolic =
      klu_analyze(p.size(), p.column_start.data(), p.row_index.data(), &common);
  klu_numeric* numeric =
      klu_factor(p.column_start.data(), p.row_index.data(), values.data(), symbolic, &common);
  x = b;
  klu_solve(symbolic, numeric, p.size(), 1, x.data(), &common);
  klu_free_numeric(&numeric, &common);
  klu_free_symbolic(&symbolic, &common);
}

/// A way to solve one system.
struct Contestant {
  std::string name;
  std::function<void(Numbers& x)> solve;
};

double seconds_of(const std::function<void()>& call, int calls) {
  const auto start = Clock::now();
  for (int k = 0; k < calls; ++k) call();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Times of calls that take turns, so that all see the same machine; the best of the rounds counts,
/// since whatever disturbs one makes it longer. @param seconds  for all together
void time_all(const std::vector<std::function<void()>>& calls, const std::vector<double*>& ns,
              double seconds) {
  constexpr int rounds = 25;
  std::vector<int> counts;
  for (std::size_t c = 0; c < calls.size(); ++c) {
    const double once = std::max(seconds_of(calls[c], 1), 1e-8);
    const double share = seconds / static_cast<double>(rounds * calls.size());
    counts.push_back(std::max(1, static_cast<int>(share / once)));
    *ns[c] = 1e9 * once;
  }
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t c = 0; c < calls.size(); ++c) {
      *ns[c] = std::min(*ns[c], 1e9 * seconds_of(calls[c], counts[c]) / counts[c]);
    }
  }
}

}  // namespace

ChainTimes measure_chain(const Host& host, int bodies, double seconds) {
  const ModelPtr model =
      host.compile(host.registry().format_for("chain.urdf").read(chain_urdf(bodies), "chain.urdf"));
  std::vector<Sensor> sensors = forward_sensors(*model);
  for (int i = 1; i <= bodies; ++i) {
    sensors.push_back({.kind = Sensor::Kind::wrench, .link = model->body_names()[i]});
  }
  SensorSystem system(*model, sensors);
  const SparsePattern pattern = pattern_of(system);
  FixedSolver fixed(pattern, order_for(system, {}));
  Numbers q(model->nq()), v(model->nv(), 0.5), y(system.measurements(), 1.0), vdot(model->nv());
  model->random(1, q.data());
  const auto update = [&] {
    system.update(q.data(), v.data(), y.data(), model->gravity(), nullptr);
  };
  update();
  const Numbers values = system.values(), b = system.right_side();
  const auto aba = host.create<ForwardDynamics<double>>("aba", model);
  const Numbers tau(y.begin(), y.begin() + model->nv());

  ChainTimes out;
  out.bodies = bodies;
  out.unknowns = system.unknowns();
  const auto expect = [](bool solved) {
    if (!solved) throw std::runtime_error("a matrix is singular, expected a regular one");
  };
  std::vector<Contestant> contestants = {
      {"fixed order", [&](Numbers& x) { expect(fixed.solve(values.data(), b.data(), x.data())); }},
      {"KLU", [&](Numbers& x) { klu_from_the_start(pattern, values, b, x); }},
      {"UMFPACK",
       [&](Numbers& x) { expect(UmfpackLu(pattern).solve(values.data(), b.data(), x.data())); }},
      {"Eigen",
       [&](Numbers& x) { expect(EigenLu(pattern).solve(values.data(), b.data(), x.data())); }}};
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(out.unknowns, out.unknowns);
  for (int j = 0; j < out.unknowns; ++j) {
    for (int e = pattern.column_start[j]; e < pattern.column_start[j + 1]; ++e) {
      A(pattern.row_index[e], j) = values[e];
    }
  }
  contestants.push_back({"dense", [&](Numbers& x) {
                           Eigen::Map<Eigen::VectorXd>(x.data(), A.rows()) = A.partialPivLu().solve(
                               Eigen::Map<const Eigen::VectorXd>(b.data(), A.rows()));
                         }});

  std::vector<std::function<void()>> calls{update, [&] { aba->evaluate(q, v, tau, vdot); }};
  std::vector<double*> ns{&out.update_ns, &out.aba_ns};
  Numbers reference(out.unknowns), x(out.unknowns);
  contestants.back().solve(reference);
  double size = 1.0;
  for (const double r : reference) size = std::max(size, std::abs(r));
  for (const Contestant& c : contestants) {
    c.solve(x);
    double difference = 0.0;
    for (int i = 0; i < out.unknowns; ++i) {
      const double d = std::abs(x[i] - reference[i]) / size;
      if (!(d <= difference)) difference = d;  // keeps what is not a number
    }
    if (!(difference < 1e-9)) {
      throw std::runtime_error(
          format("%s differs from a dense solution by %.1e, expected at most 1e-9", c.name.c_str(),
                 difference));
    }
    calls.push_back([&] { c.solve(x); });
    out.solvers.push_back({c.name, 0.0});
  }
  for (ChainTimes::Solver& solver : out.solvers) ns.push_back(&solver.ns);
  time_all(calls, ns, seconds);
  return out;
}

double ChainTimes::fastest_other() const {
  double fastest = solvers[1].ns;
  for (std::size_t k = 1; k + 1 < solvers.size(); ++k) fastest = std::min(fastest, solvers[k].ns);
  return fastest;
}

std::vector<HumanoidTime> measure_humanoid(const Host& host, double seconds) {
  const ModelPtr robot = host.load(ESPALIER_SOURCE_DIR "/robots/jvrc1_geared.yaml",
                                   {.root = CompileOptions::Root::floating});
  std::vector<Sensor> one_cell;
  for (const Coordinate& c : robot->coordinates()) {
    one_cell.push_back({.kind = Sensor::Kind::acceleration, .joint = c.joint});
  }
  one_cell.push_back({.kind = Sensor::Kind::wrench, .link = "left_leg.ankle_pitch.link"});
  std::vector<Sensor> two_cells = one_cell;
  one_cell.push_back({.kind = Sensor::Kind::contact, .link = "right_leg.ankle_pitch.link"});
  two_cells.push_back({.kind = Sensor::Kind::wrench, .link = "right_leg.ankle_pitch.link"});

  State state(robot);
  robot->random(1, state.q().data());
  state.v().assign(robot->nv(), 0.5);
  struct Run {
    std::unique_ptr<SensorDynamics<double>> algorithm;
    Numbers y;
  };
  std::vector<Run> runs;
  std::vector<HumanoidTime> out;
  const auto add = [&](const char* name, const char* what, const std::vector<Sensor>& sensors,
                       bool variances) {
    auto algorithm =
        host.create<SensorDynamics<double>>(name, Setup{.model = robot, .sensors = sensors});
    if (variances) algorithm->set_variances(true);
    const SensorSystem& system = algorithm->system();
    out.push_back({name + std::string(variances ? ", variances of all unknowns" : ""), what,
                   system.rows(), system.unknowns()});
    runs.push_back({std::move(algorithm), Numbers(system.measurements(), 1.0)});
  };
  add("sparse-lu", "one cell", one_cell, false);
  add("umfpack", "one cell", one_cell, false);
  add("eigen-sparse-lu", "one cell", one_cell, false);
  add("dense", "one cell", one_cell, false);
  add("map", "two cells", two_cells, false);
  add("map", "two cells", two_cells, true);
  std::vector<std::function<void()>> calls;
  std::vector<double*> ns;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    calls.push_back([&, k] { runs[k].algorithm->evaluate(state.q(), state.v(), runs[k].y); });
    ns.push_back(&out[k].ns);
  }
  time_all(calls, ns, seconds);
  return out;
}

}  // namespace espalier::bench
