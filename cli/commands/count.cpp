#include <spdlog/fmt/fmt.h>
#include <algorithm>

#include "cli/command.hpp"
#include "cli/files/state.hpp"
#include "cli/number_options.hpp"
#include "cli/output/table.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"
#include "espalier/kernel/scalar/count.hpp"

namespace espalier::cli {

namespace {

/// Folds constants, or not, while it lives.
class Folding {
 public:
  explicit Folding(bool fold) { fold_constants() = fold; }
  ~Folding() { fold_constants() = false; }
  Folding(const Folding&) = delete;
  Folding& operator=(const Folding&) = delete;
};

struct Operation {
  const char* name;
  std::int64_t OperationCounts::*count;
};
constexpr Operation kinds[] = {{"additions", &OperationCounts::additions},
                               {"multiplications", &OperationCounts::multiplications},
                               {"divisions", &OperationCounts::divisions},
                               {"square roots", &OperationCounts::square_roots},
                               {"trigonometry", &OperationCounts::trigonometry}};

std::int64_t total(const OperationCounts& counts) {
  std::int64_t sum = 0;
  for (const Operation& kind : kinds) sum += counts.*kind.count;
  return sum;
}

/// Counts the operations of single calls.
class CountOperations final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.add_option("--algorithm", algorithms_, "algorithm to count; may be repeated")
        ->required()
        ->type_name("NAME")
        ->allow_extra_args(false);
    app.add_option("--problem", problem_,
                   "count this problem only; default: all that an algorithm solves")
        ->type_name("NAME");
    auto* state =
        app.add_option("--state", state_, "state file, as for 'eval'; '-': standard input")
            ->type_name("FILE");
    add_seed(app, "--random", seed_, "random state with this seed")->excludes(state);
    end_effectors_.add_to(app,
                          "default: those of the state file, or all links that move and carry "
                          "no other");
    app.footer(R"(
Runs the algorithm on numbers that count operations: additions and subtractions, multiplications,
divisions, square roots, and sines, cosines and arc tangents. Sign changes and comparisons are free.
Positions, rates and forces count as variables, the model's parameters as constants. "folded" leaves
out what generated code would not do either: operations on constants, additions of 0, and
multiplications by 0, 1 and -1. "all" counts everything. External wrenches are left out. For
input-matrix, the inputs are those of the state file, or of a random state of 'eval'.

Example: espalier count humanoid.urdf --algorithm efpa --end-effector l_foot --end-effector r_foot)");
  }

  int run(Session& session) override {
    const Registry& registry = session.host().registry();
    std::vector<const Entry*> entries;
    for (const std::string& name : algorithms_) {
      const auto selected = select_algorithm(registry, name, problem_);
      entries.insert(entries.end(), selected.begin(), selected.end());
    }
    const ModelPtr model = model_.load(session);
    State state = state_ ? read_state(model, *state_)
                         : random_state(model, seed_, end_effectors_.read(*model));
    if (state_ && (end_effectors_.given() || state.end_effectors.empty())) {
      state.replace(end_effectors_.read(*model));
    }
    if (state.actuation.empty()) state.actuation = default_inputs(*model);

    Json list = Json::array();
    std::vector<std::string> header{"algorithm", "problem", "constants"};
    for (const Operation& kind : kinds) header.push_back(kind.name);
    header.push_back("total");
    Table table(std::move(header));
    for (const Entry* e : entries) {
      Json item{{"algorithm", e->about.name}, {"problem", e->problem}};
      for (const bool fold : {true, false}) {
        const char* name = fold ? "folded" : "all";
        const OperationCounts counts = count(registry, *e, state, model, fold);
        std::vector<std::string> cells{e->about.name, e->problem, name};
        for (const Operation& kind : kinds) {
          const std::int64_t n = counts.*kind.count;
          std::string key = kind.name;
          std::replace(key.begin(), key.end(), ' ', '_');
          item[name][key] = n;
          cells.push_back(std::to_string(n));
        }
        item[name]["total"] = total(counts);
        cells.push_back(std::to_string(total(counts)));
        table.row(std::move(cells));
      }
      list.push_back(std::move(item));
    }
    if (session.json) {
      session.print(Json{{"model", model->name()},
                         {"bodies", model->body_count()},
                         {"nv", model->nv()},
                         {"end_effectors", EndEffectorList{state.end_effectors, {}}.json()},
                         {"results", std::move(list)}});
    } else {
      session.print(fmt::format("{}: {}, operations of one call\n\n{}", model->name(),
                                size_of(model->body_count(), model->nv()), table.text()));
    }
    return ok;
  }

  static OperationCounts count(const Registry& registry, const Entry& entry, const State& state,
                               const ModelPtr& model, bool fold) {
    // Bound anew each time: a workspace would remember what is no constant.
    const Setup setup{model, state.end_effectors, state.actuation, state.groups};
    const auto algorithm = registry.create(entry, setup, ScalarTraits<Count>::index);
    algorithm->set_gravity(state.gravity);
    const Folding folding(fold);
    Results results;
    operation_counts() = {};
    algorithm->solve(state.inputs, results);
    return operation_counts();
  }

  ModelArguments model_;
  std::vector<std::string> algorithms_;
  std::string problem_;
  std::optional<std::string> state_;
  unsigned long long seed_ = 1;
  EndEffectorOption end_effectors_;
};

const Registered<CountOperations> registered_count{
    {"count", "count the arithmetic operations of a call", 18}};

}  // namespace

}  // namespace espalier::cli
