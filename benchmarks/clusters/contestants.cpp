#include "benchmarks/clusters/contestants.hpp"

#include <functional>
#include <memory>
#include <utility>

#include "benchmarks/batches.hpp"
#include "espalier/kernel/format.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/problems/dynamics/mass_matrix.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"
#include "espalier/kernel/uniform.hpp"

namespace espalier::bench {

namespace {

/// Of the largest entry; the condition of the dense systems is some 1e4.
constexpr double exact_agreement = 1e-10;
constexpr const char* oracle = "an oracle: its results are compared";
/// How far joints move before a loop is closed again [rad or m]: ten steps of a simulation.
constexpr double step = 0.01;

/// One of our algorithms, by what it does at a state.
class Call final : public Contestant {
 public:
  using Run = std::function<void(const RandomState&, std::vector<double>&)>;
  Call(const LoopRobot& robot, Work what, const std::string& name, std::size_t size, Run run,
       std::string why_not_timed = "")
      : Contestant(what, "Espalier", name, exact_agreement),
        robot_(robot),
        run_(std::move(run)),
        why_not_timed_(std::move(why_not_timed)),
        out_(size) {}
  void call(int k) override { run_(robot_.states[k], out_); }
  std::vector<double> result(int /*k*/) override { return out_; }
  std::string not_timed() const override { return why_not_timed_; }

 private:
  const LoopRobot& robot_;
  Run run_;
  std::string why_not_timed_;
  std::vector<double> out_;
};

/// A contestant of algorithm P; `evaluate(algorithm, state, out)` is its call.
template <class P, class Evaluate>
void add(const Host& host, const LoopRobot& robot, Work work, const std::string& name,
         std::size_t size, Evaluate evaluate, Contestants& all, const Setup& setup,
         const std::string& why_not_timed = "") {
  const std::shared_ptr<P> algorithm = host.create<P>(name, setup);
  all.push_back(std::make_unique<Call>(
      robot, work, name, size,
      [=](const RandomState& s, std::vector<double>& out) { evaluate(*algorithm, s, out); },
      why_not_timed));
}

void expect_closed(const Closure& closure, const LoopRobot& robot, const char* call) {
  if (closure.verdict == Closure::Verdict::closed) return;
  throw InvalidModel(robot.name + ": " + call + ": " + closure.text());
}

/// A position between two to which the independent joints can go: the second one, or half of the
/// way to it, or a quarter ... Where these joints pass a fold on their way, nothing closes beyond.
std::vector<double> within_reach(const Model& model, const std::vector<double>& from,
                                 std::vector<double> to) {
  std::vector<double> way(model.spanning_nv());
  model.difference(from.data(), to.data(), way.data());
  for (int attempt = 0; attempt < 8; ++attempt) {
    std::vector<double> q = to;
    if (close(model, from.data(), q.data()).verdict == Closure::Verdict::closed) break;
    for (double& x : way) x *= 0.5;
    model.integrate(from.data(), way.data(), to.data());
  }
  return to;
}

}  // namespace

Contestants cluster_contestants(const Host& host, const LoopRobot& robot) {
  Contestants all;
  const Setup setup{robot.model};
  const std::size_t nv = robot.model->nv();
  for (const char* name : {"c-aba", "kkt", "projection"}) {
    add<ForwardDynamics<double>>(
        host, robot, Work::forward, name, nv,
        [](auto& way, const RandomState& s, auto& out) { way.evaluate(s.q, s.v, s.tau, out); }, all,
        setup, name == std::string("kkt") ? oracle : "");
  }
  add_batch(host, robot.model, robot.states, Work::forward, "c-aba", batch_kinds().front(),
            cluster_batch, all);
  for (const char* name : {"c-rnea", "projected-rnea"}) {
    add<InverseDynamics<double>>(
        host, robot, Work::inverse, name, nv,
        [](auto& way, const RandomState& s, auto& out) { way.evaluate(s.q, s.v, s.vdot, out); },
        all, setup);
  }
  for (const char* name : {"c-crba", "dense"}) {
    add<MassMatrix<double>>(
        host, robot, Work::mass_matrix, name, nv * nv,
        [](auto& way, const RandomState& s, auto& out) { way.evaluate(s.q, out); }, all, setup,
        name == std::string("dense") ? oracle : "");
  }
  const Setup held{robot.model, {EndEffector::weld(robot.model->links().back().name)}};
  for (const char* name : {"c-pv-osimr", "projected-efpa"}) {
    add<InverseOsim<double>>(
        host, robot, Work::inverse_osim, name, 36,
        [](auto& way, const RandomState& s, auto& out) { way.evaluate(s.q, out); }, all, held);
  }
  return all;
}

void add_calls_for_positions(const Host& host, const Mechanism& mechanism, const LoopRobot& robot,
                             Contest& contest) {
  const auto enter = [&](const char* name, const std::function<void(int)>& run, int checked) {
    Row row;
    row.robot = robot.name, row.bodies = robot.model->body_count(), row.nv = robot.model->nv();
    row.work = name, row.library = "Espalier", row.algorithm = name;
    try {
      for (int k = 0; k < checked; ++k) run(k);
    } catch (const InvalidModel&) {
      return contest.add(robot, {}, {{name, "some of its positions do not close"}});
    }
    contest.add(row, [run, k = 0]() mutable {
      run(k);
      k = (k + 1) % state_count;
    });
  };
  const Model& model = *robot.model;
  if (model.has_variable_constraints()) {
    // At each state a second position: independent joints a step on, and all joints somewhat off.
    UniformNumbers uniform(5);
    const auto moved = [&](const std::vector<double>& q, bool all) {
      std::vector<double> by(model.spanning_nv()), out(q.size());
      for (int i = 0; all && i < model.spanning_nv(); ++i) by[i] = step * uniform();
      for (const int i : model.independent_rates()) by[i] = step * uniform();
      model.integrate(q.data(), by.data(), out.data());
      return out;
    };
    using Positions = std::vector<std::vector<double>>;
    const auto on = std::make_shared<Positions>(), off = std::make_shared<Positions>();
    for (const RandomState& s : robot.states) {
      on->push_back(within_reach(model, s.q, moved(s.q, false)));
      off->push_back(moved(s.q, true));
    }
    enter(
        call_close,
        [&robot, on, q = std::vector<double>()](int k) mutable {
          q = (*on)[k];
          expect_closed(close(*robot.model, robot.states[k].q.data(), q.data()), robot, call_close);
        },
        state_count);
    enter(
        call_assemble,
        [&robot, off, q = std::vector<double>()](int k) mutable {
          q = (*off)[k];
          expect_closed(assemble(*robot.model, q.data()), robot, call_assemble);
        },
        state_count);
  }
  const Description* description = &mechanism.description;
  enter(
      call_compile, [&host, description](int /*k*/) { host.compile(*description); }, 1);
  const std::string file = "mechanism.yaml";
  const Format& format = host.registry().format_for(file);
  const std::string text = format.write(*description);
  enter(
      call_load,
      [&host, &format, file, text](int /*k*/) {
        host.compile(format.read(text, file, host.registry()));
      },
      1);
}

}  // namespace espalier::bench
