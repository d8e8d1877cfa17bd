#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/segments/articulated/chain_group.hpp"
#include "algorithms/segments/articulated/floating_base.hpp"
#include "algorithms/segments/articulated/plain_run.hpp"
#include "algorithms/segments/link_tree.hpp"

namespace espalier {

/// Links of a cluster that are still coupled, or that such ones hang on.
struct CoupledLinks {
  const Cluster* cluster;
  std::vector<PlainRun> links;
  int index;
};

/// The order in which the algorithms on the tree of links pass them.
struct LinkSchedule : ScheduleLayout, Segments<ChainGroup, PlainRun, FloatingBase, CoupledLinks> {
  /// @param lanes  chains of a group
  LinkSchedule(const Model& m, const LinkTree& tree, int lanes)
      : LinkSchedule(m, tree, lanes, coupled_in(m, tree)) {}

 private:
  /// Per cluster: whether it is passed as CoupledLinks.
  static std::vector<bool> coupled_in(const Model& m, const LinkTree& tree) {
    std::vector<bool> coupled(m.clusters().size(), false);
    for (std::size_t i = 0; i < m.clusters().size(); ++i) {
      const Cluster& c = m.clusters()[i];
      if (tree.is_free(m, c)) continue;
      coupled[i] = true;
      if (c.supports.size() > 1 && c.parent >= 0) coupled[c.parent] = true;
    }
    return coupled;
  }
  static ChainPlan chains_of(const Model& m, const LinkTree& tree,
                             const std::vector<bool>& coupled) {
    ChainJoints joints = tree.chain_joints(m, LinkTree::Rotors::reflected);
    for (int i = 1; i <= m.active_body_count(); ++i) {
      if (coupled[m.body(i).cluster]) joints.turning[i] = false;
    }
    return ChainPlan(m, joints, ChainPlan::Branches::longest, tree.inertia);
  }

  LinkSchedule(const Model& m, const LinkTree& tree, int lanes, const std::vector<bool>& coupled)
      : ScheduleLayout(chains_of(m, tree, coupled)) {
    const int bodies = m.active_body_count();
    floating_base = floating_root(m, bodies);
    // External wrenches on what is welded need its place.
    needs_poses = std::any_of(tree.welded.begin(), tree.welded.begin() + bodies + 1,
                              [](bool welded) { return welded; });
    for (std::size_t i = 0; i < m.clusters().size(); ++i) {
      const Cluster& c = m.clusters()[i];
      const std::vector<PlainRun> links = links_of(m, tree, c);
      if (c.first == floating_base) {
        add(FloatingBase{c.first});
      } else if (coupled[i]) {
        add(CoupledLinks{&c, links, static_cast<int>(multi_support.size())},
            2 * chains->level[c.first]);
        multi_support.push_back(&c);
      } else {
        for (const PlainRun& link : links) {
          const int body = link.body(link.begin);
          if (chains->chain_of[body] < 0) add(link, 2 * chains->level[body]);
        }
      }
    }
    const ChainGroups groups(*chains, lanes);
    for (std::size_t g = 0; g < groups.groups.size(); ++g) {
      add(ChainGroup{static_cast<int>(g)}, 2 * groups.levels[g] + 1);
    }
    sort();
  }
  /// One by one, with independent rates in their order.
  static std::vector<PlainRun> links_of(const Model& m, const LinkTree& tree, const Cluster& c) {
    std::vector<PlainRun> links;
    int next = c.v;
    for (int i = c.first; i < c.first + c.count; ++i) {
      if (tree.welded[i]) continue;
      const auto run = std::find_if(tree.runs.begin(), tree.runs.end(),
                                    [&](const BodyRun& r) { return i < r.first + r.count; });
      const int k = i - run->first;
      links.push_back({&*run, k, k + 1, next - m.body(i).v});
      next += m.body(i).nv;
    }
    return links;
  }
};

}  // namespace espalier
