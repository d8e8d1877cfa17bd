#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "espalier/kernel/model/model.hpp"
#include "espalier/kernel/model/tree_kinematics.hpp"
#include "espalier/kernel/scalar/pack.hpp"

namespace espalier {

/// A tree of joints of one rate whose limbs are computed side by side: up to four bodies of one
/// depth are lanes of one group, a child where possible in the lane of its parent.
/// Theory/derivatives 20: a single pass waits for itself from body to body, limbs do not wait for
/// each other.
class LaneTree {
 public:
  static constexpr int lanes = Quad::size;

  /// What a tree hangs on: the ground, or a floating body.
  struct Root {
    int body = 0;  ///< 0: the ground
    int rate = 0;  ///< first rate of a floating body
    int run = 0;   ///< of a floating body
  };
  struct Group {
    int used = 0;       ///< lanes that are bodies; the others move along, massless
    bool turns = true;  ///< revolute joints, else prismatic ones
    std::array<int, lanes> body{}, rate{}, q{};
    int parent = -1;  ///< group whose lanes the bodies' parents are, lane by lane
    std::array<int, lanes> parent_group{}, parent_lane{};  ///< else; group -1: root `parent_lane`
    Transform<Quad> placement;   ///< from the parent's frame to the joint's at position 0
    RigidInertia<Quad> inertia;  ///< body frame
    Quad armature;
  };

  /// Whether a model is such a tree: floating bodies on the ground, else joints that turn about or
  /// slide along one axis, nothing tied.
  static bool fits(const Model& model) { return model.rotors().empty() && fits_geared(model); }
  /// Whether it is one besides rotors, folded into the body that carries their joint.
  static bool fits_geared(const Model& model) {
    if (!model.bodies_with_equations().empty()) return false;
    for (const Cluster& c : model.clusters()) {
      if (c.count != 1) return false;
      const Body& b = model.body(c.first);
      if (c.constrained) {
        if (c.constraint != nullptr || c.nv != 1 || c.G[c.row(b.v)] != 1.0) return false;
        for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
          if (model.rotors()[r].parent != b.parent) return false;
        }
      }
      const SubspaceKind kind = model.runs()[b.run].subspace;
      const bool floats = kind == SubspaceKind::free && b.parent == 0;
      const bool plain =
          b.nq == 1 && (kind == SubspaceKind::revolute_z || kind == SubspaceKind::prismatic_z);
      if (!floats && !plain) return false;
    }
    return true;
  }

  /// @param model  that fits()
  explicit LaneTree(const Model& model) : model_(model), place_(model.body_count() + 1) {
    std::vector<double> zero(model.nq(), 0.0);
    model.neutral(zero.data());  // quaternions; elsewhere it may be a middle of limits
    for (int i = 1; i <= model.body_count(); ++i) {
      if (model.body(i).nq == 1) zero[model.body(i).q] = 0.0;
    }
    TreeKinematics<double> at_zero(model);
    at_zero.update(model, zero.data(), nullptr);
    armature_.assign(model.spanning_nv(), 0.0);
    for (const auto& [rate, inertia] : model.armature()) {
      if (model.rotors().empty() || rate < model.rotors().front().v) armature_[rate] = inertia;
    }

    roots_.push_back({});
    place_[0] = {-1, 0};
    std::vector<int> depth(model.body_count() + 1, 0), wait;
    for (int i = 1; i <= model.active_body_count(); ++i) {
      const Body& b = model.body(i);
      if (model.runs()[b.run].subspace == SubspaceKind::free) {
        place_[i] = {-1, static_cast<int>(roots_.size())};
        roots_.push_back({i, cluster(i).v, b.run});
        continue;
      }
      depth[i] = depth[b.parent] + 1;
      wait.push_back(i);
    }
    std::stable_sort(wait.begin(), wait.end(), [&](int a, int b) { return depth[a] < depth[b]; });
    for (std::size_t first = 0; first < wait.size();) {
      std::size_t last = first;
      while (last < wait.size() && depth[wait[last]] == depth[wait[first]]) ++last;
      add_level({wait.begin() + static_cast<long>(first), wait.begin() + static_cast<long>(last)},
                at_zero.X);
      first = last;
    }
  }

  const std::vector<Group>& groups() const { return groups_; }  ///< parents first
  const std::vector<Root>& roots() const { return roots_; }     ///< the ground first
  /// Of a floating body's rate.
  double armature(const Root& root, int k) const { return armature_[model_.body(root.body).v + k]; }

 private:
  struct Place {
    int group, lane;
  };

  const Cluster& cluster(int body) const { return model_.clusters()[model_.body(body).cluster]; }
  bool turns(int body) const {
    return model_.runs()[model_.body(body).run].subspace == SubspaceKind::revolute_z;
  }
  /// Groups of the bodies of one depth: children of one group lane by lane, then what is left.
  void add_level(std::vector<int> bodies, const std::vector<Transform<double>>& X) {
    const auto group_of = [&](int i) { return place_[model_.body(i).parent].group; };
    std::stable_sort(bodies.begin(), bodies.end(), [&](int a, int b) {
      return std::pair(turns(a), group_of(a)) < std::pair(turns(b), group_of(b));
    });
    std::vector<int> rest;
    for (std::size_t first = 0; first < bodies.size();) {
      std::size_t last = first;
      while (last < bodies.size() && turns(bodies[last]) == turns(bodies[first]) &&
             group_of(bodies[last]) == group_of(bodies[first])) {
        ++last;
      }
      std::array<int, lanes> taken{};
      std::vector<int> others;
      for (std::size_t k = first; k < last; ++k) {
        const Place& p = place_[model_.body(bodies[k]).parent];
        if (p.group >= 0 && taken[p.lane] == 0) {
          taken[p.lane] = bodies[k];
        } else {
          others.push_back(bodies[k]);
        }
      }
      if (std::count(taken.begin(), taken.end(), 0) < lanes) add(taken, group_of(bodies[first]), X);
      rest.insert(rest.end(), others.begin(), others.end());
      first = last;
    }
    for (std::size_t first = 0; first < rest.size();) {
      std::array<int, lanes> taken{};
      const std::size_t start = first;
      while (first < rest.size() && first < start + lanes &&
             turns(rest[first]) == turns(rest[start])) {
        taken[first - start] = rest[first];
        ++first;
      }
      add(taken, -1, X);
    }
  }
  /// @param parent  group in whose lanes the parents are, or -1
  void add(const std::array<int, lanes>& bodies, int parent,
           const std::vector<Transform<double>>& X) {
    Group g;
    g.parent = parent;
    const int some = *std::find_if(bodies.begin(), bodies.end(), [](int i) { return i != 0; });
    g.turns = turns(some);
    for (int l = 0; l < lanes; ++l) {
      const bool is_used = bodies[l] != 0;
      const int i = is_used ? bodies[l] : some;
      const Body& b = model_.body(i);
      g.body[l] = bodies[l], g.rate[l] = cluster(i).v, g.q[l] = b.q;
      g.used += is_used;
      const Place& p = place_[b.parent];
      g.parent_group[l] = p.group, g.parent_lane[l] = p.lane;
      for (int r = 0; r < 3; ++r) {
        for (int k = 0; k < 3; ++k) g.placement.E.row[r][k].set(l, X[i].E.row[r][k]);
        g.placement.r[r].set(l, X[i].r[r]);
      }
      const RigidInertia<double> I =
          is_used ? model_.folded_inertia(i) : RigidInertia<double>::zero();
      g.inertia.m.set(l, I.m);
      for (int k = 0; k < 3; ++k) g.inertia.h[k].set(l, I.h[k]);
      g.inertia.I.xx.set(l, I.I.xx), g.inertia.I.xy.set(l, I.I.xy), g.inertia.I.xz.set(l, I.I.xz);
      g.inertia.I.yy.set(l, I.I.yy), g.inertia.I.yz.set(l, I.I.yz), g.inertia.I.zz.set(l, I.I.zz);
      g.armature.set(l, is_used ? armature_[b.v] : 0.0);
      if (is_used) place_[i] = {static_cast<int>(groups_.size()), l};
    }
    groups_.push_back(g);
  }

  const Model& model_;
  std::vector<Group> groups_;
  std::vector<Root> roots_;
  std::vector<Place> place_;      ///< per body
  std::vector<double> armature_;  ///< per spanning rate, without folded rotors
};

}  // namespace espalier
