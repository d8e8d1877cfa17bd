#include "cli/command.hpp"
#include "cli/files/positions.hpp"

namespace espalier::cli {

namespace {

/// A closed position from any guess.
class Assemble final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.add_option("--state", state_,
                   "state file whose \"q\" is the initial guess; '-': standard input. Default: "
                   "the neutral position")
        ->type_name("FILE");
    app.add_option("--set", sets_, "one position of the guess; may be repeated")
        ->type_name("JOINT=NUMBER")
        ->allow_extra_args(false);
    app.add_option("-o,--output", output_, "state file to write")->type_name("FILE");
    app.footer(R"(
Moves the joints of open loops, independent ones too, as little as possible, and tries other
guesses if that fails. Loops that are closed already do not move. 'close' keeps the independent
joints where they are, and the branch. Exit code 0 if all loops are closed, else 1.

Example: espalier assemble robots/four_bar_leg.yaml --set ankle.crank=0.4 --json)");
  }

  int run(Session& session) override {
    const ModelPtr model = model_.load(session);
    std::vector<double> q(model->nq());
    model->neutral(q.data());
    read_positions(*model, state_, sets_, q);
    const Closure closure = assemble(*model, q.data());
    return report_closure(session, *model, closure, q, output_);
  }

  ModelArguments model_;
  std::optional<std::string> state_, output_;
  std::vector<std::string> sets_;
};

const Registered<Assemble> registered_assemble{
    {"assemble", "find positions that close all loops, from any guess", 15}};

}  // namespace

}  // namespace espalier::cli
