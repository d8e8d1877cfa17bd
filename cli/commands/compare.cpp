#include <spdlog/fmt/fmt.h>
#include <algorithm>
#include <cmath>
#include <map>

#include "cli/command.hpp"
#include "cli/files/design_families.hpp"
#include "cli/files/state.hpp"
#include "cli/number_options.hpp"
#include "cli/output/results.hpp"
#include "cli/output/table.hpp"
#include "cli/timing.hpp"
#include "espalier/kernel/model/closure.hpp"
#include "espalier/kernel/problems/derivatives/constrained_dynamics_derivatives.hpp"
#include "espalier/kernel/problems/dynamics/constrained_dynamics.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"
#include "espalier/kernel/problems/operational_space/operational_space.hpp"

namespace espalier::cli {

namespace {

/// max over results of ||x - reference||_inf / max(1, ||reference||_inf); infinite if they do not
/// answer the same questions.
double relative_difference(const Results& x, const Results& reference) {
  if (x.size() != reference.size()) return INFINITY;
  double worst = 0.0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::vector<double>&a = x[k].values, &b = reference[k].values;
    if (x[k].name != reference[k].name || a.size() != b.size()) return INFINITY;
    double difference = 0.0, size = 1.0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      difference = std::max(difference, std::abs(a[i] - b[i]));
      size = std::max(size, std::abs(b[i]));
    }
    worst = std::max(worst, difference / size);
  }
  return worst;
}

/// A condition up to which rounding stays far below any tolerance; beyond, it grows with it.
constexpr double harmless_condition = 1e4;

/// By how much a state amplifies rounding beyond that of other states near a dead point of the
/// independent joints: G = -K_d^-1 K_i, which every answer is made of, has errors in proportion to
/// the condition of K_d, the reciprocal of the singularity margin.
double amplification_by_loops(const Model& model, const State& state) {
  if (!model.has_variable_constraints()) return 1.0;
  const double margin = examine(model, state.inputs.q.data()).margin;
  // No state is closed at smaller margins.
  const double least = CloseOptions{}.least_margin;
  return std::max(1.0, 1.0 / (harmless_condition * std::max(margin, least)));
}

/// The same in problems that invert J M^-1 J^T: its condition. End-effectors on chains of few
/// joints may be nearly dependent.
double amplification_by_tasks(const Registry& registry, const std::string& problem,
                              const Setup& setup, const State& state) {
  constexpr std::string_view inverts = OperationalSpace<double>::problem;
  if (problem != inverts && problem != ConstrainedDynamics<double>::problem &&
      problem != ConstrainedDynamicsDerivatives<double>::problem) {
    return 1.0;
  }
  const auto solvers = registry.algorithms(inverts);
  if (solvers.empty()) return 1.0;
  Results results;
  registry.create(*solvers.front(), setup)->solve(state.inputs, results);
  double condition = 1.0 / harmless_condition;
  for (const Result& r : results) {
    if (r.name != "inverse_osim" && r.name != "osim") continue;
    double norm = 0.0;  // the largest sum over a row
    for (int i = 0; i < r.row_count; ++i) {
      double sum = 0.0;
      for (int j = 0; j < r.column_count; ++j) sum += std::abs(r.values[i * r.column_count + j]);
      norm = std::max(norm, sum);
    }
    condition *= norm;
  }
  return std::max(1.0, condition);
}

/// What one algorithm did.
struct Row {
  const Entry* entry;
  double difference = 0.0;
  bool agrees = true;
  bool counts = true;  ///< exact, or held against a reference of its own
  bool is_reference = false;
  double ns = 0.0;
  std::string error{};  ///< why there are no numbers
};

/// All algorithms for one problem.
struct Comparison {
  std::string problem, reference;
  std::vector<Row> rows;
  std::vector<std::pair<const Entry*, std::string>> refused;  ///< with what stands in the way
  bool agree = true;
  double tolerance = 0.0;  ///< the largest of a state
};

/// Runs all algorithms that can solve a problem on the same random states.
class Compare final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.add_option("--problem", problem_,
                   "problem to solve; 'all': every problem with more than one algorithm")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--samples", samples_, "random states, with external wrenches on all links")
        ->check(CLI::Range(1, 1000000))
        ->capture_default_str();
    add_seed(app, "--seed", seed_, "seed of the first state");
    tolerance_option_ =
        app.add_option(
               "--tolerance", tolerance_,
               "largest relative difference that counts as agreement: the largest entry of "
               "|x - reference| over the largest of |reference|, or over 1 if that is larger")
            ->check(above_zero())
            ->capture_default_str();
    app.add_option("--against", against_,
                   "algorithm to use as the reference; 'differences' compares derivatives with "
                   "central differences along closed loops, by default with a tolerance of 1e-6")
        ->type_name("NAME")
        ->capture_default_str();
    end_effectors_.add_to(app, "default: all links that move and carry no other");
    design_.add_to(app);
    app.footer(R"(
The reference is --against if it can handle the model, else the first exact algorithm. Exit code 1
if an exact algorithm differs by more than the tolerance; approximate ones are shown only. The
tolerance grows with the condition of a state above 1e4: with the reciprocal of the singularity
margin near a dead point, and in operational-space, constrained-dynamics and its derivatives with the
condition of J M^-1 J^T (end-effectors that are nearly dependent). For input-matrix, the inputs are
those of a random state of 'eval'.)");
  }

  int run(Session& session) override {
    const Registry& registry = session.host().registry();
    if (against_ == "differences" && tolerance_option_->count() == 0) tolerance_ = 1e-6;
    std::vector<std::string> problems{problem_};
    if (problem_ == "all") {
      problems = registry.problems();
      // Those of contact ask for shapes and rows, which no state has.
      std::erase_if(problems, [&](const auto& p) {
        return registry.algorithms(p).size() < 2 || p == "collision" || p.starts_with("contact-");
      });
    } else {
      expect_problem(registry, problem_);
      const auto all = registry.algorithms(problem_);
      const bool own = std::any_of(all.begin(), all.end(), [&](const Entry* e) {
        return e->about.name.ends_with("-" + against_);
      });
      if (against_ != "dense" && !own) registry.find_algorithm(problem_, against_);  // or it throws
    }
    if (design_.given() && std::none_of(problems.begin(), problems.end(), &DesignOption::is_for)) {
      session.warn("compare: --design is given for problem " + problem_ +
                   ", expected it for problem design-variation only (it has no effect here)");
    }
    const ModelPtr model = model_.load(session);
    const Setup setup{
        model, end_effectors_.read(*model), default_inputs(*model), {}, forward_sensors(*model)};
    std::vector<State> states;
    for (int k = 0; k < samples_; ++k) {
      states.push_back(random_state(model, seed_ + static_cast<unsigned long long>(k),
                                    setup.end_effectors, true));
    }
    std::vector<Comparison> comparisons;
    for (const std::string& problem : problems) {
      comparisons.push_back(compare(session, problem, setup, states));
    }
    const bool agree = std::all_of(comparisons.begin(), comparisons.end(),
                                   [](const Comparison& c) { return c.agree; });
    if (session.json) {
      session.print(document(*model, comparisons));
    } else {
      std::string text = fmt::format("{}: {} random states\n", model->name(), samples_);
      for (const Comparison& c : comparisons) text += "\n" + describe_one(c);
      session.print(text);
    }
    return agree ? ok : unusable;
  }

  Comparison compare(Session& session, const std::string& problem, const Setup& setup,
                     const std::vector<State>& states) {
    const Registry& registry = session.host().registry();
    const ModelPtr& model = setup.model;
    Comparison out;
    out.problem = problem;
    for (const Entry* e : registry.algorithms(problem)) {
      const Verdict verdict = registry.can(*e, *model);
      if (verdict.ok) {
        out.rows.push_back({.entry = e});
      } else {
        out.refused.emplace_back(e, verdict.obstacle);
      }
    }
    // The oracle first, then exact ones, then the rest. Algorithms whose answers are their own
    // (time steps of an order) have oracles of their own: that of x is x-differences.
    const std::string own = "-" + against_;
    const auto rank = [&](const Row& r) {
      const std::string& name = r.entry->about.name;
      return name == against_ || name.ends_with(own) ? 0 : r.entry->capabilities.exact ? 1 : 2;
    };
    std::stable_sort(out.rows.begin(), out.rows.end(),
                     [&](const Row& a, const Row& b) { return rank(a) < rank(b); });

    std::vector<double> tolerances;
    for (const State& state : states) {
      tolerances.push_back(tolerance_ * amplification_by_loops(*model, state) *
                           amplification_by_tasks(registry, problem, setup, state));
    }
    out.tolerance = *std::max_element(tolerances.begin(), tolerances.end());
    std::vector<Results> reference;
    std::map<std::string, std::vector<Results>> own_references;
    for (Row& row : out.rows) {
      row.counts = row.entry->capabilities.exact;
      try {
        std::unique_ptr<Algorithm> algorithm;
        try {
          algorithm = registry.create(*row.entry, setup);
          design_.add_families(session, model_, *algorithm);
        } catch (const Unsupported& refusal) {  // of a joint, which no capability speaks of
          out.refused.emplace_back(row.entry, refusal.what());
          row.entry = nullptr;
          continue;
        }
        std::vector<Results> answers;
        for (const State& state : states) {
          Results answer;
          algorithm->solve(state.inputs, answer);
          expect_finite(row.entry->about.name, setup, answer);
          answers.push_back(std::move(answer));
        }
        if (out.reference.empty()) {
          row.is_reference = true;
          out.reference = row.entry->about.name;
          reference = answers;
        }
        const std::string& name = row.entry->about.name;
        const std::vector<Results>* against = &reference;
        if (const auto found = own_references.find(name + own); found != own_references.end()) {
          against = &found->second;
          row.counts = true;
        } else if (name.ends_with(own)) {
          against = &(own_references[name] = answers);
          row.is_reference = true;
        }
        for (std::size_t k = 0; k < answers.size(); ++k) {
          const double difference = relative_difference(answers[k], (*against)[k]);
          row.difference = std::max(row.difference, difference);
          row.agrees = row.agrees && difference <= tolerances[k];
        }
        // Short, since there may be a hundred of them: `bench` has the time for exact ones.
        row.ns = time_calls(*algorithm, states, {.repeats = 11, .seconds = 0.01}).median_ns;
      } catch (const Error& error) {
        row.error = error.what();
      }
      if (!row.counts) continue;
      if (!row.error.empty() || !row.agrees) out.agree = false;
    }
    // Of all problems, those that nobody solves for this model are told beside the others.
    std::erase_if(out.rows, [](const Row& row) { return row.entry == nullptr; });
    if (out.reference.empty() && problem_ != "all") {
      std::string text = "compare: number of algorithms that solve " + problem + " for '" +
                         model->name() + "' is 0, expected at least one";
      for (const auto& [e, obstacle] : out.refused) text += "; " + e->about.name + ": " + obstacle;
      for (const Row& row : out.rows) text += "; " + row.error;
      throw Unsupported(text);
    }
    return out;
  }

  static Json results_of(const Comparison& c) {
    Json list = Json::array();
    for (const Row& row : c.rows) {
      Json item{{"algorithm", row.entry->about.name},
                {"problem", c.problem},
                {"exact", row.entry->capabilities.exact},
                {"max_relative_difference", nullptr},
                {"ns_per_call_median", nullptr}};
      if (row.error.empty()) {
        if (std::isfinite(row.difference)) item["max_relative_difference"] = row.difference;
        item["ns_per_call_median"] = row.ns;
      } else {
        item["error"] = row.error;
      }
      list.push_back(std::move(item));
    }
    return list;
  }

  Json document(const Model& model, const std::vector<Comparison>& comparisons) const {
    const auto one = [&](const Comparison& c) {
      Json out{
          {"problem", c.problem}, {"reference", c.reference}, {"largest_tolerance", c.tolerance},
          {"agree", c.agree},     {"results", results_of(c)}, {"refused", Json::array()}};
      for (const auto& [e, obstacle] : c.refused) {
        out["refused"].push_back({{"algorithm", e->about.name}, {"obstacle", obstacle}});
      }
      return out;
    };
    Json out{{"model", model.name()}, {"samples", samples_}, {"tolerance", tolerance_}};
    if (problem_ != "all") {
      out.update(one(comparisons.front()));
      return out;
    }
    out["results"] = out["problems"] = Json::array();
    for (const Comparison& c : comparisons) {
      for (Json& item : results_of(c)) out["results"].push_back(std::move(item));
      out["problems"].push_back(one(c));
    }
    return out;
  }

  std::string describe_one(const Comparison& c) const {
    Table table({"algorithm", "largest relative difference", "ns per call", ""});
    std::string notes;
    for (const Row& row : c.rows) {
      const std::string& name = row.entry->about.name;
      if (!row.error.empty()) {
        table.row({name, "-", "-", "failed"});
        notes += row.error + "\n";
        continue;
      }
      table.row({name, fmt::format("{:.2e}", row.difference), fmt::format("{:.0f}", row.ns),
                 row.is_reference ? "reference"
                 : !row.counts    ? "approximate"
                 : row.agrees     ? "agrees"
                                  : "DIFFERS"});
    }
    for (const auto& [e, obstacle] : c.refused) {
      notes += fmt::format("{} cannot: {}\n", e->about.name, obstacle);
    }
    const bool grown = c.tolerance > tolerance_;
    return fmt::format(
        "{}: {}{}\n{}{}", c.problem,
        c.agree ? "exact algorithms agree"
                : fmt::format("algorithms DISAGREE by more than {:g}", tolerance_),
        grown ? fmt::format(" (up to {:.1e} for ill-conditioned states)", c.tolerance) : "",
        table.text(), notes);
  }

  ModelArguments model_;
  std::string problem_ = "forward-dynamics";
  int samples_ = 20;
  unsigned long long seed_ = 1;
  double tolerance_ = 1e-9;
  std::string against_ = "dense";
  CLI::Option* tolerance_option_ = nullptr;
  EndEffectorOption end_effectors_;
  DesignOption design_;
};

const Registered<Compare> registered_compare{
    {"compare", "compare all algorithms for a problem with one another", 14}};

}  // namespace

}  // namespace espalier::cli
