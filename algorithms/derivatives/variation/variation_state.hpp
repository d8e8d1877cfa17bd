#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/model/spanning_variation.hpp"
#include "espalier/kernel/model/subspace.hpp"
#include "espalier/kernel/problems/derivatives.hpp"

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

/// A body along one coordinate of its own cluster.
template <class T>
struct VariationColumn {
  Motion<T> S;     ///< Theta: its twist per unit of the coordinate
  Motion<T> psi1;  ///< relative variation of its velocity along the coordinate
  Motion<T> psi2;  ///< the same of its acceleration, plus v × psi1
  Motion<T> ups;   ///< that of its acceleration along the coordinate's rate, plus v × S
};

/// Rate of a moving body's inertia, and its momentum (of rotors folded into it, too): what the
/// relative variation of its wrench reads, Bhat of (11.1) in twelve numbers.
template <class T>
struct InertiaRate {
  Sym3<T> J;   ///< rate of the rotational inertia
  Force<T> h;  ///< momentum

  /// Bhat x for the angular part x of a motion.
  Force<T> times(const Vec3<T>& x) const {
    const Vec3<T> f = cross(x, h.f);
    return {J * x + cross(x, h.n), f + f};
  }
  /// Bhat^T s, which has no linear part.
  Vec3<T> transpose_times(const Motion<T>& s) const {
    const Vec3<T> n = cross(h.f, s.v);
    return J * s.w + cross(h.n, s.w) + (n + n);
  }
  InertiaRate& operator+=(const InertiaRate& b) {
    J += b.J, h += b.h;
    return *this;
  }
};

/// d/dt of the rotational inertia of a body about a point fixed in space (11.1).
template <class T>
inline Sym3<T> inertia_rate(const RigidInertia<T>& I, const Motion<T>& v) {
  const Vec3<T>&w = v.w, &u = v.v, &h = I.h;
  const Vec3<T> x = cross(w, Vec3<T>{I.I.xx, I.I.xy, I.I.xz});
  const Vec3<T> y = cross(w, Vec3<T>{I.I.xy, I.I.yy, I.I.yz});
  const Vec3<T> z = cross(w, Vec3<T>{I.I.xz, I.I.yz, I.I.zz});
  const T hx = h.x * u.x, hy = h.y * u.y, hz = h.z * u.z;
  return {T(2.0) * (x.x + (hy + hz)),     x.y + y.x - (h.x * u.y + h.y * u.x),
          x.z + z.x - (h.x * u.z + h.z * u.x), T(2.0) * (y.y + (hx + hz)),
          y.z + z.y - (h.y * u.z + h.z * u.y), T(2.0) * (z.z + (hx + hy))};
}

/// Relative variation of the external wrenches on a body by its twist (E of section 14): 6 x 6.
template <class T>
struct WrenchVariation {
  Mat3<T> nw, nv, fw;  ///< by the angular and linear part; forces never by the linear one

  static WrenchVariation zero() { return {Mat3<T>::zero(), Mat3<T>::zero(), Mat3<T>::zero()}; }
  Force<T> times(const Motion<T>& s) const { return {nw * s.w + nv * s.v, fw * s.w}; }
  Motion<T> transpose_times(const Motion<T>& s) const {
    return {espalier::transpose_times(nw, s.w) + espalier::transpose_times(fw, s.v),
            espalier::transpose_times(nv, s.w)};
  }
  WrenchVariation& operator+=(const WrenchVariation& b) {
    nw = nw + b.nw, nv = nv + b.nv, fw = fw + b.fw;
    return *this;
  }
};

template <class T>
class VariationState {
 public:
  struct BodyState {
    Transform<T> X;       ///< common frame to body
    Motion<T> v, vJ, a;   ///< vJ: of the joint; a with gravity
    RigidInertia<T> I;    ///< with folded rotors
    Force<T> h;           ///< momentum without that of the rotors' spin
    Force<T> f;           ///< wrench that it needs, with all that hangs on it outside its cluster
    RigidInertia<T> IC;   ///< the same of inertias
    InertiaRate<T> B;     ///< the same
  };

  enum class Columns { needed, skip };  ///< whether columns are computed

  explicit VariationState(const Model& model, Columns columns_wanted = Columns::needed)
      : motion(model),
        body(model.body_count() + 1),
        S(model.spanning_nv()),
        tau_s(model.spanning_nv(), T(0.0)),
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
    rotor_wrench_.resize(model.rotors().size());
    wrench_.reserve(model.body_count()), wrench_body_.reserve(model.body_count());
    gravity_.resize(model.body_count() + 1);
    E.assign(model.body_count() + 1, WrenchVariation<T>::zero());
    own_E = E;
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
    wrench_.clear(), wrench_body_.clear();
    wrenches_vary_ = rotors_loaded_ = false;
    if (loads != nullptr) place_wrenches();
  }

  /// Takes memory for more wrenches than one per body.
  void reserve_wrenches(std::size_t more) {
    wrench_.reserve(wrench_.capacity() + more), wrench_body_.reserve(wrench_.capacity() + more);
  }
  /// More wrenches, after update().
  void apply(const FramedWrenches<T>& more) { place_framed(more); }

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
      if (rotors_loaded_) tau_s[rotor.v] -= rotor_wrench_[&rotor - model_.rotors().data()].about;
    }
    for (std::size_t k = 0; k < wrench_.size(); ++k) body[wrench_body_[k]].f -= wrench_[k];
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
  const JointForces<T>* joint_forces() const { return loads_ == nullptr ? nullptr : loads_->joints; }
  /// How the external wrench on a folded rotor varies as the rotor turns, on its parent; it is
  /// constant in the rotor's axes.
  bool rotors_loaded() const { return rotors_loaded_; }
  const Force<T>& turned_wrench(int rotor) const { return rotor_wrench_[rotor].by_turn; }
  /// Whether E differs from zero anywhere.
  bool wrenches_vary() const { return wrenches_vary_; }
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
        tau_s[b.v + k] = dot(S[b.v + k], total[i - c.first]) +
                         armature_[b.v + k] * motion.qdd()[b.v + k];
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
  /// Of bodies' wrenches and of composites, where wrenches_vary().
  std::vector<WrenchVariation<T>> own_E, E;

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

  /// External wrenches in the common frame, and E.
  void place_wrenches() {
    if (loads_->wrenches != nullptr) {
      const Wrenches<T>& on = *loads_->wrenches;
      for (int i = 1; i <= model_.active_body_count(); ++i) {
        add_wrench(i, body[i].X.transpose_times_force(on[i]));
      }
      place_rotor_wrenches(on);
    }
    if (loads_->framed != nullptr) place_framed(*loads_->framed);
  }
  /// Wrenches in the axes of folded rotors act on their parents and, about the axis, on the rate.
  void place_rotor_wrenches(const Wrenches<T>& on) {
    if (model_.rotors().empty()) return;
    for (const BodyRun& run : model_.runs().subspan(model_.active_runs().size())) {
      motion.joints.update(run, motion.q(), nullptr);
    }
    rotors_loaded_ = true;
    for (std::size_t r = 0; r < model_.rotors().size(); ++r) {
      const Rotor& rotor = model_.rotors()[r];
      const Transform<T> X = motion.joints.X[rotor.body] * body[rotor.parent].X;
      const Force<T> f = X.transpose_times_force(on[rotor.body]);
      const Motion<T> axis = X.inverse_times(
          Motion<T>{{T(0.0), T(0.0), T(1.0)}, Vec3<T>::zero()});
      rotor_wrench_[r] = {on[rotor.body].n.z, cross_star(axis, f)};
      if (rotor.parent != 0) add_wrench(rotor.parent, f);
    }
  }
  void place_framed(const FramedWrenches<T>& framed) {
    for (const auto& item : framed.items()) {
      if (item.body > model_.active_body_count()) refuse_rotor(item.body);
      if (item.body == 0) continue;
      if (item.frame == WrenchFrame::link) {
        add_wrench(item.body, body[item.body].X.transpose_times_force(item.wrench));
        continue;
      }
      if (!wrenches_vary_) std::fill(own_E.begin(), own_E.end(), WrenchVariation<T>::zero());
      wrenches_vary_ = true;
      const Transform<T> X = common(item.body);
      WrenchVariation<T> e = WrenchVariation<T>::zero();
      if (item.frame == WrenchFrame::world) {
        const Force<T> W = X.force_to(item.wrench);
        add_wrench(item.body, W);
        // s ×* W
        e.nw = Mat3<T>::zero() - cross_matrix(W.n);
        e.nv = e.fw = Mat3<T>::zero() - cross_matrix(W.f);
      } else {
        const Vec3<T> n = X.E * item.wrench.n, f = X.E * item.wrench.f;
        const Transform<T>& place = body[item.body].X;
        const Vec3<T> x = place.r + transpose_times(place.E, item.point);
        add_wrench(item.body, {n + cross(x, f), f});
        e.fw = Mat3<T>::zero() - cross_matrix(f);
        e.nw = cross_matrix(x) * e.fw - cross_matrix(n);
      }
      own_E[item.body] += e;
    }
    if (!wrenches_vary_) return;
    std::copy(own_E.begin(), own_E.end(), E.begin());
    for (int i = model_.active_body_count(); i > 0; --i) {
      if (support_[i] != 0) E[support_[i]] += E[i];
    }
  }
  void add_wrench(int i, const Force<T>& f) { wrench_.push_back(f), wrench_body_.push_back(i); }
  [[noreturn]] void refuse_rotor(int i) const {
    throw Unsupported("derivatives: an external wrench is on the rotor '" +
                      model_.body_names()[i] +
                      "', which is folded into its parent, expected none (compile the model with "
                      "its rotors kept as bodies)");
  }

  const Model& model_;
  const Loads<T>* loads_ = nullptr;
  std::vector<int> support_, first_column_, root_;
  std::vector<bool> is_plain_;
  std::vector<double> armature_;
  std::vector<T> zero_, joint_columns_;
  std::vector<Vec3<T>> gravity_;  ///< per root: acceleration of the ground, -g, common frame
  std::vector<Force<T>> wrench_;
  std::vector<int> wrench_body_;
  struct RotorWrench {
    T about;          ///< moment about the axis
    Force<T> by_turn;  ///< axis x* wrench, common frame
  };
  std::vector<RotorWrench> rotor_wrench_;  ///< where rotors_loaded_
  bool wrenches_vary_ = false, rotors_loaded_ = false, skip_columns_;
  int most_columns_ = 0;
};

}  // namespace espalier
