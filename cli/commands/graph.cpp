#include "cli/command.hpp"
#include "cli/session.hpp"

namespace espalier::cli {

namespace {

/// Graphs of a model for Graphviz.
class Graph final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.add_option("--kind", kind_,
                   "connectivity: bodies, joints and constraints; tree: the spanning tree; "
                   "clusters: the tree that algorithms recurse on")
        ->check(CLI::IsMember({"connectivity", "tree", "clusters"}).description(""))
        ->type_name("connectivity|tree|clusters")
        ->capture_default_str();
    app.add_option("-o,--output", output_, "write to this file instead of standard output")
        ->type_name("FILE");
    app.footer("\nExample: espalier graph robot.urdf --kind clusters | dot -Tsvg > robot.svg");
  }

  int run(Session& session) override {
    const ModelPtr model = model_.load(session);
    const std::string& dot = kind_ == "tree"       ? model->tree_dot()
                             : kind_ == "clusters" ? model->cluster_dot()
                                                   : model->connectivity_dot();
    if (!output_.empty()) write_file(output_, dot);
    if (session.json) {
      Json out{{"model", model->name()}, {"kind", kind_}, {"dot", dot}};
      if (!output_.empty()) out["output"] = output_;
      session.print(out);
    } else if (output_.empty()) {
      session.print(dot);
    }
    return ok;
  }

  ModelArguments model_;
  std::string kind_ = "connectivity", output_;
};

const Registered<Graph> registered{{"graph", "Graphviz of a model's graphs", 40}};

}  // namespace

}  // namespace espalier::cli
