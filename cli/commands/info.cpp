#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <map>
#include <span>

#include "cli/command.hpp"
#include "cli/output/table.hpp"
#include "cli/session.hpp"

namespace espalier::cli {

namespace {

/// What a model is made of.
class Info final : public Command {
  void add_options(CLI::App& app) override {
    model_.add_to(app);
    app.add_flag("--wide", wide_,
                 "all columns at full width; default: tables of at most 100 "
                 "characters");
    app.footer(R"(
A body is a link with all links that fixed joints weld to it, named after the first. A cluster is a
group of bodies that couplings or loops tie together; its supporting bodies carry it.)");
  }

  int run(Session& session) override {
    const ModelPtr model = model_.load(session);
    if (session.json) {
      session.print(document(*model));
    } else {
      session.print(text(*model));
    }
    return ok;
  }

  /// Links of every body, ground first.
  static std::vector<std::vector<std::string>> links_of_bodies(const Model& model) {
    std::vector<std::vector<std::string>> links(model.body_count() + 1);
    for (const Link& link : model.links()) links[link.body].push_back(link.name);
    return links;
  }

  static Json limits_of(const Joint& joint) {
    Json limits = Json::object();
    const Limits& l = joint.limits;
    if (l.lower) limits["lower"] = *l.lower;
    if (l.upper) limits["upper"] = *l.upper;
    if (l.velocity) limits["velocity"] = *l.velocity;
    if (l.effort) limits["effort"] = *l.effort;
    return limits;
  }

  Json document(const Model& model) const {
    const auto names = model.body_names();
    Json out{{"model", model.name()},
             {"file", model_.file},
             {"root", to_string(*model_.options.root)},
             {"mimic", to_string(model_.options.mimic)},
             {"mass", model.mass()},
             {"gravity", {model.gravity().x, model.gravity().y, model.gravity().z}},
             {"dof", model.nv()},
             {"nq", model.nq()},
             {"nv", model.nv()},
             {"spanning_nv", model.spanning_nv()},
             {"tree", model.is_tree()}};
    out["bodies"] = out["joints"] = out["clusters"] = out["coordinates"] = Json::array();
    const auto links = links_of_bodies(model);
    const std::vector<Coordinate> coordinates = model.coordinates();
    const std::map<int, double> armature(model.armature().begin(), model.armature().end());
    out["ground"] = {{"name", names[0]}, {"links", links[0]}};
    for (int i = 1; i <= model.body_count(); ++i) {
      const Body& b = model.body(i);
      out["bodies"].push_back({{"name", names[i]},
                               {"parent", names[b.parent]},
                               {"joint", model.joints()[b.joint].name},
                               {"cluster", b.cluster},
                               {"mass", b.inertia.m},
                               {"links", links[i]}});
    }
    for (const Joint& j : model.joints()) {
      const PassiveDynamics& p = j.passive;
      Json joint{{"name", j.name},
                 {"type", j.type},
                 {"parent", names[model.body(j.body).parent]},
                 {"child", names[j.body]},
                 {"nq", j.nq},
                 {"nv", j.nv},
                 {"independent", j.independent >= 0},
                 {"limits", limits_of(j)}};
      if (p.damping != 0.0) joint["damping"] = p.damping;
      if (p.friction != 0.0) joint["friction"] = p.friction;
      if (p.stiffness != 0.0) joint["stiffness"] = p.stiffness, joint["rest"] = p.rest;
      if (const auto it = armature.find(j.v); it != armature.end()) joint["armature"] = it->second;
      out["joints"].push_back(std::move(joint));
    }
    for (const Cluster& c : model.clusters()) {
      Json cluster{{"name", c.name},
                   {"nv", c.nv},
                   {"constrained", c.constrained},
                   {"implicit", c.implicit},
                   {"constraints", c.constraints}};
      cluster["bodies"] = cluster["output_bodies"] = cluster["independent"] = Json::array();
      cluster["folded_rotors"] = Json::array();
      for (int b = c.first; b < c.first + c.count; ++b) cluster["bodies"].push_back(names[b]);
      for (const Rotor& r : model.rotors().subspan(c.rotor, c.rotors)) {
        cluster["folded_rotors"].push_back(names[r.body]);
      }
      cluster["independent"] = independent_of(coordinates, c);
      cluster["recognised"] = c.recognised;
      for (const int b : c.supports) cluster["output_bodies"].push_back(names[b]);
      out["clusters"].push_back(std::move(cluster));
    }
    for (const Coordinate& c : coordinates) {
      out["coordinates"].push_back({{"joint", c.joint}, {"start", c.start}, {"size", c.size}});
    }
    return out;
  }

  std::string text(const Model& model) const {
    const std::size_t limit = wide_ ? 0 : Table::screen;
    const auto names = model.body_names();
    const auto links = links_of_bodies(model);
    const std::size_t tied = std::count_if(model.clusters().begin(), model.clusters().end(),
                                           [](const Cluster& c) { return c.constrained; });
    const std::string head = fmt::format(
        "{}: {}, {}, {}, {} kg, {}", model.name(), counted(model.body_count(), "body", "bodies"),
        counted(model.joints().size(), "joint", "joints"),
        counted(model.nv(), "degree of freedom", "degrees of freedom"), number(model.mass()),
        tied == 0 ? "a tree" : counted(tied, "cluster", "clusters") + " of tied bodies");

    std::string out = joined(wide_ ? std::vector{head} : broken(head, limit), "\n") + "\n\n";
    out += joints_text(model, names, limit) + "\n";

    Table bodies({"body", "mass [kg]", "links folded into it"});
    const auto folded = [&](int i) {
      return joined({links[i].begin() + (links[i].empty() ? 0 : 1), links[i].end()});
    };
    bodies.row({names[0] + " (ground)", "-", folded(0)});
    for (int i = 1; i <= model.body_count(); ++i) {
      bodies.row({names[i], number(model.body(i).inertia.m), folded(i)});
    }
    out += bodies.text(limit);

    const std::string clusters = wide_ ? clusters_table(model) : clusters_text(model);
    if (!clusters.empty()) out += "\n" + clusters;
    return out;
  }

  static std::string joints_text(const Model& model, std::span<const std::string> names,
                                 std::size_t limit) {
    // Positions in rad or m, rates in rad/s or m/s, efforts in N m or N: as the joint turns or
    // slides.
    const std::vector<std::string> bounds{"lower [rad|m]", "upper [rad|m]"},
        most{"velocity [/s]", "effort [N m|N]"};
    Table joints(
        {"joint", "type", "parent", "child", "rates of v", bounds[0], bounds[1], most[0], most[1]});
    bool bounded = false;
    for (const Joint& j : model.joints()) {
      const auto bound = [](const std::optional<double>& x) { return x ? number(*x) : "-"; };
      const std::string where =
          j.independent < 0 ? "dependent"
          : j.nv == 1       ? std::to_string(j.independent)
                            : fmt::format("{}..{}", j.independent, j.independent + j.nv - 1);
      // Joints of sub-mechanisms have the names of their links.
      const std::string child = names[j.body] == j.name && limit > 0 ? "same" : names[j.body];
      joints.row({j.name, j.type, names[model.body(j.body).parent], child, where,
                  bound(j.limits.lower), bound(j.limits.upper), bound(j.limits.velocity),
                  bound(j.limits.effort)});
      bounded = bounded || j.limits.lower || j.limits.upper;
    }
    auto hidden = most;
    if (!bounded) hidden.insert(hidden.end(), bounds.begin(), bounds.end());
    joints.wide_only(hidden).give_way({bounds[1], bounds[0], "type"});
    return joints.text(limit);
  }

  /// Clusters that are tied, those of one kind below what it is.
  static std::string clusters_text(const Model& model) {
    std::vector<std::pair<std::string, std::vector<const Cluster*>>> kinds;
    for (const Cluster& c : model.clusters()) {
      if (!c.constrained) continue;
      auto kind = std::find_if(kinds.begin(), kinds.end(),
                               [&](const auto& k) { return k.first == c.recognised; });
      if (kind == kinds.end()) kind = kinds.insert(kind, {c.recognised, {}});
      kind->second.push_back(&c);
    }
    const auto names = model.body_names();
    const std::vector<Coordinate> coordinates = model.coordinates();
    std::string out;
    const auto lines = [&](const std::string& text, std::size_t indent) {
      for (const std::string& line : broken(text, Table::screen - indent)) {
        out += std::string(indent, ' ') + line + "\n";
      }
    };
    for (const auto& [recognised, clusters] : kinds) {
      const bool one = clusters.size() == 1;
      out += out.empty() ? "" : "\n";
      lines(fmt::format("{} cluster{}: {}", clusters.size(), one ? "" : "s, each", recognised), 0);
      for (const Cluster* c : clusters) {
        lines(c->name, 2);
        lines("tied by " + joined(c->constraints), 4);
        lines(fmt::format("on {}; independent: {}", joined(supports_of(names, *c)),
                          joined(independent_of(coordinates, *c))),
              4);
      }
    }
    return out;
  }

  static std::string clusters_table(const Model& model) {
    Table clusters(
        {"cluster", "tied by", "supporting bodies", "independent joints", "recognised as"});
    const auto names = model.body_names();
    const std::vector<Coordinate> coordinates = model.coordinates();
    for (const Cluster& c : model.clusters()) {
      if (!c.constrained) continue;
      clusters.row({c.name, joined(c.constraints), joined(supports_of(names, c)),
                    joined(independent_of(coordinates, c)), c.recognised});
    }
    return clusters.empty() ? "" : clusters.text();
  }

  static std::vector<std::string> supports_of(std::span<const std::string> names,
                                              const Cluster& cluster) {
    std::vector<std::string> supports;
    for (const int b : cluster.supports) supports.push_back(names[b]);
    return supports;
  }

  /// Names of a cluster's independent joints, or of the rates of joints that are so in part.
  /// @param coordinates  of the model, ascending
  static std::vector<std::string> independent_of(const std::vector<Coordinate>& coordinates,
                                                 const Cluster& cluster) {
    std::vector<std::string> names;
    auto c = std::lower_bound(coordinates.begin(), coordinates.end(), cluster.v,
                              [](const Coordinate& a, int v) { return a.start < v; });
    for (; c != coordinates.end() && c->start < cluster.v + cluster.nv; ++c) {
      names.push_back(c->name);
    }
    return names;
  }

  ModelArguments model_;
  bool wide_ = false;
};

const Registered<Info> registered_info{
    {"info", "show bodies, joints, clusters, coordinates and mass of a model", 20}};

}  // namespace

}  // namespace espalier::cli
