#pragma once

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/problems/algorithm.hpp"
#include "espalier/kernel/text.hpp"
#include "espalier/plugins/registry.hpp"

namespace espalier {

/// A robot cut into subsystems in the sense of Bremer: the groups of a setup, and every cluster
/// that is in none of them. Says what hangs on what and which describing velocities move which
/// body; no numbers.
///
/// The describing velocities of subsystem i are
///   y_i = (twists of its supporting bodies, its independent rates),
/// the twists (angular first) in the frames and at the origins of the supporting bodies, which are
/// the bodies outside that it hangs on. Mostly there is one: the ground, or a body of the parent
/// subsystem. A subsystem has several where a cluster has; they then belong to one parent cluster.
///
/// A folded rotor belongs to the subsystem of its cluster, with all of its inertia, even where its
/// parent does not.
/// Source: theory/template 2, instance C; Krög et al., section 3.1.
class SubsystemTree {
 public:
  /// A body that a subsystem speaks of: first its supporting bodies, then its own.
  struct Site {
    int body = 0;
    int parent = -1;             ///< site that it hangs on; -1: an supporting body
    int support = 0;             ///< whose twist moves it: y_i from 6 * support on
    std::vector<int> columns;    ///< rates that move it, as indices in y_i; first its parent's
    int cluster_column = 0;      ///< where the rates of its cluster start among `columns`
    int first = 0;               ///< of its columns among those of all sites
    int index = 0;               ///< among all sites
    bool has_equations = false;  ///< brought by its joint
    RigidInertia<double> inertia = RigidInertia<double>::zero();  ///< with the subsystem's rotors

    /// A rotor may be given inertia and no mass.
    bool has_inertia() const {
      return inertia.m > 0.0 || inertia.I.xx + inertia.I.yy + inertia.I.zz > 0.0;
    }
  };
  struct Spin {
    int rotor = 0;   ///< among Model::rotors()
    int parent = 0;  ///< site
    int row = 0;     ///< of its cluster's G
    int column = 0;  ///< in y_i, where the rates of its cluster start
  };
  struct Node {
    std::string name;
    int parent = -1;            ///< subsystem; -1: the ground
    std::vector<int> clusters;  ///< of the model, ascending
    std::vector<int> supports;  ///< bodies; 0: the ground
    std::vector<int> rates;     ///< independent rates of the model, in the order of y_i
    std::vector<Site> sites;
    std::vector<Spin> spins;  ///< folded rotors
    std::vector<int> starts;  ///< per cluster: where its rates start in y_i

    int twists() const { return 6 * static_cast<int>(supports.size()); }
    int size() const { return twists() + static_cast<int>(rates.size()); }
  };
  struct Place {
    int node = -1, site = 0;
  };

  /// @throws UnknownName for a joint; DuplicateName for a name or joint given twice; InvalidModel
  ///         for a group that is empty, shares joints with another, splits a cluster or does not
  ///         hang together
  explicit SubsystemTree(const Setup& setup)
      : model_(*setup.model),
        place_(model_.body_count() + 1),
        owner_(model_.clusters().size(), -1) {
    read_groups(setup.groups);
    for (std::size_t g = 0; g < setup.groups.size(); ++g) {
      expect_one_part(setup.groups[g], static_cast<int>(g));
    }
    make_nodes(setup.groups);
    for (std::size_t i = 0; i < nodes_.size(); ++i) lay_out(static_cast<int>(i));
  }

  const Model& model() const { return model_; }
  /// Parents first.
  const std::vector<Node>& nodes() const { return nodes_; }
  /// Where a body that is neither the ground nor a folded rotor is one of its subsystem's own.
  const Place& place(int body) const { return place_[body]; }
  /// The subsystem of a body or folded rotor, not of the ground.
  int node_of(int body) const { return node_of_cluster_[model_.body(body).cluster]; }
  /// From a body's frame to that of its first link; the ground's is the world.
  Transform<double> link_frame(int body) const {
    if (body == 0) return Transform<double>::identity();
    return model_.link(model_.body_names()[body]).X;
  }
  /// Sites of an supporting body of a subsystem in its parent; not for the ground.
  const Site& seen_from_parent(int support) const {
    return nodes_[place_[support].node].sites[place_[support].site];
  }
  /// Of all subsystems together.
  int sites() const { return sites_; }
  int columns() const { return columns_; }

 private:
  // --- groups -----------------------------------------------------------------------------------

  void read_groups(const std::vector<SubsystemGroup>& groups) {
    std::vector<int> of_joint(model_.joints().size(), -1);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const SubsystemGroup& group = groups[g];
      if (group.name.empty()) {
        throw InvalidModel("subsystem number " + std::to_string(g) +
                           ": name is empty, expected a name");
      }
      for (std::size_t other = 0; other < g; ++other) {
        if (groups[other].name != group.name) continue;
        throw DuplicateName(who(group) + ": name is given to two groups, expected one (number " +
                            std::to_string(other) + " and number " + std::to_string(g) + ")");
      }
      if (group.joints.empty()) {
        throw InvalidModel(who(group) +
                           ": number of joints is 0, expected at least one (a subsystem consists "
                           "of the bodies that hang on its joints)");
      }
      for (const std::string& name : group.joints) {
        const Joint* joint = model_.find_joint(name);
        if (joint == nullptr) {
          std::vector<std::string> known;
          for (const Joint& j : model_.joints()) known.push_back(j.name);
          throw UnknownName(who(group) + ": joint " + text::quoted(name) +
                            " is unknown or does not move" + suggest(name, known));
        }
        int& owner = of_joint[joint - model_.joints().data()];
        if (owner == static_cast<int>(g)) {
          throw DuplicateName(who(group) + ": joint " + text::quoted(name) +
                              " is given twice, expected once");
        }
        if (owner >= 0) {
          throw InvalidModel(who(group) + ": joint " + text::quoted(name) + " is also in " +
                             who(groups[owner]) +
                             ", expected groups without common joints (a body belongs to one "
                             "subsystem)");
        }
        owner = static_cast<int>(g);
        owner_[model_.body(joint->body).cluster] = static_cast<int>(g);
      }
    }
    for (std::size_t c = 0; c < owner_.size(); ++c) {
      if (owner_[c] >= 0) expect_whole(groups[owner_[c]], of_joint, static_cast<int>(c));
    }
  }

  void expect_whole(const SubsystemGroup& group, const std::vector<int>& of_joint, int c) const {
    std::string missing;
    for (const Joint& joint : model_.joints()) {
      if (model_.body(joint.body).cluster != c) continue;
      if (of_joint[&joint - model_.joints().data()] == owner_[c]) continue;
      missing += (missing.empty() ? "" : ", ") + text::quoted(joint.name);
    }
    if (missing.empty()) return;
    throw InvalidModel(who(group) + ": cluster " + text::quoted(model_.clusters()[c].name) +
                       " is split, expected all of its joints in one group (missing: " + missing +
                       "; loops or couplings tie them)");
  }

  /// The clusters of a group hang together: on one another, or on one common body outside. Then
  /// there is one parent cluster, and subsystems form a tree.
  void expect_one_part(const SubsystemGroup& group, int g) const {
    const auto clusters = model_.clusters();
    std::vector<int> mine;
    for (std::size_t c = 0; c < clusters.size(); ++c) {
      if (owner_[c] == g) mine.push_back(static_cast<int>(c));
    }
    const auto hang_together = [&](int a, int b) {
      if (clusters[a].parent == b || clusters[b].parent == a) return true;
      return std::any_of(clusters[a].supports.begin(), clusters[a].supports.end(), [&](int body) {
        const auto& supports = clusters[b].supports;
        return std::find(supports.begin(), supports.end(), body) != supports.end();
      });
    };
    boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> adjacency(mine.size());
    for (std::size_t i = 0; i < mine.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (hang_together(mine[i], mine[j])) boost::add_edge(i, j, adjacency);
      }
    }
    std::vector<int> part(mine.size());
    boost::connected_components(adjacency, part.data());
    for (std::size_t i = 1; i < mine.size(); ++i) {
      if (part[i] == part[0]) continue;
      throw InvalidModel(who(group) + ": its bodies on " + text::quoted(clusters[mine[0]].name) +
                         " and on " + text::quoted(clusters[mine[i]].name) +
                         " do not hang together, expected bodies that hang on one another or on "
                         "one common body (group the joints between them, too)");
    }
  }

  static std::string who(const SubsystemGroup& group) {
    return "subsystem " + text::quoted(group.name);
  }

  // --- layout -----------------------------------------------------------------------------------

  void make_nodes(const std::vector<SubsystemGroup>& groups) {
    const auto clusters = model_.clusters();
    std::vector<int> node_of_group(groups.size(), -1);
    node_of_cluster_.resize(clusters.size());
    for (std::size_t c = 0; c < clusters.size(); ++c) {
      const int g = owner_[c];
      int index = g < 0 ? -1 : node_of_group[g];
      if (index < 0) {  // its first cluster: the parent is there already
        index = static_cast<int>(nodes_.size());
        nodes_.emplace_back();
        nodes_.back().name = g < 0 ? clusters[c].name : groups[g].name;
        if (clusters[c].parent >= 0) nodes_.back().parent = node_of_cluster_[clusters[c].parent];
        if (g >= 0) node_of_group[g] = index;
      }
      node_of_cluster_[c] = index;
      nodes_[index].clusters.push_back(static_cast<int>(c));
    }
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (std::size_t c = 0; c < clusters.size(); ++c) {
        if (owner_[c] >= 0 || clusters[c].name != groups[g].name) continue;
        throw DuplicateName(who(groups[g]) +
                            ": name is also that of a joint or cluster outside, which is a "
                            "subsystem of its own, expected another name");
      }
    }
  }

  void lay_out(int index) {
    Node& node = nodes_[index];
    for (const int c : node.clusters) {
      const Cluster& cluster = model_.clusters()[c];
      if (cluster.parent >= 0 && node_of_cluster_[cluster.parent] == index) continue;
      for (const int o : cluster.supports) {
        if (std::find(node.supports.begin(), node.supports.end(), o) == node.supports.end()) {
          node.supports.push_back(o);
        }
      }
    }
    for (std::size_t o = 0; o < node.supports.size(); ++o) {
      Site site;
      site.body = node.supports[o];
      site.support = static_cast<int>(o);
      add_site(node, std::move(site));
    }
    for (const int c : node.clusters) {
      const Cluster& cluster = model_.clusters()[c];
      const int start = node.size();
      node.starts.push_back(start);
      for (int j = 0; j < cluster.nv; ++j) node.rates.push_back(cluster.v + j);
      for (int i = cluster.first; i < cluster.first + cluster.count; ++i) {
        Site site;
        site.body = i;
        site.inertia = model_.body(i).inertia;
        site.has_equations = model_.runs()[model_.body(i).run].type->has_equations();
        site.parent = site_of(node, index, model_.body(i).parent);
        const Site& parent = node.sites[site.parent];
        site.support = parent.support;
        site.columns = parent.columns;
        if (model_.body(i).parent >= cluster.first) {
          site.cluster_column = parent.cluster_column;
        } else {
          site.cluster_column = static_cast<int>(site.columns.size());
          for (int j = 0; j < cluster.nv; ++j) site.columns.push_back(start + j);
        }
        place_[i] = {index, static_cast<int>(node.sites.size())};
        add_site(node, std::move(site));
      }
    }
    for (std::size_t k = 0; k < node.clusters.size(); ++k) add_spins(node, index, k);
  }
  void add_site(Node& node, Site site) {
    site.index = sites_++;
    site.first = columns_;
    columns_ += static_cast<int>(site.columns.size());
    node.sites.push_back(std::move(site));
  }
  void add_spins(Node& node, int index, std::size_t k) {
    const Cluster& cluster = model_.clusters()[node.clusters[k]];
    for (int r = 0; r < cluster.rotors; ++r) {
      const Rotor& rotor = model_.rotors()[cluster.rotor + r];
      const Body& body = model_.body(rotor.body);
      const int site = site_of(node, index, rotor.parent);
      // At every angle its inertia is the one at angle zero.
      node.sites[site].inertia += congruence(body.placement, body.inertia);
      node.spins.push_back({cluster.rotor + r, site, cluster.spanning_nv + r, node.starts[k]});
    }
  }
  /// A body of the subsystem or one of its supporting bodies.
  int site_of(const Node& node, int index, int body) const {
    if (body != 0 && place_[body].node == index) return place_[body].site;
    const auto at = std::find(node.supports.begin(), node.supports.end(), body);
    return static_cast<int>(at - node.supports.begin());
  }

  const Model& model_;
  std::vector<Node> nodes_;
  std::vector<Place> place_;  ///< per body
  std::vector<int> owner_;    ///< per cluster: its group, or -1
  std::vector<int> node_of_cluster_;
  int sites_ = 0, columns_ = 0;
};

}  // namespace espalier
