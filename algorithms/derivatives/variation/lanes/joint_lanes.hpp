#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"
#include "espalier/kernel/scalar/pack.hpp"

namespace espalier {

/// A tree of joints of one rate in the order of its rates, four joints in a register, whatever
/// carries them. In a common frame bodies wait for each other only where something is propagated
/// along the tree; that is done joint by joint, in slots: one for each lane, root and the ground.
/// Theory/derivatives 11 and 20.
class JointLanes {
 public:
  static constexpr int lanes = Quad::size;

  /// What a tree hangs on: the ground, or a floating body.
  struct Root {
    int body = 0;  ///< 0: the ground
    int rate = 0;  ///< first rate of a floating body
    int slot = 0;
    int run = 0;  ///< of a floating body
    int end = 0;  ///< behind the last rate that a floating body carries
    std::array<double, 6> armature{};
  };
  struct Joint {
    int rate = 0;
    int slot = 0;
    int parent = 0;  ///< slot of what carries it
    int group = 0, lane = 0;
    int end = 0;  ///< behind the last rate that it carries; they follow its own
  };
  /// Joints of consecutive slots, of which each carries the next.
  struct Run {
    int slot = 0;    ///< of the first
    int parent = 0;  ///< slot of what carries the first
    int count = 0;
  };
  /// Joints of consecutive rates.
  struct Group {
    int rate = 0;         ///< of the first
    int slot = 0;         ///< of the first; those of all lanes follow
    int used = 0;         ///< lanes that are joints; the others move along, massless
    bool slides = false;  ///< whether some of the joints are prismatic
    bool has_rotors = false;
    std::array<int, lanes> q{};       ///< positions
    std::array<int, lanes> parent{};  ///< slots of what carries them; of idle lanes the ground's
    Transform<Quad> placement;        ///< from the parent's frame to the joint's at position 0
    RigidInertia<Quad> inertia;
    Quad armature;
    Quad turning, sliding;  ///< one or zero
    /// Rotors that turn with the joint, folded into the parent: momentum per rate of the joint, in
    /// the parent's frame, and inertia about their axes, both at the joint.
    Vec3<Quad> rotor_momentum;
    Quad rotor_inertia;
  };

  /// Whether a model is such a tree: floating bodies on the ground, else joints that turn about or
  /// slide along one axis; nothing tied but rotors, folded into the body that carries their joint.
  static bool fits(const Model& model) {
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
  /// Whether it fits() and fills half of the lanes.
  static bool pays(const Model& model) {
    if (!fits(model)) return false;
    const JointLanes plan(model);
    return !plan.joints_.empty() && 2 * plan.joints_.size() >= lanes * plan.groups_.size() &&
           plan.is_depth_first();
  }

  /// @param model  that fits()
  explicit JointLanes(const Model& model) : slot_(model.body_count() + 1, ground_slot) {
    std::vector<double> zero(model.nq(), 0.0);
    model.neutral(zero.data());  // quaternions; elsewhere it may be a middle of limits
    for (int i = 1; i <= model.body_count(); ++i) {
      if (model.body(i).nq == 1) zero[model.body(i).q] = 0.0;
    }
    TreeKinematics<double> at_zero(model);
    at_zero.update(model, zero.data(), nullptr);
    std::vector<double> armature(model.spanning_nv(), 0.0);
    for (const auto& [rate, inertia] : model.armature()) {
      if (model.rotors().empty() || rate < model.rotors().front().v) armature[rate] = inertia;
    }
    for (int i = 1; i <= model.active_body_count(); ++i) {
      const Body& b = model.body(i);
      const Cluster& c = model.clusters()[b.cluster];
      if (model.runs()[b.run].subspace == SubspaceKind::free) {
        Root root{i, c.v, slots_, b.run, c.v + 6, {}};
        slot_[i] = slots_++;
        for (int k = 0; k < 6; ++k) root.armature[k] = armature[b.v + k];
        roots_.push_back(root);
        continue;
      }
      add(model, i, at_zero.X[i], armature[b.v]);
    }
    fill_idle_lanes();
    list_ends();
    list_runs();
  }

  const std::vector<Group>& groups() const { return groups_; }  ///< in the order of rates
  const std::vector<Joint>& joints() const { return joints_; }  ///< in the order of rates
  const std::vector<Run>& runs() const { return runs_; }        ///< in the order of rates
  const std::vector<Root>& roots() const { return roots_; }     ///< floating ones
  int slots() const { return slots_; }
  static constexpr int ground_slot = 0;

  /// Numbers of rates, or of positions, of a group's joints.
  static Quad of_rates(const double* x, const Group& g) {
    const double* own = x + g.rate;
    switch (g.used) {  // numbers that are put into a register one by one would wait for it
      case 1:
        return {own[0], 0.0, 0.0, 0.0};
      case 2:
        return {own[0], own[1], 0.0, 0.0};
      case 3:
        return {own[0], own[1], own[2], 0.0};
      default:
        return Quad::load(own);
    }
  }
  static Quad of_positions(const double* q, const Group& g) {
    return Quad(q[g.q[0]], q[g.q[1]], q[g.q[2]], q[g.q[3]]);
  }
  static void to_rates(const Quad& x, double* out, const Group& g) {
    if (g.used == lanes) return x.store(out + g.rate);
    for (int l = 0; l < g.used; ++l) out[g.rate + l] = x[l];
  }

 private:
  /// Whether the rates that each joint carries follow its own without gaps, as models number them.
  bool is_depth_first() const {
    std::vector<int> carried(slots_, 0);
    for (std::size_t k = joints_.size(); k-- > 0;) {
      const Joint& j = joints_[k];
      if (k > 0 && joints_[k - 1].rate >= j.rate) return false;
      if (++carried[j.slot] != j.end - j.rate) return false;
      carried[j.parent] += carried[j.slot];
    }
    return std::all_of(roots_.begin(), roots_.end(),
                       [&](const Root& r) { return carried[r.slot] + 6 == r.end - r.rate; });
  }
  void add(const Model& model, int body, const Transform<double>& X, double armature) {
    const Body& b = model.body(body);
    const Cluster& c = model.clusters()[b.cluster];
    const int rate = c.v;
    const bool follows = !groups_.empty() && groups_.back().used < lanes &&
                         groups_.back().rate + groups_.back().used == rate;
    if (!follows) {
      Group g;
      g.rate = rate, g.slot = slots_;
      g.parent.fill(ground_slot);
      slots_ += lanes;
      groups_.push_back(g);
    }
    Group& g = groups_.back();
    const int l = g.used++;
    const bool turns = model.runs()[b.run].subspace == SubspaceKind::revolute_z;
    g.slides = g.slides || !turns;
    slot_[body] = g.slot + l;
    g.q[l] = b.q, g.parent[l] = slot_[b.parent];
    set(g, l, X, model.folded_inertia(body), armature, turns);
    add_rotors(model, c, g, l);
    joints_.push_back(
        {rate, slot_[body], g.parent[l], static_cast<int>(groups_.size()) - 1, l, rate + 1});
  }
  static void set(Group& g, int l, const Transform<double>& X, const RigidInertia<double>& I,
                  double armature, bool turns) {
    for (int r = 0; r < 3; ++r) {
      for (int k = 0; k < 3; ++k) g.placement.E.row[r][k].set(l, X.E.row[r][k]);
      g.placement.r[r].set(l, X.r[r]);
      g.inertia.h[r].set(l, I.h[r]);
      g.rotor_momentum[r].set(l, 0.0);
    }
    g.inertia.m.set(l, I.m);
    g.inertia.I.xx.set(l, I.I.xx), g.inertia.I.xy.set(l, I.I.xy), g.inertia.I.xz.set(l, I.I.xz);
    g.inertia.I.yy.set(l, I.I.yy), g.inertia.I.yz.set(l, I.I.yz), g.inertia.I.zz.set(l, I.I.zz);
    g.armature.set(l, armature), g.rotor_inertia.set(l, 0.0);
    g.turning.set(l, turns ? 1.0 : 0.0), g.sliding.set(l, turns ? 0.0 : 1.0);
  }
  static void add_rotors(const Model& model, const Cluster& c, Group& g, int l) {
    Vec3<double> momentum{0, 0, 0};
    double inertia = 0.0;
    for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
      const Rotor& rotor = model.rotors()[r];
      const double ratio = c.G[c.row(rotor.v)];
      momentum += scale(ratio, rotor.momentum);
      inertia += ratio * ratio * rotor.inertia;
      g.has_rotors = true;
    }
    for (int k = 0; k < 3; ++k) g.rotor_momentum[k].set(l, momentum[k]);
    g.rotor_inertia.set(l, inertia);
  }
  void fill_idle_lanes() {
    for (Group& g : groups_) {
      for (int l = g.used; l < lanes; ++l) {
        g.q[l] = g.q[0];
        set(g, l, Transform<double>::identity(), RigidInertia<double>::zero(), 0.0, true);
      }
    }
  }
  void list_ends() {
    std::vector<int> end(slots_, 0);
    for (std::size_t k = joints_.size(); k-- > 0;) {
      Joint& j = joints_[k];
      j.end = std::max(j.end, end[j.slot]);
      end[j.parent] = std::max(end[j.parent], j.end);
    }
    for (Root& r : roots_) r.end = std::max(r.end, end[r.slot]);
  }

  void list_runs() {
    for (const Joint& j : joints_) {
      const bool follows = !runs_.empty() && j.parent == j.slot - 1 &&
                           runs_.back().slot + runs_.back().count == j.slot;
      if (!follows) runs_.push_back({j.slot, j.parent, 0});
      ++runs_.back().count;
    }
  }

  std::vector<int> slot_;  ///< per body
  int slots_ = 1;
  std::vector<Group> groups_;
  std::vector<Joint> joints_;
  std::vector<Run> runs_;
  std::vector<Root> roots_;
};

}  // namespace espalier
