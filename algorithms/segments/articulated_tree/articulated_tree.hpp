#pragma once

#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "algorithms/segments/articulated_tree/tree_cluster.hpp"
#include "algorithms/segments/articulated_tree/tree_columns.hpp"
#include "algorithms/segments/articulated_tree/tree_joint.hpp"
#include "algorithms/segments/articulated_tree/tree_row.hpp"
#include "algorithms/segments/articulated_tree/tree_schedule.hpp"

namespace espalier {

/// Articulated inertias of a tree or cluster tree at one position, and the two ways through it:
/// rows on the twists of bodies (wrenches) go inward, motions that answer forces go outward. All
/// methods for J M^-1 J^T and M^-1 B are made of these two.
///
/// Each cluster of the model is a node; a body that no loop ties is a cluster of its own. The twist
/// of body b of a node is that of its supporting body, shifted by x, and J_b times the node's
/// rates. With Moq (here U) and Mqq (here D) of theory/clusters 5.4,
///   rows K on body b:  Kq = K J_b,  Ko = K shifted;  to the supporting body: Ko - (Kq D^-1) U^T
///   motion a of that body:  rates = z - D^-1 U^T a  with z = D^-1 (forces on the rates)
/// which on a node of one body is the joint of Featherstone's (2008) chapter 7.
///
/// The rates of a node of several are not the model's but eta = L^T yd with the factor Mqq = L D
/// L^T, J and U being those of eta: then D is diagonal, and a node of n rates is like n joints of
/// one. to_rates() and from_rates() go between the two.
///
/// Frames: world axes, body origins. A joint of kind `free`, on the ground, has its twist in world
/// axes for yd.
/// Source: theory/template 2 (instance C), theory/delassus 4 and theory/clusters 5.4 to 5.6.
template <class T>
class ArticulatedTree {
 public:
  using V = typename RowLanes<T>::V;
  using Node = TreeNode;
  using Kind = TreeNode::Kind;

  /// @param links   if given, the robot is the approximate one of these links
  /// @param rotors  folded rotors (bodies) that rows speak of
  /// @param chains  if given, their bodies are left to the caller, whose inertias arrive by
  ///                add_inertia()
  explicit ArticulatedTree(const Model& model, const LinkTree* links = nullptr,
                           std::span<const int> rotors = {}, const ChainPlan* chains = nullptr);

  const Model& model() const { return state_.model; }
  const std::vector<Node>& nodes() const { return state_.nodes; }
  /// Nodes from the ground outward, level by level.
  const std::vector<int>& order() const { return schedule_.order(); }
  /// The node of a body (not the ground).
  int node_of(int body) const { return state_.body[body].node; }
  /// World to body axes, at the last update.
  const Mat3<T>& attitude(int body) const { return state_.body[body].E; }
  SpanningMotion<T>& motion() { return state_.motion; }
  /// Of a node of one rate and one supporting body: D^-1, and U as that body sees it.
  const T& D(const Node& node) const { return state_.D[node.D]; }
  const Force<T>& U(const Node& node) const { return state_.U[node.U]; }
  /// From the origin of a body's supporting body to that of the body.
  const Vec3<T>& offset(int body) const { return state_.body[body].x; }
  const ArticulatedInertia<T>& articulated_inertia(int body) const { return state_.body[body].IA; }
  /// Most rates that a node has.
  int largest_node() const { return state_.largest; }

  /// Articulated inertias at a position; all that follows speaks of the last one.
  void update(const T* q) {
    place(q);
    schedule_.inward([&](const auto& s) { eliminate(s, state_); });
    for (const RotorSite& site : state_.rotor_sites) place_rotor(site, state_);
  }
  /// The same in parts, so that a caller may take rows through a node right after its inertia:
  /// attitudes of all bodies and rigid inertias,
  void place(const T* q) {
    state_.motion.update(q, nullptr);
    for (const int item : schedule_.places()) {
      if (item < 0) {
        espalier::place(RevoluteRow{-item - 1}, state_);
      } else {
        espalier::place(item, state_);
      }
    }
    for (const RotorSite& site : state_.rotor_sites) {
      state_.place(state_.body[site.rotor->body], state_.motion.joints.X[site.rotor->body]);
    }
  }
  /// articulated inertias of what hangs on a body and is none of the tree's,
  void add_inertia(int body, const ArticulatedInertia<T>& IA) { state_.body[body].IA += IA; }
  /// and, in reversed order(), the articulated inertia of a node.
  void backward_pass(int node) {
    const int segment = schedule_.segment_at(node);
    if (segment >= 0) {
      std::visit([&](const auto& s) { eliminate(s, state_); }, schedule_[segment]);
    }
    for (const RotorSite& site : state_.rotor_sites) {
      if (state_.body[site.rotor->body].node == node) place_rotor(site, state_);
    }
  }

  /// carry_rows(), carry_motions() and what belongs to them.
  void inward(const Node& node, std::span<const int> sites, int blocks, const Force<V>* K, V* Kq,
              V* z, Force<V>* out, const V* extra = nullptr) const {
    carry_rows(state_, node, sites, blocks, K, Kq, z, out, extra);
  }
  void outward(const Node& node, int blocks, const Motion<V>* a, V* eta) const {
    carry_motions(state_, node, blocks, a, eta);
  }
  void motion_of(const Node& node, int body, int blocks, const Motion<V>* a, const V* eta,
                 Motion<V>* out) const {
    espalier::motion_of(state_, node, body, blocks, a, eta, out);
  }
  void to_rates(const Node& node, int blocks, V* x) const {
    espalier::to_rates(state_, node, blocks, x);
  }
  void from_rates(const Node& node, int blocks, V* x) const {
    espalier::from_rates(state_, node, blocks, x);
  }

 private:
  TreeState<T> state_;
  TreeSchedule<T> schedule_;
};

// Below the class, so that it can be compiled once for several plugins (instances/).
template <class T>
ArticulatedTree<T>::ArticulatedTree(const Model& model, const LinkTree* links,
                                    std::span<const int> rotors, const ChainPlan* chains)
    : state_(model, links,
             rotors.empty() ? SpanningMotion<T>::Rotors::skip : SpanningMotion<T>::Rotors::place,
             chains),
      schedule_(TreeLayout<T>::lay_out(state_, rotors)) {}

}  // namespace espalier
