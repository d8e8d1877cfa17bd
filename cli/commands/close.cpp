#include "cli/command.hpp"
#include "cli/files/positions.hpp"
#include "espalier/kernel/model/compile/clusters/independent_choice.hpp"

namespace espalier::cli {

namespace {

/// Dependent positions from independent ones.
class Close final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.add_option("--state", state_,
                   "state file whose \"q\" has the wanted independent positions; '-': standard "
                   "input")
        ->type_name("FILE");
    app.add_option("--set", sets_, "one wanted position; may be repeated")
        ->type_name("JOINT=NUMBER")
        ->allow_extra_args(false);
    app.add_option("--from", from_,
                   "state file with a closed position to start from; its branch is kept. Default: "
                   "the neutral position")
        ->type_name("FILE");
    app.add_option("-o,--output", output_, "state file to write")->type_name("FILE");
    app.footer(R"(
Moves the independent joints straight to the wanted positions; the dependent ones follow on their
branch. Joints that --state does not name stay where they are, and positions that it gives for
dependent joints are ignored. A dependent joint named by --set becomes independent for this command,
in place of the joint that leaves the best choice. The verdict is one of: closed; out of reach;
singular (a dead point of the independent joints is in the way); branch lost. Exit code 0 for
'closed', else 1, with the positions that were reached.

Example: espalier close robots/four_bar_leg.yaml --set ankle.crank=0.4 --output pose.json)");
  }

  int run(Session& session) override {
    const ModelPtr model = model_.load(session);
    std::vector<double> start(model->nq());
    model->neutral(start.data());
    if (from_) {
      read_positions(*model, from_, {}, start);
      const Closure closure = examine(*model, start.data());
      if (closure.residual > 1e-6) {
        throw Failure(unusable, "InvalidState",
                      *from_ + ": q: " + closure.text() +
                          ", expected loops that are closed to 1e-06 (see 'espalier assemble')");
      }
      project(*model, start.data());
    }
    ModelPtr chosen = model;
    for (const std::string& text : sets_) {
      const Joint* joint = model->find_joint(text.substr(0, text.find('=')));
      if (joint != nullptr) chosen = with_joint_independent(chosen, start.data(), joint->name);
    }
    for (const std::string& text : sets_) {
      const Joint* joint = chosen->find_joint(text.substr(0, text.find('=')));
      if (joint == nullptr || joint->independent >= 0) continue;
      throw usage_error("close: joint '" + joint->name +
                        "' is set and cannot be independent beside the others that are set, "
                        "expected fewer of its cluster");
    }
    std::vector<double> q = start;
    read_positions(*chosen, state_, sets_, q);
    const Closure closure = close(*chosen, start.data(), q.data());
    return report_closure(session, *chosen, closure, q, output_);
  }

  ModelArguments model_;
  std::optional<std::string> state_, from_, output_;
  std::vector<std::string> sets_;
};

const Registered<Close> registered_close{
    {"close", "solve for the dependent positions of loops, given the independent ones", 14}};

}  // namespace

}  // namespace espalier::cli
