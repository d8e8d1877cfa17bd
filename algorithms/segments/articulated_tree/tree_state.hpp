#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/chains/columns/row_lanes.hpp"
#include "algorithms/chains/plan.hpp"
#include "algorithms/linear_algebra/small_ldlt.hpp"
#include "algorithms/segments/body_row.hpp"
#include "algorithms/segments/clusters/moving_rates.hpp"
#include "algorithms/segments/clusters/multi_support_cluster.hpp"
#include "algorithms/segments/link_tree.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"

namespace espalier {

// --- kinds of segments, by their nodes or row --------------------------------------------------

/// Bodies on revolute joints side by side.
struct RevoluteRow {
  int row;
};
/// A body on a joint of one rate, and the rotors that it drives on its parent.
struct RevoluteBody {
  int node;
};
struct PrismaticBody {
  int node;
};
/// A floating body on the ground.
struct FreeBody {
  int node;
};
/// A body on a joint of several rates, or of a dense subspace.
struct JointBody {
  int node;
};
/// A cluster with one supporting body.
struct TiedBodies {
  int node;
};
/// A cluster with several supporting bodies, or supporting such a one.
struct TiedOnSeveral {
  int node;
};

/// A cluster of the model in an articulated tree (articulated_tree.hpp); a body that no loop ties
/// is one of its own.
struct TreeNode {
  enum class Kind { revolute, prismatic, free, joint, cluster, multi_support };
  Kind kind = Kind::joint;
  const Cluster* cluster = nullptr;
  int body = 0;               ///< the one body of a joint
  int v = 0, n = 0;           ///< independent rates
  int parent = -1;            ///< node of its supports, -1: none
  std::vector<int> supports;  ///< bodies that it hangs on, without the ground
  std::vector<int> parents;   ///< its own bodies that other nodes hang on
  int U = 0, D = 0, L = 0;    ///< where its U, D and L start
  double inertia = 0.0;       ///< of a joint of one rate: armature and rotors on it
  int gears = 0;              ///< its rotors whose momentum the parent feels
  int multi_support = -1;     ///< among those of this kind
};

template <class T>
struct TreeBody {
  int parent = 0, node = -1;
  int support = -1;              ///< which of the node's supports it hangs on; -1: none
  int J = 0;                     ///< its columns: n of them
  RigidInertia<double> inertia;  ///< body axes, about the origin
  Mat3<T> E;                     ///< world to body axes
  Vec3<T> r;                     ///< from the parent's origin
  Vec3<T> x;                     ///< from that body's origin
  ArticulatedInertia<T> IA;
};

/// A folded rotor that rows speak of.
struct RotorSite {
  const Rotor* rotor;
  const Cluster* cluster;
  int row;  ///< of G
};

/// State of an articulated tree: what segments write and read.
/// Frames: world axes, body origins.
template <class T>
struct TreeState {
  TreeState(const Model& m, const LinkTree* given_links, typename SpanningMotion<T>::Rotors rotors,
            const ChainPlan* chains)
      : model(m),
        links(given_links),
        in_chain(m.body_count() + 1, false),
        motion(m, rotors),
        body(m.body_count() + 1),
        columns(m.spanning_nv()),
        moving(m.body_count() + 1),
        armature(m.spanning_nv(), 0.0),
        zero(m.nv(), T(0.0)) {
    body[0].E = Mat3<T>::identity();
    body[0].IA = ArticulatedInertia<T>::zero();
    for (int i = 1; i <= m.active_body_count(); ++i) {
      body[i].parent = m.body(i).parent;
      body[i].inertia = links == nullptr ? m.folded_inertia(i) : links->inertia[i];
      if (chains == nullptr) continue;
      in_chain[i] = chains->chain_of[i] >= 0;
      body[i].inertia = chains->inertia[i];
    }
    for (const auto& [rate, inertia] : m.armature()) armature[rate] = inertia;
  }

  bool is_welded(int i) const { return links != nullptr && links->welded[i]; }
  void place(TreeBody<T>& b, const Transform<T>& X) const {
    const TreeBody<T>& p = body[b.parent];
    b.E = X.E * p.E;
    b.r = transpose_times(p.E, X.r);
    b.x = b.r;  // in a cluster: see there
  }
  /// Momentum of rotor number k of a joint for a unit rate of the joint.
  Vec3<T> gear_momentum(const Cluster& c, int k) const {
    const Rotor& rotor = model.rotors()[c.rotor + k];
    return scale(c.G[c.spanning_nv + k], transpose_times(body[rotor.parent].E, rotor.momentum));
  }

  /// Factors Mqq, which stands in L (in D for one rate), as L D L^T; D holds the inverses.
  void factor(const TreeNode& node) {
    T* of_node = D.data() + node.D;
    if (node.n == 1) {
      of_node[0] = T(1.0) / of_node[0];
      return;
    }
    T* factors = L.data() + node.L;
    ldlt(factors, node.n);
    for (int j = 0; j < node.n; ++j) of_node[j] = factors[j * node.n + j];
  }
  /// n columns for yd become those for eta: X L^-T.
  template <class X>
  void change_rates(const TreeNode& node, X* x) const {
    const T* factors = L.data() + node.L;
    for (int j = 1; j < node.n; ++j) {
      for (int l = 0; l < j; ++l) x[j] += scale(-factors[j * node.n + l], x[l]);
    }
  }
  /// Takes U D^-1 U^T off.
  void take_off(const TreeNode& node, ArticulatedInertia<T>& Ia) const {
    for (int j = 0; j < node.n; ++j) Ia.subtract_outer(D[node.D + j], U[node.U + j]);
  }

  const Model& model;
  const LinkTree* links;
  std::vector<bool> in_chain;  ///< per body: somebody else computes it
  SpanningMotion<T> motion;
  std::vector<TreeNode> nodes;
  std::vector<TreeBody<T>> body;
  std::vector<Motion<T>> columns;  ///< S per spanning rate, then J of bodies in clusters
  /// Per body of a TiedBodies: rates of its cluster that can move it; empty: all.
  std::vector<std::vector<RateRange>> moving;
  std::vector<Force<T>> U;       ///< about the supports' origins
  std::vector<T> D, L;           ///< inverses; factors of nodes of several rates
  std::vector<double> armature;  ///< per spanning rate
  std::vector<MultiSupportCluster<T>> multi_support;
  std::vector<RotorSite> rotor_sites;
  std::vector<BodyRow<T>> rows;
  std::vector<T> zero;
  int largest = 0;  ///< most rates that a node has
};

/// A motion, seen at a point at r.
template <class T>
Motion<T> seen_at(const Motion<T>& m, const Vec3<T>& r) {
  return {m.w, m.v + cross(m.w, r)};
}

}  // namespace espalier
