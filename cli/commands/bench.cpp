#include <spdlog/fmt/fmt.h>

#include "cli/command.hpp"
#include "cli/files/state.hpp"
#include "cli/number_options.hpp"
#include "cli/output/table.hpp"
#include "cli/timing.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

namespace espalier::cli {

namespace {

/// Times single calls and batches.
class Bench final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.add_option("--algorithm", algorithms_,
                   "algorithm to time; may be repeated; default: all that can run on the model")
        ->type_name("NAME")
        ->allow_extra_args(false);
    app.add_option("--problem", problem_,
                   "problem to time; default: the first one of each --algorithm, or all")
        ->type_name("NAME");
    app.add_option("--batch", batch_, "compute N states together; times are per state")
        ->type_name("N")
        ->check(CLI::Range(1, 1 << 24));
    app.add_option("--threads", threads_, "threads of a batch; default: one per core")
        ->type_name("K")
        ->check(CLI::Range(1, 1024));
    app.add_option("--precision", precision_,
                   "numbers of a batch: 'double', eight states at a time, or 'float', sixteen")
        ->check(CLI::IsMember({"double", "float"}));
    app.add_flag("--singles", singles_,
                 "compute up to three states that fill no pack by single calls (x86-64-v4: two)");
    app.add_option("--repeats", timing_.repeats, "number of runs; each gives one time per call")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    app.add_option("--time", timing_.seconds, "seconds for all runs of an algorithm")
        ->check(CLI::Range(1e-3, 3600.0))
        ->capture_default_str();
    app.add_option("--states", states_, "number of random states that the calls cycle through")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    add_seed(app, "--seed", seed_, "seed of the random states");
    end_effectors_.add_to(app, "default: all links that move and carry no other");
    app.footer(R"(
Single calls are Algorithm::solve() at one state, about 10 ns more than evaluate(), in processor
time of the thread. With --batch, calls are Batch::evaluate() with all results and status; the
default is then every algorithm with packs. Batches on several threads are timed by the clock.
Spread is the distance between the quartiles of the runs. Allocations are all heap blocks that the
calling thread takes during a call, by whatever library. With --precision float, 'error' and 'worst'
are the median and the maximum over the states of |difference from doubles| / |result|, for each
vector or matrix as a whole. For input-matrix, the inputs are those of a random state of 'eval'.

Examples: espalier bench humanoid.urdf --root floating --algorithm aba --algorithm rnea
          espalier bench humanoid.urdf --root floating --algorithm aba --batch 4096 --threads 2
          espalier bench humanoid.urdf --batch 4096 --precision float --states 4096)");
  }

  int run(Session& session) override {
    expect_batch_for("--threads", threads_ > 0, "a single call has one thread");
    expect_batch_for("--precision", !precision_.empty(), "a single call is of doubles");
    expect_batch_for("--singles", singles_, "all calls are single ones");
    const Registry& registry = session.host().registry();
    if (!problem_.empty()) expect_problem(registry, problem_);
    std::vector<const Entry*> entries;
    for (const std::string& name : algorithms_) {
      entries.push_back(select_algorithm(registry, name, problem_).front());
    }
    const ModelPtr model = model_.load(session);
    if (algorithms_.empty()) entries = all_that_can(registry, *model);

    const Setup setup{
        model, end_effectors_.read(*model), default_inputs(*model), {}, forward_sensors(*model)};
    std::vector<State> states;
    for (int k = 0; k < states_; ++k) {
      states.push_back(
          random_state(model, seed_ + static_cast<unsigned long long>(k), setup.end_effectors));
    }
    std::vector<Row> rows;
    for (const Entry* e : entries) {
      try {
        rows.push_back(time(registry, *e, setup, states));
      } catch (const Unsupported&) {  // it cannot take one of the end-effectors
        if (!algorithms_.empty()) throw;
      }
    }
    session.json ? print_json(session, *model, rows) : print_table(session, *model, rows);
    return ok;
  }

  /// An algorithm's time, and how far its floats are from doubles.
  struct Row {
    const Entry* entry = nullptr;
    Timing timing;
    int threads = 1;
    BatchError error;
  };

  bool floats() const { return precision_ == "float"; }

  void expect_batch_for(const std::string& option, bool given, const std::string& why) const {
    if (!given || batch_ > 0) return;
    throw usage_error("bench: " + option + " is given without --batch, expected both (" + why +
                      ")");
  }

  /// In the order of problems.
  std::vector<const Entry*> all_that_can(const Registry& registry, const Model& model) const {
    const int scalar = floats() ? ScalarTraits<FloatPack>::index : ScalarTraits<Pack>::index;
    std::vector<const Entry*> entries;
    for (const Entry* e : registry.algorithms(problem_)) {
      if (batch_ > 0 && !e->algorithm[scalar]) continue;
      if (registry.can(*e, model).ok) entries.push_back(e);
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry* a, const Entry* b) { return a->problem < b->problem; });
    return entries;
  }

  Row time(const Registry& registry, const Entry& e, const Setup& setup,
           const std::vector<State>& states) const {
    Row row{&e, {}, 1, {}};
    if (batch_ == 0) {
      row.timing = time_calls(*registry.create(e, setup), states, timing_);
      return row;
    }
    BatchOptions options{.threads = threads_};
    if (floats()) options.precision = Precision::floats;
    if (singles_) options.remainder = Remainder::single_calls;
    Batch batch(registry, e, setup, options);
    row.threads = batch.threads();
    if (floats()) {
      Batch exact(registry, e, setup, {.threads = threads_});
      row.error = error_of(batch, exact, states);
    }
    row.timing = time_batch(batch, batch_, states, timing_);
    return row;
  }

  void print_json(Session& session, const Model& model, const std::vector<Row>& rows) const {
    const std::string unit = batch_ > 0 ? "ns_per_state_" : "ns_per_call_";
    Json list = Json::array();
    for (const Row& row : rows) {
      const Timing& t = row.timing;
      Json item{{"algorithm", row.entry->about.name}, {"problem", row.entry->problem},
                {unit + "median", t.median_ns},       {unit + "best", t.best_ns},
                {unit + "spread", t.spread_ns},       {"allocations_per_call", nullptr}};
      if (t.allocations) item["allocations_per_call"] = *t.allocations;
      if (floats()) {
        item["relative_error_median"] = row.error.median;
        item["relative_error_worst"] = row.error.worst;
      }
      list.push_back(std::move(item));
    }
    Json all{{"model", model.name()},
             {"bodies", model.body_count()},
             {"nv", model.nv()},
             {"repeats", timing_.repeats}};
    if (batch_ > 0) {
      all["batch"] = batch_, all["threads"] = threads_of(rows);
      all["precision"] = to_string(floats() ? Precision::floats : Precision::doubles);
    }
    all["noise"] = noise(rows);
    all["results"] = std::move(list);
    session.print(all);
  }

  void print_table(Session& session, const Model& model, const std::vector<Row>& rows) const {
    std::vector<std::string> columns{
        "algorithm", "problem", batch_ > 0 ? "median ns/state" : "median ns",
        "best",      "spread",  "allocations"};
    if (floats()) columns.insert(columns.end(), {"error", "worst"});
    Table table(columns);
    for (const Row& row : rows) {
      const Timing& t = row.timing;
      std::vector<std::string> cells{row.entry->about.name,
                                     row.entry->problem,
                                     fmt::format("{:.1f}", t.median_ns),
                                     fmt::format("{:.1f}", t.best_ns),
                                     fmt::format("{:.1f}", t.spread_ns),
                                     t.allocations ? number(*t.allocations) : "-"};
      if (floats()) {
        for (const double x : {row.error.median, row.error.worst}) {
          cells.push_back(fmt::format("{:.1e}", x));
        }
      }
      table.row(cells);
    }
    const int threads = threads_of(rows);
    const std::string how =
        batch_ == 0 ? std::string("one call at a time")
                    : fmt::format("{} states at a time on {} thread{}{}", batch_, threads,
                                  threads == 1 ? "" : "s", floats() ? ", floats" : "");
    session.print(fmt::format("{}: {}, {}\n\n{}", model.name(),
                              size_of(model.body_count(), model.nv()), how,
                              table.text(Table::screen)));
    if (noise(rows) > 1.2) {
      session.print(
          fmt::format("The machine is noisy: a median is {:.1f} times the best time. "
                      "Compare the best ones, or run again when it is quiet.",
                      noise(rows)));
    }
  }

  static int threads_of(const std::vector<Row>& rows) {
    return rows.empty() ? 1 : rows.back().threads;
  }

  /// Largest median over best time.
  static double noise(const std::vector<Row>& rows) {
    double worst = 1.0;
    for (const Row& row : rows) {
      worst = std::max(worst, row.timing.median_ns / row.timing.best_ns);
    }
    return worst;
  }

  ModelArguments model_;
  std::vector<std::string> algorithms_;
  std::string problem_;
  TimingOptions timing_;
  int batch_ = 0, threads_ = 0;
  std::string precision_;
  bool singles_ = false;
  int states_ = 16;
  unsigned long long seed_ = 1;
  EndEffectorOption end_effectors_;
};

const Registered<Bench> registered_bench{
    {"bench", "time algorithms: single calls, or batches", 16}};

}  // namespace

}  // namespace espalier::cli
