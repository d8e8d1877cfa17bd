#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/command.hpp"
#include "cli/session.hpp"
#include "cli/temporary_folder.hpp"
#include "espalier/kernel/graph/mechanism_graphs.hpp"

namespace espalier::cli {

namespace {

using graph::MechanismGraphs;

/// What a kind of graph is to people and to programs: Graphviz, or nodes and edges.
struct Drawing {
  std::string dot;
  Json nodes = Json::array(), edges = Json::array();
};

Drawing draw_connectivity(const MechanismGraphs& g) {
  Drawing out{.dot = graph::connectivity_dot(g.connectivity, &g.tree)};
  for (int b = 0; b < g.connectivity.body_count(); ++b) {
    out.nodes.push_back({{"id", b}, {"name", g.connectivity.body_name(b)}});
  }
  for (int j = 0; j < g.connectivity.joint_count(); ++j) {
    const graph::Joint& joint = g.connectivity.joint(j);
    out.edges.push_back({{"from", joint.predecessor},
                         {"to", joint.successor},
                         {"name", joint.name},
                         {"kind", g.tree.child(j) < 0 ? "cut" : "tree"}});
  }
  for (int c = 0; c < g.connectivity.coupling_count(); ++c) {
    Json joints = Json::array();
    for (const int j : g.connectivity.coupling(c).joints) {
      joints.push_back(g.connectivity.joint(j).name);
    }
    out.edges.push_back(
        {{"joints", joints}, {"name", g.connectivity.coupling(c).name}, {"kind", "coupling"}});
  }
  return out;
}

Drawing draw_tree(const MechanismGraphs& g) {
  Drawing out{.dot = graph::tree_dot(g.connectivity, g.tree)};
  for (int b = 0; b < g.tree.body_count(); ++b) {
    out.nodes.push_back({{"id", b}, {"name", g.connectivity.body_name(b)}});
    if (b == 0) continue;
    out.edges.push_back({{"from", g.tree.parent(b)},
                         {"to", b},
                         {"name", g.connectivity.joint(g.tree.joint(b)).name}});
  }
  return out;
}

Drawing draw_clusters(const MechanismGraphs& g) {
  Drawing out{.dot = graph::cluster_dot(g.connectivity, g.clusters)};
  const auto names = [&](const std::vector<int>& bodies) {
    Json all = Json::array();
    for (const int b : bodies) all.push_back(g.connectivity.body_name(b));
    return all;
  };
  for (int k = 0; k < g.clusters.size(); ++k) {
    const graph::Cluster& cluster = g.clusters.cluster(k);
    Json constraints = Json::array();
    for (const int j : cluster.cut_joints) constraints.push_back(g.connectivity.joint(j).name);
    for (const int c : cluster.couplings) constraints.push_back(g.connectivity.coupling(c).name);
    out.nodes.push_back(
        {{"id", k}, {"bodies", names(cluster.bodies)}, {"constraints", constraints}});
    out.edges.push_back({{"from", cluster.parent < 0 ? Json("ground") : Json(cluster.parent)},
                         {"to", k},
                         {"supports", names(cluster.supports)}});
  }
  return out;
}

Drawing draw_subsystems(const MechanismGraphs& g) {
  const graph::SubsystemGraph subsystems = g.subsystems();
  Drawing out{.dot = graph::subsystem_dot(subsystems)};
  for (int u = 0; u < subsystems.unit_count(); ++u) {
    const graph::Unit& unit = subsystems.unit(u);
    out.nodes.push_back({{"id", u},
                         {"name", unit.name},
                         {"type", unit.type},
                         {"inputs", unit.inputs},
                         {"outputs", unit.outputs}});
  }
  for (const graph::Connection& c : subsystems.connections()) {
    out.edges.push_back({{"from", c.from.unit},
                         {"to", c.to.unit},
                         {"ports", {subsystems.port_name(c.from), subsystems.port_name(c.to)}},
                         {"kind", c.closure ? "closure" : "connection"}});
  }
  return out;
}

/// SVG of a graph by Graphviz. @throws Error where Graphviz is missing or fails
std::string svg_of(const std::string& dot) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder("graph");
  const fs::path in = folder.path() / "graph.dot", to = folder.path() / "graph.svg";
  std::ofstream(in) << dot;
  const std::string command =
      "dot -Tsvg -o '" + to.string() + "' '" + in.string() + "' 2>/dev/null";
  const int status = std::system(command.c_str());
  std::ifstream file(to, std::ios::binary);
  std::string svg{std::istreambuf_iterator<char>(file), {}};
  if (status != 0 || svg.empty()) {
    throw Error(
        "graph: program 'dot' is missing or fails, expected Graphviz for --format svg "
        "(Debian: apt-get install graphviz; or choose --format dot)");
  }
  return svg;
}

/// Graphs of a model, for people (SVG), for Graphviz and for programs.
class Graph final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.add_option("--kind", kind_,
                   "connectivity: bodies, joints and constraints; tree: the spanning tree; "
                   "clusters: the tree that algorithms recurse on; subsystems: those that the file "
                   "is composed of, or one per cluster")
        ->check(CLI::IsMember({"connectivity", "tree", "clusters", "subsystems"}).description(""))
        ->type_name("connectivity|tree|clusters|subsystems")
        ->capture_default_str();
    app.add_option("--format", format_, "dot: for Graphviz; json: nodes and edges; svg: a picture")
        ->check(CLI::IsMember({"dot", "json", "svg"}).description(""))
        ->type_name("dot|json|svg")
        ->capture_default_str();
    app.add_option("-o,--output", output_, "write to this file instead of standard output")
        ->type_name("FILE");
    app.footer("\nExample: espalier graph robot.urdf --kind clusters --format svg -o robot.svg");
  }

  int run(Session& session) override {
    const ModelPtr model = model_.load(session);
    const MechanismGraphs& graphs = model->graphs();
    const Drawing drawing = kind_ == "tree"         ? draw_tree(graphs)
                            : kind_ == "clusters"   ? draw_clusters(graphs)
                            : kind_ == "subsystems" ? draw_subsystems(graphs)
                                                    : draw_connectivity(graphs);
    const Json as_json{{"model", model->name()},
                       {"kind", kind_},
                       {"nodes", drawing.nodes},
                       {"edges", drawing.edges}};
    const std::string text = format_ == "svg"    ? svg_of(drawing.dot)
                             : format_ == "json" ? as_json.dump(2) + "\n"
                                                 : drawing.dot;
    if (!output_.empty()) write_file(output_, text);
    if (session.json) {
      Json out = as_json;
      out["dot"] = drawing.dot;
      if (!output_.empty()) out["output"] = output_;
      session.print(out);
    } else if (output_.empty()) {
      session.print(text);
    }
    return ok;
  }

  ModelArguments model_;
  std::string kind_ = "connectivity", format_ = "dot", output_;
};

const Registered<Graph> registered_graph{{"graph", "draw graphs of a model: dot, JSON or SVG", 40}};

}  // namespace

}  // namespace espalier::cli
