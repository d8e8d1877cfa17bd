#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "algorithms/derivatives/variation/placed_wrenches.hpp"
#include "algorithms/derivatives/variation/variation_terms.hpp"
#include "espalier/kernel/model/motion/spanning_variation.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/kernel/problems/loads.hpp"

/// What every algorithm for derivatives passes: how bodies move, how that varies along the
/// coordinates of their cluster, and composite bodies.
///
/// Frame: one for each tree, which is inertial and coincides at this instant with the floating body
/// the tree hangs on, or else with the world; angular above linear. No transform is left after the
/// forward pass: composites are plain sums.
///
/// The relative variation of a body's vector is the variation of its components in the body.
/// Source: theory/derivatives 11 to 14; Singh, Russell, Wensing (2022) for trees.

namespace espalier {

template <class T>
class VariationState {
 public:
  struct BodyState {
    Transform<T> X;      ///< common frame to body
    Motion<T> v, vJ, a;  ///< vJ: of the joint; a with gravity
    RigidInertia<T> I;   ///< with folded rotors
    Force<T> h;          ///< momentum without that of the rotors' spin
    Force<T> f;          ///< wrench that it needs, with all that hangs on it outside its cluster
    RigidInertia<T> IC;  ///< the same of inertias
    InertiaRate<T> B;    ///< the same
  };

  enum class Columns { needed, skip };  ///< whether columns are computed

  explicit VariationState(const Model& model, Columns columns_wanted = Columns::needed)
      : motion(model),
        body(model.body_count() + 1),
        S(model.spanning_nv()),
        tau_s(model.spanning_nv(), T(0.0)),
        wrenches(model),
        model_(model),
        support_(model.body_count() + 1, 0),
        first_column_(model.body_count() + 1, 0),
        root_(model.body_count() + 1, 0),
        is_plain_(model.clusters().size(), false),
        armature_(model.spanning_nv(), 0.0),
        zero_(6, T(0.0)),
        skip_columns_(columns_wanted == Columns::skip) {
    int columns = 0;
    for (const Cluster& c : model.clusters()) {
      bool plain = !c.constrained && c.count == 1;
      for (int i = c.first; i < c.first + c.count; ++i) {
        const int p = model.body(i).parent;
        support_[i] = p >= c.first ? support_[p] : p;
        root_[i] = p == 0 ? i : root_[p];
        first_column_[i] = columns;
        columns += c.nv;
        plain = plain && !motion.subspace_varies(i);
      }
      is_plain_[&c - model.clusters().data()] = plain;
    }
    column.resize(columns);
    for (const auto& [rate, inertia] : model.armature()) {
      if (model.rotors().empty() || rate < model.rotors().front().v) armature_[rate] = inertia;
    }
    for (const Cluster& c : model.clusters()) most_columns_ = std::max(most_columns_, c.nv);
    joint_columns_.resize(12);
    gravity_.resize(model.body_count() + 1);
  }

  /// Positions and velocities: all that does not depend on accelerations.
  void update(const T* q, const T* v, const Vec3<double>& gravity, const Loads<T>* loads) {
    loads_ = loads;
    motion.update(q, v);
    body[0].X = Transform<T>::identity();
    body[0].v = Motion<T>::zero();
    const Vec3<T> up = Vec3<T>::from(-gravity);
    gravity_[0] = up;
    for (const Cluster& c : model_.clusters()) {
      for (int i = c.first; i < c.first + c.count; ++i) {
        place(i, up);
        if (is_plain(c)) {
          move_plain(c, i);
        } else {
          move(c, i);
        }
        BodyState& b = body[i];
        b.I = congruence(b.X, model_.folded_inertia(i));
        b.h = b.I * b.v;
      }
    }
    wrenches.place(loads, *this);
  }

  /// More wrenches, after update().
  void apply(const FramedWrenches<T>& more) { wrenches.add(more, *this); }

  /// Positions alone: poses, subspaces and inertias.
  void update_positions(const T* q) {
    motion.update(q, nullptr);
    body[0].X = Transform<T>::identity();
    const Vec3<T> zero = Vec3<T>::zero();
    for (const Cluster& c : model_.clusters()) {
      for (int i = c.first; i < c.first + c.count; ++i) {
        place(i, zero);
        const Body& b = model_.body(i);
        VariationColumn<T>* to = columns(i);
        for (int k = 0; k < c.nv; ++k) {
          if (is_plain(c)) {
            to[k].S = S[b.v + k];
            continue;
          }
          to[k].S = b.parent >= c.first ? columns(b.parent)[k].S : Motion<T>::zero();
          for (int j = 0; j < b.nv; ++j) to[k].S += scale(G(c, b.v + j, k), S[b.v + j]);
        }
        body[i].I = congruence(body[i].X, model_.folded_inertia(i));
      }
    }
  }

  /// Accelerations, and the wrench that each body needs.
  /// @param vdot  independent, or nullptr for zero
  void accelerate(const T* vdot) {
    motion.accelerate(vdot);
    const T* qdd = motion.qdd();
    for (const Cluster& c : model_.clusters()) {
      for (int i = c.first; i < c.first + c.count; ++i) {
        if (is_plain(c)) {
          accelerate_plain(i, qdd);
        } else {
          accelerate(c, i, qdd);
        }
        BodyState& b = body[i];
        b.f = b.I * b.a + cross_star(b.v, b.h);
      }
    }
    for (const Rotor& rotor : model_.rotors()) {
      BodyState& b = body[rotor.parent];
      const Vec3<T> k = momentum(rotor);
      const T &w = motion.qd()[rotor.v], &wd = qdd[rotor.v];
      if (rotor.parent != 0) b.f.n += scale(wd, k) + scale(w, cross(b.v.w, k));
      tau_s[rotor.v] = rotor.inertia * wd;
      if (rotor.parent != 0) tau_s[rotor.v] += dot(k, b.a.w);
      if (!wrenches.rotors_loaded()) continue;
      tau_s[rotor.v] -= wrenches.about_axis(static_cast<int>(&rotor - model_.rotors().data()));
    }
    wrenches.take_off(body);
    for (int i = model_.active_body_count(); i > 0; --i) {
      if (support_[i] != 0) body[support_[i]].f += body[i].f;
    }
  }

  /// Composite inertias and their rates, after update().
  void compose() {
    const int n = model_.active_body_count();
    for (int i = 1; i <= n; ++i) {
      BodyState& b = body[i];
      b.IC = b.I;
      b.B = {inertia_rate(b.I, b.v), b.h};
    }
    for (const Rotor& rotor : model_.rotors()) {
      if (rotor.parent == 0) continue;
      body[rotor.parent].B.h.n += scale(motion.qd()[rotor.v], momentum(rotor));
    }
    for (int i = n; i > 0; --i) {
      if (support_[i] == 0) continue;
      BodyState& p = body[support_[i]];
      p.IC += body[i].IC;
      p.B += body[i].B;
    }
  }
  /// Composite inertias alone.
  void compose_inertias() {
    const int n = model_.active_body_count();
    for (int i = 1; i <= n; ++i) body[i].IC = body[i].I;
    for (int i = n; i > 0; --i) {
      if (support_[i] != 0) body[support_[i]].IC += body[i].IC;
    }
  }

  const Model& model() const { return model_; }
  /// Whether a cluster is one body on a joint of constant subspace.
  bool is_plain(const Cluster& c) const { return is_plain_[&c - model_.clusters().data()]; }
  /// The nearest body outside the cluster of body i that carries it.
  int support(int i) const { return support_[i]; }
  const VariationColumn<T>* columns(int i) const { return column.data() + first_column_[i]; }
  VariationColumn<T>* columns(int i) { return column.data() + first_column_[i]; }
  /// Angular momentum of a rotor at unit rate in the common frame; it has no linear part.
  Vec3<T> momentum(const Rotor& rotor) const {
    return transpose_times(body[rotor.parent].X.E, rotor.momentum);
  }
  double armature(int rate) const { return armature_[rate]; }
  const JointForces<T>* joint_forces() const {
    return loads_ == nullptr ? nullptr : loads_->joints;
  }
  /// Acceleration of the ground in the common frame of a body's tree: its linear part is -g.
  Motion<T> ground(int i) const { return {Vec3<T>::zero(), gravity_[root_[i]]}; }
  /// Pose of the common frame of a body's tree in the world (world to common).
  Transform<T> common(int i) const {
    return is_free_root(root_[i]) ? motion.joints.X[root_[i]] : Transform<T>::identity();
  }
  int root(int i) const { return root_[i]; }
  bool is_free_root(int i) const {
    const Body& b = model_.body(i);
    const Cluster& c = model_.clusters()[b.cluster];
    return b.parent == 0 && !c.constrained && c.count == 1 &&
           model_.runs()[b.run].subspace == SubspaceKind::free;
  }
  /// Wrenches of in-cluster subtrees, into `total` from the cluster's first body on; and the forces
  /// of spanning joints tau_s.
  void cluster_forces(const Cluster& c, Force<T>* total) {
    for (int i = c.first; i < c.first + c.count; ++i) total[i - c.first] = body[i].f;
    for (int i = c.first + c.count - 1; i >= c.first; --i) {
      const Body& b = model_.body(i);
      if (b.parent >= c.first) total[b.parent - c.first] += total[i - c.first];
      for (int k = 0; k < b.nv; ++k) {
        tau_s[b.v + k] =
            dot(S[b.v + k], total[i - c.first]) + armature_[b.v + k] * motion.qdd()[b.v + k];
      }
    }
    const JointForces<T>* joints = joint_forces();
    if (joints == nullptr) return;
    for (int k = c.spanning_v; k < c.spanning_v + c.spanning_nv; ++k) tau_s[k] -= joints->force[k];
    for (int k = c.rotor_v; k < c.rotor_v + c.rotors; ++k) tau_s[k] -= joints->force[k];
  }
  int most_columns() const { return most_columns_; }

  SpanningVariation<T> motion;
  std::vector<BodyState> body;
  std::vector<Motion<T>> S;                ///< per spanning rate, common frame
  std::vector<VariationColumn<T>> column;  ///< per body and coordinate of its cluster
  std::vector<T> tau_s;                    ///< forces on spanning rates
  PlacedWrenches<T> wrenches;

 private:
  /// Pose of body i in the common frame, and its subspace there.
  void place(int i, const Vec3<T>& up) {
    const Body& b = model_.body(i);
    BodyState& s = body[i];
    if (b.parent == 0 && is_free_root(i)) {
      s.X = Transform<T>::identity();
      gravity_[i] = motion.joints.X[i].E * up;
      for (int k = 0; k < 6; ++k) {
        S[b.v + k] = Motion<T>::zero();
        S[b.v + k][k] = T(1.0);
      }
      return;
    }
    if (b.parent == 0) {
      s.X = motion.joints.X[i];
      gravity_[i] = up;
    } else {
      s.X = motion.joints.X[i] * body[b.parent].X;
    }
    with_subspace(model_.runs()[b.run], [&](auto ops) {
      using Ops = decltype(ops);
      for (int k = 0; k < Ops::n; ++k) {
        if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
          S[b.v] = {s.X.E.row[2], cross(s.X.r, s.X.E.row[2])};
        } else if constexpr (std::is_same_v<Ops, SubspaceOps<PrismaticAxes>>) {
          S[b.v] = {Vec3<T>::zero(), s.X.E.row[2]};
        } else {
          S[b.v + k] = s.X.inverse_times(Ops::column(motion.joints.S.data() + b.v, k));
        }
      }
    });
  }

  void move_plain(const Cluster& c, int i) {
    const Body& b = model_.body(i);
    const Motion<T>& v = body[b.parent].v;
    BodyState& s = body[i];
    s.v = v;
    for (int k = 0; k < c.nv; ++k) s.v += scale(motion.qd()[b.v + k], S[b.v + k]);
    if (skip_columns_) return;
    VariationColumn<T>* to = columns(i);
    for (int k = 0; k < c.nv; ++k) {
      to[k].S = S[b.v + k];
      to[k].psi1 = cross(v, to[k].S);
      to[k].ups = to[k].psi1 + (c.nv == 1 ? to[k].psi1 : cross(s.v, to[k].S));
    }
  }
  void accelerate_plain(int i, const T* qdd) {
    const Body& b = model_.body(i);
    const BodyState& p = body[b.parent];
    const Motion<T> a = b.parent == 0 ? ground(i) : p.a;
    BodyState& s = body[i];
    s.a = a + cross(p.v, s.v);
    VariationColumn<T>* to = columns(i);
    for (int k = 0; k < b.nv; ++k) {
      s.a += scale(qdd[b.v + k], S[b.v + k]);
      if (skip_columns_) continue;
      to[k].psi2 = cross(a, to[k].S) + cross(p.v, to[k].psi1);
    }
  }
  /// Entry of G, V, W or P for rate `rate` of body b and coordinate k; 1 or 0 where nothing ties.
  static T entry(const Cluster& c, const T* matrix, int rate, int k) {
    return matrix[c.row(rate) * c.nv + k];
  }
  T G(const Cluster& c, int rate, int k) const {
    if (!c.constrained) return T(rate - c.spanning_v == k ? 1.0 : 0.0);
    return entry(c, motion.G(c), rate, k);
  }

  /// (13.5), and for joints whose subspace varies what follows from S'.
  void move(const Cluster& c, int i) {
    const Body& b = model_.body(i);
    const bool inside = b.parent >= c.first, varies = motion.varies(c);
    const Motion<T>& v = body[b.parent].v;
    BodyState& s = body[i];
    s.vJ = Motion<T>::zero();
    for (int k = 0; k < b.nv; ++k) s.vJ += scale(motion.qd()[b.v + k], S[b.v + k]);
    s.v = v + s.vJ;
    if (skip_columns_) return;
    for (int k = 0; k < c.nv; ++k) {
      VariationColumn<T>& to = columns(i)[k];
      Motion<T> SG = Motion<T>::zero(), SV = SG, SW = SG;
      T* x = joint_columns_.data();
      for (int j = 0; j < b.nv; ++j) {
        x[j] = G(c, b.v + j, k);
        SG += scale(x[j], S[b.v + j]);
        if (!varies) continue;
        SV += scale(entry(c, motion.V(c), b.v + j, k), S[b.v + j]);
        SW += scale(entry(c, motion.W(c), b.v + j, k), S[b.v + j]);
      }
      if (motion.subspace_varies(i)) {
        std::array<Motion<T>, 6> dS;
        Motion<T> dbias;
        motion.vary_joint(i, x, zero_.data(), dS.data(), dbias);
        for (int j = 0; j < b.nv; ++j) {
          SV += scale(motion.qd()[b.v + j], s.X.inverse_times(dS[j]));
        }
        motion.vary_joint(i, zero_.data(), x, dS.data(), dbias);
        SW += s.X.inverse_times(dbias);
      }
      const Motion<T> v_SG = cross(v, SG);
      to.S = SG;
      to.psi1 = v_SG + SV;
      to.ups = v_SG + cross(s.v, SG) + SW;
      if (!inside) continue;
      const VariationColumn<T>& from = columns(b.parent)[k];
      to.S += from.S, to.psi1 += from.psi1, to.ups += from.ups;
    }
  }
  void accelerate(const Cluster& c, int i, const T* qdd) {
    const Body& b = model_.body(i);
    const bool inside = b.parent >= c.first, varies = motion.varies(c);
    const Motion<T>& v = body[b.parent].v;
    const Motion<T> a = b.parent == 0 ? ground(i) : body[b.parent].a;
    BodyState& s = body[i];
    s.a = a + cross(s.v, s.vJ);
    for (int j = 0; j < b.nv; ++j) s.a += scale(qdd[b.v + j], S[b.v + j]);
    if (model_.runs()[b.run].subspace == SubspaceKind::dense) {
      s.a += s.X.inverse_times(motion.joints.bias[i]);
    }
    if (skip_columns_) return;
    for (int k = 0; k < c.nv; ++k) {
      VariationColumn<T>& to = columns(i)[k];
      Motion<T> SG = Motion<T>::zero(), SV = SG, SP = SG;
      T *x = joint_columns_.data(), *xd = x + b.nv;
      for (int j = 0; j < b.nv; ++j) {
        x[j] = G(c, b.v + j, k), xd[j] = T(0.0);
        SG += scale(x[j], S[b.v + j]);
        if (!varies) continue;
        xd[j] = entry(c, motion.V(c), b.v + j, k);
        SV += scale(xd[j], S[b.v + j]);
        SP += scale(entry(c, motion.P(c), b.v + j, k), S[b.v + j]);
      }
      if (motion.subspace_varies(i)) {
        std::array<Motion<T>, 6> dS;
        Motion<T> dbias;
        motion.vary_joint(i, x, xd, dS.data(), dbias);
        for (int j = 0; j < b.nv; ++j) {
          const Motion<T> dSj = s.X.inverse_times(dS[j]);
          SV += scale(motion.qd()[b.v + j], dSj);
          SP += scale(qdd[b.v + j], dSj);
        }
        SP += s.X.inverse_times(dbias);
      }
      to.psi2 = cross(a, SG) + cross(v, cross(v, SG) + SV) + cross(s.v, SV) + SP;
      if (inside) to.psi2 += columns(b.parent)[k].psi2;
    }
  }

  const Model& model_;
  const Loads<T>* loads_ = nullptr;
  std::vector<int> support_, first_column_, root_;
  std::vector<bool> is_plain_;
  std::vector<double> armature_;
  std::vector<T> zero_, joint_columns_;
  std::vector<Vec3<T>> gravity_;  ///< per root: acceleration of the ground, -g, common frame
  bool skip_columns_;
  int most_columns_ = 0;
};

}  // namespace espalier
