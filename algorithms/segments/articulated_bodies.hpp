#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/chains/lanes.hpp"
#include "algorithms/chains/plan.hpp"
#include "algorithms/chains/row_lanes.hpp"
#include "algorithms/segments/link_tree.hpp"
#include "espalier/kernel/model/spanning_motion.hpp"
#include "espalier/kernel/model/subspace.hpp"

namespace espalier {

/// Bodies of an articulated tree (articulated_tree.hpp) with their attitudes and inertias, and those
/// on revolute joints computed side by side: chains are alike, so that up to four bodies of one level
/// stand in the lanes of a pack, and their children in the same lanes (chains/lanes.hpp).
/// Frames: world axes, body origins.
template <class T>
class ArticulatedBodies {
 public:
  using V = typename RowLanes<T>::V;

  enum class Kind { revolute, prismatic, free, joint, cluster, multi_support };
  struct Node {
    Kind kind = Kind::joint;
    const Cluster* cluster = nullptr;
    int body = 0;              ///< the one body of a joint
    int v = 0, n = 0;          ///< independent rates
    int parent = -1;           ///< node of its supports, -1: none
    std::vector<int> supports;  ///< bodies that it hangs on, without the ground
    std::vector<int> parents; ///< its own bodies that other nodes hang on
    int U = 0, D = 0, L = 0;   ///< where its U, D and L start
    double inertia = 0.0;      ///< of a joint of one rate: armature and rotors on it
    int gears = 0;             ///< its rotors whose momentum the parent feels
    int group = -1;            ///< of bodies that are computed at once
  };

  const Model& model() const { return model_; }
  const std::vector<Node>& nodes() const { return nodes_; }
  /// Nodes from the ground outward, level by level: chains take turns, so that the processor has
  /// several chains of operations to work on at once.
  const std::vector<int>& order() const { return order_; }
  /// The node of a body (not the ground).
  int node_of(int body) const { return body_[body].node; }
  /// World to body axes, at the last update.
  const Mat3<T>& attitude(int body) const { return body_[body].E; }
  SpanningMotion<T>& motion() { return motion_; }

 protected:
  ArticulatedBodies(const Model& model, const LinkTree* links,
                    typename SpanningMotion<T>::Rotors rotors, const ChainPlan* chains)
      : model_(model),
        links_(links),
        in_chain_(model.body_count() + 1, false),
        motion_(model, rotors),
        body_(model.body_count() + 1),
        columns_(model.spanning_nv()),
        armature_(model.spanning_nv(), 0.0) {
    body_[0].E = Mat3<T>::identity();
    body_[0].IA = ArticulatedInertia<T>::zero();
    for (int i = 1; i <= model.active_body_count(); ++i) {
      body_[i].parent = model.body(i).parent;
      body_[i].inertia = links == nullptr ? model.folded_inertia(i) : links->inertia[i];
    }
    if (chains != nullptr) {
      for (int i = 1; i <= model.active_body_count(); ++i) {
        in_chain_[i] = chains->chain_of[i] >= 0;
        body_[i].inertia = chains->inertia[i];
      }
    }
    for (const auto& [rate, inertia] : model.armature()) armature_[rate] = inertia;
  }

  struct BodyState {
    int parent = 0, node = -1;
    int output = -1;  ///< which of the node's supports it hangs on; -1: none
    int J = 0;        ///< its columns: n of them
    RigidInertia<double> inertia;  ///< body axes, about the origin
    Mat3<T> E;        ///< world to body axes
    Vec3<T> r;        ///< from the parent's origin
    Vec3<T> x;        ///< from the output's origin
    ArticulatedInertia<T> IA;
  };

  /// Once all nodes are there: the order in which they are computed.
  void arrange() {
    for (const Node& node : nodes_) {
      for (const int output : node.supports) {
        std::vector<int>& parents = nodes_[body_[output].node].parents;
        if (std::find(parents.begin(), parents.end(), output) == parents.end()) {
          parents.push_back(output);
        }
      }
    }
    sort_by_levels();
    group_chains();
  }
  /// Attitudes and rigid inertias.
  void place_bodies(const T* q) {
    motion_.update(q, nullptr);
    for (const int item : place_order_) {
      if (item < 0) {
        place_group(groups_[-item - 1]);
      } else {
        with_subspace(model_.runs()[model_.body(item).run],
                      [&](auto ops) { place_one<decltype(ops)>(item); });
      }
    }
  }
  /// The articulated inertia of a node that is in a group, with that of all others there.
  void backward_chain(int index) {
    Group& group = groups_[nodes_[index].group];
    if (group.last == index) backward_group(group);
  }
  template <class Ops>
  void place_one(int i) {
    BodyState& b = body_[i];
    place_body(b, motion_.joints.X[i]);
    const int v = model_.body(i).v;
    Motion<T>* S = columns_.data() + v;
    for (int j = 0; j < Ops::n; ++j) {
      if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
        S[j] = {b.E.row[2], Vec3<T>::zero()};
      } else {
        const Motion<T> s = Ops::column(motion_.joints.S.data() + v, j);
        S[j] = {transpose_times(b.E, s.w), transpose_times(b.E, s.v)};
      }
    }
    b.IA = ArticulatedInertia<T>::from(RigidInertia<T>{
        T(b.inertia.m), transpose_times(b.E, b.inertia.h), congruence(b.E, b.inertia.I)});
  }
  void place_body(BodyState& b, const Transform<T>& X) {
    const BodyState& p = body_[b.parent];
    b.E = X.E * p.E;
    b.r = transpose_times(p.E, X.r);
    b.x = b.r;  // in a cluster: see there
  }
  /// A motion, seen at a point at r.
  static Motion<T> at(const Motion<T>& m, const Vec3<T>& r) { return {m.w, m.v + cross(m.w, r)}; }
  /// Momentum of rotor number k of a joint for a unit rate of the joint.
  Vec3<T> gear_momentum(const Cluster& c, int k) const {
    const Rotor& rotor = model_.rotors()[c.rotor + k];
    return scale(c.G[c.spanning_nv + k],
                 transpose_times(body_[rotor.parent].E, rotor.momentum));
  }

  const Model& model_;
  const LinkTree* links_;
  std::vector<bool> in_chain_;  ///< per body: somebody else computes it
  SpanningMotion<T> motion_;
  std::vector<Node> nodes_;
  std::vector<BodyState> body_;
  std::vector<Motion<T>> columns_;   ///< S per spanning rate, then J of bodies in clusters
  std::vector<Force<T>> U_;          ///< about the supports' origins
  std::vector<T> D_;                 ///< inverses
  std::vector<double> armature_;     ///< per spanning rate

 private:
  void sort_by_levels() {
    level_of_.assign(nodes_.size(), 0);
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (!in_chain_[nodes_[i].cluster->first]) order_.push_back(static_cast<int>(i));
      const int parent = nodes_[i].cluster->parent;
      if (parent >= 0) level_of_[i] = level_of_[parent] + 1;
    }
    std::stable_sort(order_.begin(), order_.end(),
                     [&](int a, int b) { return level_of_[a] < level_of_[b]; });
  }

  // --- chains side by side -----------------------------------------------------------------------

  /// Bodies on revolute joints, one in each lane. Idle lanes have no mass and move as another does.
  struct Group {
    static constexpr int lanes = RowLanes<T>::size;
    int size = 0;             ///< lanes that are used: the first `size` of lane and body
    int lane[lanes];
    int body[lanes];
    int source[lanes];        ///< per lane: body whose joint is taken
    int parent[lanes];        ///< per lane: its parent
    int collector[lanes];     ///< per lane: body if others than followers hang on it, else the ground
    bool follows[lanes];      ///< per lane: whether the parent is in this lane of the group before
    int before = -1;          ///< group of these parents
    bool all_follow = false, collects = false, gears = false;
    int last = -1;            ///< its node that comes last in order()
    V share;                  ///< per lane: 1 where it follows, else 0
    V m, inertia;             ///< inertia: armature and rotors on the rate
    Vec3<V> h;
    Sym3<V> I;
    Mat3<V> E;
    Vec3<V> r;
    ArticulatedInertia<V> IA;
  };
  void group_chains() {
    std::vector<int> level(model_.body_count() + 1, 0);
    std::vector<ChainLanes::Candidate> candidates;
    std::vector<int> bodies;  // level by level
    for (std::size_t k = 0; k < order_.size(); ++k) {
      const Node& node = nodes_[order_[k]];
      const int at = level_of_[order_[k]];
      const Cluster& c = *node.cluster;
      for (int i = c.first; i < c.first + c.count; ++i) {
        if (links_ != nullptr && links_->welded[i]) continue;
        bodies.push_back(i);
        level[i] = at;
      }
      if (node.kind == Kind::revolute) candidates.push_back({node.body, body_[node.body].parent, at});
    }
    const ChainLanes chains(candidates, RowLanes<T>::size);
    std::vector<int> group_of(model_.body_count() + 1, -1);
    for (const ChainLanes::Group& from : chains.groups()) {
      const int index = static_cast<int>(groups_.size());
      Group g;
      g.before = from.before;
      int used = -1;
      for (int k = RowLanes<T>::size; k-- > 0;) used = from.body[k] >= 0 ? k : used;
      g.all_follow = g.before >= 0;
      for (int k = 0; k < RowLanes<T>::size; ++k) {
        const bool idle = from.body[k] < 0;
        const int i = idle ? from.body[used] : from.body[k];
        set_constants(g, k, i, idle);
        g.source[k] = i, g.parent[k] = body_[i].parent, g.collector[k] = 0;
        g.follows[k] = from.follows[k];
        row_of<T>(&g.share, k) = T(g.follows[k] ? 1.0 : 0.0);
        if (idle) continue;
        g.all_follow = g.all_follow && g.follows[k];
        g.lane[g.size] = k, g.body[g.size] = i, ++g.size;
        group_of[i] = index;
        Node& node = nodes_[body_[i].node];
        node.group = index;
        g.gears = g.gears || node.gears > 0;
      }
      groups_.push_back(g);
    }
    for (const int n : order_) {
      if (nodes_[n].group >= 0) groups_[nodes_[n].group].last = n;
    }
    for (const Node& node : nodes_) {  // who hands its inertia to a body of a group by itself
      for (const int o : node.supports) {
        if (group_of[o] < 0) continue;
        if (node.group < 0 || !follows(groups_[node.group], node.body)) collect(groups_[group_of[o]], o);
      }
    }
    std::vector<bool> placed(groups_.size(), false);
    for (const int i : bodies) {
      const int g = group_of[i];
      if (g < 0) {
        place_order_.push_back(i);
      } else if (!placed[g]) {
        place_order_.push_back(-g - 1);
        placed[g] = true;
      }
    }
  }
  void set_constants(Group& g, int k, int i, bool idle) const {
    const RigidInertia<double> I = idle ? RigidInertia<double>::zero() : body_[i].inertia;
    const auto set = [&](V& x, double value) { row_of<T>(&x, k) = T(value); };
    set(g.m, I.m);
    set(g.inertia, idle ? 1.0 : nodes_[body_[i].node].inertia);
    for (int a = 0; a < 3; ++a) set(g.h[a], I.h[a]);
    set(g.I.xx, I.I.xx), set(g.I.xy, I.I.xy), set(g.I.xz, I.I.xz);
    set(g.I.yy, I.I.yy), set(g.I.yz, I.I.yz), set(g.I.zz, I.I.zz);
  }
  static bool follows(const Group& g, int body) {
    for (int k = 0; k < g.size; ++k) {
      if (g.body[k] == body) return g.follows[g.lane[k]];
    }
    return false;
  }
  static void collect(Group& g, int body) {
    g.collects = true;
    for (int k = 0; k < g.size; ++k) {
      if (g.body[k] == body) g.collector[g.lane[k]] = body;
    }
  }

  void place_group(Group& g) {
    const auto& joints = motion_.joints.X;
    Transform<V> X;
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        X.E(a, b) = side_by_side<T>([&](int k) { return joints[g.source[k]].E(a, b); });
      }
      X.r[a] = side_by_side<T>([&](int k) { return joints[g.source[k]].r[a]; });
    }
    Mat3<V> E;
    if (g.all_follow) {
      E = groups_[g.before].E;
    } else {
      for (int a = 0; a < 3; ++a) {
        for (int b = 0; b < 3; ++b) {
          E(a, b) = side_by_side<T>([&](int k) { return body_[g.parent[k]].E(a, b); });
        }
      }
    }
    g.E = X.E * E;
    g.r = transpose_times(E, X.r);
    g.IA = ArticulatedInertia<V>::from(
        RigidInertia<V>{g.m, transpose_times(g.E, g.h), congruence(g.E, g.I)});
    for (int k = 0; k < g.size; ++k) {
      const int lane = g.lane[k];
      BodyState& b = body_[g.body[k]];
      for (int a = 0; a < 3; ++a) {
        for (int c = 0; c < 3; ++c) b.E(a, c) = row_of<T>(&g.E(a, c), lane);
        b.x[a] = row_of<T>(&g.r[a], lane);
      }
      columns_[b.J] = {b.E.row[2], Vec3<T>::zero()};
      if (g.collects) b.IA = ArticulatedInertia<T>::zero();
    }
  }

  void backward_group(Group& g) {
    if (g.collects) {
      for_numbers(g.IA, [&](V& x, auto&& number) {
        x += side_by_side<T>([&](int k) { return number(body_[g.collector[k]].IA); });
      });
    }
    const Vec3<V>& S = g.E.row[2];
    Force<V> U{g.IA.A * S, transpose_times(g.IA.B, S)};
    const V D = dot(S, U.n) + g.inertia;
    U.n += cross(g.r, U.f);
    if (g.gears) {
      for (int k = 0; k < g.size; ++k) {
        const Node& node = nodes_[body_[g.body[k]].node];
        for (int r = 0; r < node.gears; ++r) {
          const Vec3<T> momentum = gear_momentum(*node.cluster, r);
          for (int a = 0; a < 3; ++a) row_of<T>(&U.n[a], g.lane[k]) += momentum[a];
        }
      }
    }
    const V inverse = V(1.0) / D;
    ArticulatedInertia<V> Ia = shifted(g.IA, g.r);
    Ia.subtract_outer(inverse, U);
    if (g.all_follow) {
      groups_[g.before].IA += Ia;
    } else if (g.before >= 0) {
      // A lane that does not follow is idle there, and idle lanes stay without mass.
      for_numbers(groups_[g.before].IA,
                  [&](V& x, auto&& number) { x += g.share * number(Ia); });
    }
    for (int k = 0; k < g.size; ++k) {
      const int lane = g.lane[k];
      BodyState& b = body_[g.body[k]];
      const Node& node = nodes_[b.node];
      D_[node.D] = row_of<T>(&inverse, lane);
      for (int a = 0; a < 6; ++a) U_[node.U][a] = row_of<T>(&U[a], lane);
      if (g.follows[lane] || b.parent == 0) continue;
      for_numbers(body_[b.parent].IA, [&](T& x, auto&& number) {
        x += row_of<T>(&number(Ia), lane);
      });
    }
  }
  /// Calls f(x, number) for every number x of an inertia; number(other) is the same of another one.
  template <class A, class F>
  static void for_numbers(A& I, F&& f) {
    const auto symmetric = [&](auto part) {
      f(part(I).xx, [&](auto& o) -> auto& { return part(o).xx; });
      f(part(I).xy, [&](auto& o) -> auto& { return part(o).xy; });
      f(part(I).xz, [&](auto& o) -> auto& { return part(o).xz; });
      f(part(I).yy, [&](auto& o) -> auto& { return part(o).yy; });
      f(part(I).yz, [&](auto& o) -> auto& { return part(o).yz; });
      f(part(I).zz, [&](auto& o) -> auto& { return part(o).zz; });
    };
    symmetric([](auto& o) -> auto& { return o.A; });
    symmetric([](auto& o) -> auto& { return o.C; });
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        f(I.B(i, j), [&](auto& o) -> auto& { return o.B(i, j); });
      }
    }
  }

  std::vector<int> order_, level_of_;
  std::vector<Group> groups_;
  std::vector<int> place_order_;  ///< bodies, and groups as -1 - index
};

}  // namespace espalier
