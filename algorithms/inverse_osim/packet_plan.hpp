#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "algorithms/task_rows.hpp"

namespace espalier {

/// How rows of a task travel to the ground in PV-OSIM and PV-OSIMr, decided once per model and task.
///
/// A packet carries rows inward: K, that maps the twists of some bodies of one cluster (its sites)
/// to the rows, and w, the inverse inertia that the rows have collected since they set out. Its
/// members are end-effectors and nodes. A node is a fresh start: six rows for each site, the twist
/// itself, where all packets that arrive at these sites end. Elsewhere packets that meet are stacked
/// into one. PV-OSIM only stacks; PV-OSIMr makes nodes where that saves operations, which no choice
/// changes the result of.
/// Source: Sathya et al. (2023), Algorithm 3; SPEC 4 (corrected, generalized) and 5.6.
template <class T>
class PacketPlan {
 public:
  static constexpr int lanes = RowLanes<T>::size;
  static constexpr int site_blocks = (6 + lanes - 1) / lanes;  ///< of a node, for each site
  static constexpr int site_stride = site_blocks * lanes;      ///< rows, padding included

  struct Member {
    int packet = 0;            ///< that it last travels in
    int start = 0, blocks = 0; ///< of its rows in that packet
    int rows = 0;
    int part = -1;             ///< end-effector, or -1: a node
    std::vector<int> sites;    ///< of a node: bodies whose twists it is
    std::vector<int> packets;  ///< of a node: those that end there, by number
  };
  struct Packet {
    int blocks = 0;
    std::vector<int> members;
    std::vector<int> rows;     ///< that are no padding
    std::vector<int> sites;    ///< where it ends
    int end = -1;              ///< node (member) where it ends; -1: the ground
    int K = 0, w = 0;          ///< where its rows and w start in memory
    int capacity = 0;          ///< sites x blocks of K at most
    bool has_w = false;        ///< at the end of its way
    double factors = 0;        ///< entries of K, zeros and ones left out
  };
  struct Step {
    enum class Kind { start_part, start_node, stack, cross };
    Kind kind;
    int at = -1;               ///< node where it is taken; -1: before all others
    int packet;
    int member = -1;           ///< that starts
    int node = -1;             ///< crossed
    /// Crossing: whether it is the packet's first, which makes w. Stack: whether w is stacked, too.
    bool first = false;
    std::vector<int> from;     ///< packets that are, or right before a crossing were, stacked
    std::vector<int> sites;    ///< of the packet before the step
    std::vector<std::vector<int>> slots;  ///< per packet of `from`: where its sites are in `sites`
  };

  /// @param starts  per body: whether arrivals whose first site it is end in a node there
  /// @param everywhere  nodes wherever there is a choice, too
  PacketPlan(const TaskRows<T>& task, const ArticulatedTree<T>& tree, std::vector<bool> starts,
             bool everywhere = false)
      : task_(&task), tree_(&tree), starts_(std::move(starts)), everywhere_(everywhere) {
    std::vector<std::vector<int>> at(tree.nodes().size());  // packets by the node where they are
    for (std::size_t k = 0; k < task.parts().size(); ++k) {
      const auto& part = task.parts()[k];
      if (part.way.empty()) continue;  // on the ground
      const int m = add_member(static_cast<int>(k), part.blocks, part.part->size(), {});
      const int p = start(Step::Kind::start_part, m, {part.part->body});
      at[part.way[0].node].push_back(p);
    }
    for (std::size_t k = tree.order().size(); k-- > 0;) pass(tree.order()[k], at);
    lay_out();
  }

  /// The plan of the least estimated cost among those that flipping single choices leads to.
  static PacketPlan best(const TaskRows<T>& task, const ArticulatedTree<T>& tree) {
    const std::size_t bodies = static_cast<std::size_t>(tree.model().body_count()) + 1;
    PacketPlan plan(task, tree, std::vector<bool>(bodies, false));
    PacketPlan reduced(task, tree, std::vector<bool>(bodies, false), true);
    for (PacketPlan* p : {&plan, &reduced}) {
      for (bool better = true; better;) {
        better = false;
        // From the ground outward: the other way, meetings at the end of a long unbranched way are
        // put off joint by joint, each time for a small gain.
        const std::vector<int> meetings(p->meetings_.rbegin(), p->meetings_.rend());
        for (const int body : meetings) {
          std::vector<bool> starts = p->starts_;
          starts[body] = !starts[body];
          PacketPlan other(task, tree, std::move(starts));
          if (other.cost() < p->cost()) *p = std::move(other), better = true;
        }
      }
    }
    return reduced.cost() < plan.cost() ? std::move(reduced) : std::move(plan);
  }
  static PacketPlan stacked(const TaskRows<T>& task, const ArticulatedTree<T>& tree) {
    return PacketPlan(task, tree, std::vector<bool>(tree.model().body_count() + 1, false));
  }

  const std::vector<Step>& steps() const { return steps_; }
  const std::vector<Packet>& packets() const { return packets_; }
  const std::vector<Member>& members() const { return members_; }
  /// Bodies where several packets meet, or one of more than six rows passes: where to choose.
  const std::vector<int>& meetings() const { return meetings_; }
  int K_size() const { return K_size_; }
  int w_size() const { return w_size_; }
  /// Blocks (times sites) of the largest packet, and of all packets' Kq.
  int largest() const { return largest_; }
  /// Estimated multiplications.
  double cost() const { return cost_; }

 private:
  int add_member(int part, int blocks, int rows, std::vector<int> sites) {
    members_.push_back({0, 0, blocks, rows, part, std::move(sites), {}});
    return static_cast<int>(members_.size()) - 1;
  }
  int start(typename Step::Kind kind, int member, std::vector<int> sites) {
    const int p = static_cast<int>(packets_.size());
    packets_.push_back({members_[member].blocks, {member}, {}, sites, -1, 0, 0, 0, false, 0.0});
    packets_[p].factors = factors(members_[member]);
    members_[member].packet = p;
    add_rows(packets_[p], members_[member], 0);
    steps_.push_back({kind, at_, p, member, -1, false, {}, std::move(sites), {}});
    return p;
  }
  static void add_rows(Packet& p, const Member& member, int start) {
    for (int i = 0; i < member.rows; ++i) {
      p.rows.push_back(start * lanes +
                       (member.part >= 0 ? i : i / 6 * site_stride + i % 6));
    }
  }
  /// Rows of forces along world axes have a moment of two factors and a force of none.
  double factors(const Member& member) const {
    if (member.part < 0) return 0.0;
    const Task::Part& part = *task_->parts()[member.part].part;
    double sum = 0;
    for (const Force<double>& row : part.rows) {
      const int n = (row.n.x != 0.0) + (row.n.y != 0.0) + (row.n.z != 0.0);
      const int f = (row.f.x != 0.0) + (row.f.y != 0.0) + (row.f.z != 0.0);
      sum += part.world && n == 0 && f == 1 ? 2.0 : 6.0;
    }
    return sum;
  }
  static double rows_of(const Packet& p) { return static_cast<double>(p.rows.size()); }

  /// All packets at a node: those at the same sites may end in a node; the rest are stacked and
  /// cross.
  void pass(int n, std::vector<std::vector<int>>& at) {
    if (at[n].empty()) return;
    at_ = n;
    std::map<std::vector<int>, std::vector<int>> arrivals;  // by sites
    for (const int p : at[n]) arrivals[packets_[p].sites].push_back(p);
    std::vector<int> remain;
    for (auto& [sites, packets] : arrivals) {
      double rows = 0;
      for (const int p : packets) rows += rows_of(packets_[p]);
      if (packets.size() > 1 || rows > 6.0 * static_cast<double>(sites.size())) {
        if (std::find(meetings_.begin(), meetings_.end(), sites[0]) == meetings_.end()) {
          meetings_.push_back(sites[0]);
        }
        if (everywhere_) starts_[sites[0]] = true;
      }
      if (!starts_[sites[0]]) {
        remain.insert(remain.end(), packets.begin(), packets.end());
        continue;
      }
      const int k = static_cast<int>(sites.size());
      const int m = add_member(-1, k * site_blocks, 6 * k, sites);
      for (const int p : without_nodes_stacked(packets)) end_in(p, m);
      remain.push_back(start(Step::Kind::start_node, m, sites));
    }
    const int p = remain.size() == 1 ? remain[0] : stack(remain, false);
    const auto& node = tree_->nodes()[n];
    Packet& packet = packets_[p];
    if (remain.size() == 1) remain.clear();
    steps_.push_back({Step::Kind::cross, at_, p, -1, n, !packet.has_w, remain, packet.sites, {}});
    packet.has_w = true;
    const double R = rows_of(packet), rates = node.n, pairs = 0.5 * R * (R + 1.0);
    const double ks = static_cast<double>(packet.sites.size());
    const double ko = static_cast<double>(node.outputs.size());
    if (node.kind == ArticulatedTree<T>::Kind::revolute) {
      cost_ += 4.0 * R + pairs + 12.0 * ko * R;
    } else if (node.kind == ArticulatedTree<T>::Kind::free) {
      cost_ += 36.0 * R + 6.0 * pairs;
    } else {
      cost_ += R * (6.0 * rates * ks + rates * rates + ko * 6.0 * rates + 6.0 * ks) + rates * pairs;
    }
    packet.capacity =
        std::max(packet.capacity, packet.blocks * static_cast<int>(std::max(packet.sites.size(),
                                                                            node.outputs.size())));
    packet.sites = node.outputs;
    packet.factors = 6.0 * ko * R;
    if (!node.outputs.empty()) at[node.parent].push_back(p);
  }

  /// Packets of end-effectors alone as one: their product with Omega serves all their pairs.
  std::vector<int> without_nodes_stacked(const std::vector<int>& packets) {
    std::vector<int> out, parts;
    for (const int p : packets) {
      const auto& members = packets_[p].members;
      const bool node = std::any_of(members.begin(), members.end(),
                                    [&](int m) { return members_[m].part < 0; });
      (node ? out : parts).push_back(p);
    }
    if (parts.size() > 1) parts = {stack(parts, true)};
    out.insert(out.end(), parts.begin(), parts.end());
    return out;
  }

  /// @param at_once  whether w is stacked too; else the crossing that follows does that
  int stack(const std::vector<int>& from, bool at_once) {
    Packet packet;
    const int p = static_cast<int>(packets_.size());
    Step step{Step::Kind::stack, at_, p, -1, -1, at_once, from, {}, {}};
    for (const int f : from) {
      for (const int site : packets_[f].sites) {
        if (std::find(packet.sites.begin(), packet.sites.end(), site) == packet.sites.end()) {
          packet.sites.push_back(site);
        }
      }
    }
    for (const int f : from) {
      Packet& part = packets_[f];
      for (const int m : part.members) {
        members_[m].packet = p;
        members_[m].start += packet.blocks;
        packet.members.push_back(m);
        add_rows(packet, members_[m], members_[m].start);
      }
      packet.blocks += part.blocks;
      packet.factors += part.factors;
      packet.has_w = packet.has_w || part.has_w;
      std::vector<int> slots;
      for (const int site : part.sites) {
        slots.push_back(static_cast<int>(
            std::find(packet.sites.begin(), packet.sites.end(), site) - packet.sites.begin()));
      }
      step.slots.push_back(std::move(slots));
    }
    step.sites = packet.sites;
    packet.capacity = packet.blocks * static_cast<int>(packet.sites.size());
    packets_.push_back(std::move(packet));
    steps_.push_back(std::move(step));
    return p;
  }

  void end_in(int p, int node) {
    packets_[p].end = node;
    members_[node].packets.push_back(p);
    const double s = members_[node].rows, R = rows_of(packets_[p]);
    cost_ += packets_[p].factors * (s + 0.5 * (R + 1.0));
    double rows = 0;  // of end-effectors under the packet
    for (const int m : packets_[p].members) {
      const double under = rows_under(m);
      if (members_[m].part < 0) cost_ += under * s * 6.0;
      rows += under;
    }
    double others = 0;
    for (const int other : members_[node].packets) {
      if (other == p) continue;
      for (const int m : packets_[other].members) others += rows_under(m);
    }
    if (others > 0) cost_ += rows * s * s + rows * others * s;
  }
  double rows_under(int m) const {
    if (members_[m].part >= 0) return members_[m].rows;
    double rows = 0;
    for (const int p : members_[m].packets) {
      for (const int below : packets_[p].members) rows += rows_under(below);
    }
    return rows;
  }

  void lay_out() {
    for (Packet& p : packets_) {
      p.capacity = std::max(p.capacity, p.blocks * static_cast<int>(p.sites.size()));
      p.K = K_size_, p.w = w_size_;
      K_size_ += p.capacity;
      w_size_ += p.blocks * lanes * p.blocks;
      largest_ = std::max({largest_, p.capacity, p.blocks});
    }
    for (Packet& p : packets_) {
      for (std::size_t a = 0; a < p.members.size(); ++a) {
        if (members_[p.members[a]].part >= 0) continue;
        for (std::size_t b = 0; b < p.members.size(); ++b) {
          if (a == b || members_[p.members[b]].packet != members_[p.members[a]].packet) continue;
          if (members_[p.members[a]].packet != &p - packets_.data()) continue;
          cost_ += 0.5 * rows_under(p.members[a]) * (36.0 + 6.0 * rows_under(p.members[b]));
        }
      }
    }
  }

  const TaskRows<T>* task_;
  const ArticulatedTree<T>* tree_;
  std::vector<bool> starts_;
  bool everywhere_;
  int at_ = -1;
  std::vector<Step> steps_;
  std::vector<Packet> packets_;
  std::vector<Member> members_;
  std::vector<int> meetings_;
  int K_size_ = 0, w_size_ = 0, largest_ = 0;
  double cost_ = 0.0;
};

}  // namespace espalier
