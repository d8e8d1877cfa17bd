#include <spdlog/fmt/fmt.h>

#include "cli/command.hpp"
#include "cli/state.hpp"
#include "cli/table.hpp"
#include "cli/timing.hpp"

namespace espalier::cli {

namespace {

/// Times single calls.
class Bench final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.add_option("--algorithm", algorithms_,
                   "algorithm to time; may be repeated; default: all that can run on the model")
        ->type_name("NAME")
        ->allow_extra_args(false);
    app.add_option("--problem", problem_,
                   "problem to solve; default: the first one of each algorithm given, else all")
        ->type_name("NAME");
    app.add_option("--repeats", timing_.repeats, "batches of calls; each gives one time per call")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    app.add_option("--time", timing_.seconds, "seconds for all batches of one algorithm")
        ->check(CLI::Range(1e-3, 3600.0))
        ->capture_default_str();
    app.add_option("--states", states_, "random states that calls cycle over")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    app.add_option("--seed", seed_, "seed of the random states")->capture_default_str();
    end_effectors_.add_to(app, "default: all links that move and carry no other");
    app.footer(R"(
A call is Algorithm::solve() at one state, which adds about 10 ns to evaluate(). Allocations are all
blocks taken from the heap during a call, by whatever library. Inputs of input-matrix are those of a
random state of 'eval'.

Example: espalier bench humanoid.urdf --root floating --algorithm aba --algorithm rnea)");
  }

  int run(Session& session) override {
    const Registry& registry = session.host().registry();
    if (!problem_.empty()) expect_problem(registry, problem_);
    std::vector<const Entry*> entries;
    for (const std::string& name : algorithms_) {
      entries.push_back(select_algorithm(registry, name, problem_).front());
    }
    const ModelPtr model = model_.load(session);
    if (algorithms_.empty()) {
      for (const Entry* e : registry.algorithms(problem_)) {
        if (registry.can(*e, *model).ok) entries.push_back(e);
      }
      std::stable_sort(entries.begin(), entries.end(),
                       [](const Entry* a, const Entry* b) { return a->problem < b->problem; });
    }
    const Setup setup{model, end_effectors_.read(*model), default_inputs(*model), {},
                      forward_sensors(*model)};
    std::vector<State> states;
    for (int k = 0; k < states_; ++k) {
      states.push_back(
          random_state(model, seed_ + static_cast<unsigned long long>(k), setup.end_effectors));
    }

    Json list = Json::array();
    Table table({"algorithm", "problem", "median ns", "best ns", "allocations"});
    for (const Entry* e : entries) {
      std::unique_ptr<Algorithm> algorithm;
      try {
        algorithm = registry.create(*e, setup);
      } catch (const Unsupported&) {  // it cannot take one of the end-effectors
        if (!algorithms_.empty()) throw;
        continue;
      }
      const Timing t = time_calls(*algorithm, states, timing_);
      Json item{{"algorithm", e->about.name},
                {"problem", e->problem},
                {"ns_per_call_median", t.median_ns},
                {"ns_per_call_best", t.best_ns},
                {"allocations_per_call", nullptr}};
      if (t.allocations) item["allocations_per_call"] = *t.allocations;
      list.push_back(std::move(item));
      table.row({e->about.name, e->problem, fmt::format("{:.1f}", t.median_ns),
                 fmt::format("{:.1f}", t.best_ns), t.allocations ? number(*t.allocations) : "-"});
    }
    if (session.json) {
      session.print(Json{{"model", model->name()},
                         {"bodies", model->body_count()},
                         {"nv", model->nv()},
                         {"repeats", timing_.repeats},
                         {"results", std::move(list)}});
    } else {
      session.print(fmt::format("{}: {} bodies, {} degrees of freedom, one call at a time\n\n{}",
                                model->name(), model->body_count(), model->nv(), table.text()));
    }
    return ok;
  }

  ModelArguments model_;
  std::vector<std::string> algorithms_;
  std::string problem_;
  TimingOptions timing_;
  int states_ = 16;
  unsigned long long seed_ = 1;
  EndEffectorOption end_effectors_;
};

const Registered<Bench> registered{{"bench", "time single calls of algorithms", 16}};

}  // namespace

}  // namespace espalier::cli
