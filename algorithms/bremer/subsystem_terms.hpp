#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "algorithms/bremer/subsystem_tree.hpp"
#include "algorithms/segments/articulated/joint_supplied_dynamics.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"

namespace espalier {

/// The equations of each subsystem for itself, at one state:
///   dy_i^T (M_i yd_i + h_i - B_i u_i) = 0   for all i together,
///   y_i = T_ip y_p + F_i qd_i,   yd_i = T_ip yd_p + F_i qdd_i + c_i,   F_i = [0; 1].
/// Gravity, velocity terms and external wrenches are in h_i; yd_i is the plain derivative of y_i.
///
/// Each body of a subsystem moves by v_b = Z_b y_i and a_b = Z_b yd_i + xi_b. Z_b = [Xo_b, J_b] is
/// a transform from its supporting body and columns for the rates on its way from there:
///   Xo_b = X_b Xo_parent,   J_b = X_b J_parent + S_b G_b,
///   xi_b = X_b xi_parent + S_b g_b + (dS_b/dt) qd + v_b x s_b,
/// from Xo = 1, xi = 0 at the supporting bodies, and
///   M = sum Z_b^T I_b Z_b,   h = sum Z_b^T (I_b (xi_b - g) + v_b x* I_b v_b - f_b).
/// T_ip consists of the Z_b of the supporting bodies as the parent sees them, c_i of their xi_b.
///
/// A folded rotor of axis momentum k, spin inertia J and row rho of G, on a parent with Z_o,
/// counts as welded to it and adds, omega = rho qd being its spin,
///   M: Z_o^T k rho + (...)^T + J rho^T rho,
///   h: Z_o^T (k g + w_o x k omega) + rho^T (k . xi_o + J g).
/// Armature is the same without k. A joint with equations of its own, for y_own = (twist of the
/// parent body, its rates) = Z y_i, adds Z^T M_own Z and Z^T (M_own yd_own + h_own).
///
/// Frames: each body's own, angular above linear; the twists in y_i may be those of links instead.
/// Source: theory/template 2 (instance C), theory/clusters 5.2 and 5.4.
template <class T>
class SubsystemTerms {
 public:
  /// Frames of the supporting bodies' twists: the bodies' own, or those of their first links, which
  /// people know.
  enum class Frames { bodies, links };

  explicit SubsystemTerms(const SubsystemTree& tree, Frames frames = Frames::bodies)
      : tree_(tree),
        model_(tree.model()),
        motion_(model_, SpanningMotion<T>::Rotors::skip),
        v_(model_.body_count() + 1, Motion<T>::zero()),
        gravity_(model_.body_count() + 1),
        joint_velocity_(model_.body_count() + 1),
        S_(model_.spanning_nv()),
        armature_(model_.spanning_nv(), 0.0),
        Xo_(tree.sites()),
        J_(tree.columns(), Motion<T>::zero()),
        xi_(tree.sites(), Motion<T>::zero()),
        own_(model_) {
    for (const auto& [rate, inertia] : model_.armature()) armature_[rate] = inertia;
    for (const Rotor& rotor : model_.rotors()) armature_[rotor.v] = 0.0;  // part of its inertia
    for (const SubsystemTree::Node& node : tree.nodes()) {
      M_.emplace_back(static_cast<std::size_t>(node.size()) * node.size());
      h_.emplace_back(node.size());
      for (std::size_t o = 0; o < node.supports.size(); ++o) {
        const Transform<double> X = frames == Frames::links ? tree.link_frame(node.supports[o])
                                                            : Transform<double>::identity();
        Xo_[node.sites[o].index] = Transform<T>::from(X.inverse());
      }
    }
    std::size_t widest = 0;
    for (const SubsystemTree::Node& node : tree.nodes()) {
      for (const SubsystemTree::Site& site : node.sites) {
        if (site.has_equations) widest = std::max(widest, 6 + 7 * site.columns.size());
      }
    }
    own_columns_.reserve(widest);
    for (const BodyRun& run : model_.active_runs()) {  // columns that never change
      with_subspace(run, [&](auto ops) {
        if constexpr (!decltype(ops)::dense) {
          for (int i = 0; i < run.count * decltype(ops)::n; ++i) {
            S_[run.v + i] = decltype(ops)::column(S_.data(), i % decltype(ops)::n);
          }
        }
      });
    }
  }

  /// @param gravity   world axes [m/s²]
  /// @param wrenches  on bodies, or nullptr
  void update(const T* q, const T* v, const Vec3<double>& gravity, const Wrenches<T>* wrenches) {
    motion_.update(q, v);
    if (wrenches != nullptr) motion_.place_rotors(q);
    gravity_[0] = Vec3<T>::from(gravity);
    for (const BodyRun& run : model_.active_runs()) forward_pass(run);
    for (std::size_t i = 0; i < tree_.nodes().size(); ++i) {
      const SubsystemTree::Node& node = tree_.nodes()[i];
      std::fill(M_[i].begin(), M_[i].end(), T(0.0));
      std::fill(h_[i].begin(), h_[i].end(), T(0.0));
      const int index = static_cast<int>(i);
      for (const SubsystemTree::Site& site : node.sites) {
        if (site.parent >= 0) {
          place(node, site);
          add_body(index, site, wrenches);
        } else if (site.has_inertia()) {  // rotors on it
          add_body(index, site, nullptr);
        }
      }
      for (const SubsystemTree::Site& site : node.sites) {
        if (site.parent >= 0 && site.has_equations) add_equations(index, site, q);
      }
      for (std::size_t k = 0; k < node.clusters.size(); ++k) add_armature(node, k, i);
      for (const SubsystemTree::Spin& spin : node.spins) add_spin(node, spin, wrenches, i);
    }
  }

  /// M += Z^T I Z, h += Z^T f: what hangs on a site, as a body of inertia I that needs the wrench f
  /// at yd = 0.
  template <class Inertia>
  void add(int node, const SubsystemTree::Site& site, const Inertia& I, const Force<T>& f) {
    const int size = tree_.nodes()[node].size(), o = 6 * site.support;
    const Transform<T>& Xo = Xo_[site.index];
    const Motion<T>* J = J_.data() + site.first;
    T* M = M_[node].data();
    add_block(congruence(Xo, I), M + o * size + o, size);
    for (std::size_t k = 0; k < site.columns.size(); ++k) {
      const Force<T> U = I * J[k], Uo = Xo.transpose_times_force(U);
      T* row = M + site.columns[k] * size;
      for (int r = 0; r < 6; ++r) row[o + r] += Uo[r];
      for (std::size_t l = 0; l <= k; ++l) row[site.columns[l]] += dot(J[l], U);
    }
    push_site(site, f, h_[node].data());
  }

  /// Lower triangle of M_i, size x size, row-major; callers may change it until the next update.
  T* M(int node) { return M_[node].data(); }
  const T* M(int node) const { return M_[node].data(); }
  T* h(int node) { return h_[node].data(); }
  const T* h(int node) const { return h_[node].data(); }
  /// Z of a site: its transform, its columns for rates, and any of its 6 + rates columns with the
  /// index in y that it belongs to.
  const Transform<T>& Xo(const SubsystemTree::Site& site) const { return Xo_[site.index]; }
  const Motion<T>* J(const SubsystemTree::Site& site) const { return J_.data() + site.first; }
  Motion<T> column(const SubsystemTree::Site& site, int k) const {
    if (k >= 6) return J_[site.first + k - 6];
    Motion<double> unit = Motion<double>::zero();
    unit[k] = 1.0;
    return Xo_[site.index] * unit;
  }
  static int columns(const SubsystemTree::Site& site) {
    return 6 + static_cast<int>(site.columns.size());
  }
  static int index(const SubsystemTree::Site& site, int k) {
    return k < 6 ? 6 * site.support + k : site.columns[k - 6];
  }
  /// Acceleration of a site at yd = 0.
  const Motion<T>& xi(const SubsystemTree::Site& site) const { return xi_[site.index]; }

  /// out += Z^T f: forces on y of the subsystem `node` that a wrench on one of its bodies or folded
  /// rotors makes. @param f  body frame, about its origin
  void apply_wrench(int node, int body, const Force<T>& f, T* out) const {
    if (body <= model_.active_body_count()) {
      return push_site(tree_.nodes()[node].sites[tree_.place(body).site], f, out);
    }
    for (const SubsystemTree::Spin& spin : tree_.nodes()[node].spins) {
      if (model_.rotors()[spin.rotor].body == body) apply_rotor_wrench(node, spin, f, out);
    }
  }
  /// What joints and constraints said.
  SpanningMotion<T>& motion() { return motion_; }
  const SpanningMotion<T>& motion() const { return motion_; }
  /// Row of a cluster's G, nv numbers; for a cluster that nothing ties, see Cluster::constrained.
  const T* row(const Cluster& c, int r) const { return motion_.G(c) + r * c.nv; }

 private:
  /// Velocities, and gravity in body axes.
  void forward_pass(const BodyRun& run) {
    const TreeKinematics<T>& joints = motion_.joints;
    with_subspace(run, [&](auto ops) {
      using Ops = decltype(ops);
      if constexpr (Ops::dense) {
        std::copy_n(joints.S.data() + run.v, run.count * Ops::n, S_.data() + run.v);
      }
      for (int k = 0; k < run.count; ++k) {
        const int i = run.first + k, parent = model_.body(i).parent;
        const Transform<T>& X = joints.X[i];
        Motion<T>& s = joint_velocity_[i];
        s = Motion<T>::zero();
        Ops::add(s, joints.S.data() + run.v + k * Ops::n, motion_.qd() + run.v + k * Ops::n);
        v_[i] = parent == 0 ? s : X * v_[parent] + s;
        gravity_[i] = X.E * gravity_[parent];
      }
    });
  }

  /// Z and xi of a body from those of its parent.
  void place(const SubsystemTree::Node& node, const SubsystemTree::Site& site) {
    const Body& body = model_.body(site.body);
    const Cluster& c = model_.clusters()[body.cluster];
    const Transform<T>& X = motion_.joints.X[site.body];
    const SubsystemTree::Site& parent = node.sites[site.parent];
    const std::size_t inherited = parent.columns.size();
    Xo_[site.index] = X * Xo_[parent.index];
    Motion<T>* J = J_.data() + site.first;
    for (std::size_t k = 0; k < site.columns.size(); ++k) {
      J[k] = k < inherited ? X * J_[parent.first + k] : Motion<T>::zero();
    }
    Motion<T>* own = J + site.cluster_column;
    for (int r = 0; r < body.nv; ++r) {
      const Motion<T>& S = S_[body.v + r];
      if (!c.constrained) {
        own[body.v - c.spanning_v + r] = S;
        continue;
      }
      const T* rho = row(c, body.v - c.spanning_v + r);
      for (int j = 0; j < c.nv; ++j) own[j] += scale(rho[j], S);
    }
    Motion<T>& a = xi_[site.index];
    a = X * xi_[parent.index] + cross(v_[site.body], joint_velocity_[site.body]);
    if (model_.runs()[body.run].subspace == SubspaceKind::dense) {
      a += motion_.joints.bias[site.body];
    }
    if (c.constraint == nullptr || motion_.g() == nullptr) return;
    for (int r = 0; r < body.nv; ++r) a += scale(motion_.g()[body.v + r], S_[body.v + r]);
  }

  void add_body(int node, const SubsystemTree::Site& site, const Wrenches<T>* wrenches) {
    const Motion<T>&v = v_[site.body], &xi = xi_[site.index];
    Force<T> f = site.inertia * Motion<T>{xi.w, xi.v - gravity_[site.body]} +
                 cross_star(v, site.inertia * v);
    if (wrenches != nullptr) f -= (*wrenches)[site.body];
    add(node, site, site.inertia, f);
  }
  /// What the joint of a site says besides.
  void add_equations(int i, const SubsystemTree::Site& site, const T* q) {
    const SubsystemTree::Node& node = tree_.nodes()[i];
    const SubsystemTree::Site& parent = node.sites[site.parent];
    const Body& body = model_.body(site.body);
    const Cluster& c = model_.clusters()[body.cluster];
    const Motion<T>&v = v_[parent.body], &xi = xi_[parent.index];
    const T* g = motion_.g();
    own_.update(site.body, q, motion_.qd(), v.w);
    own_.accelerate(xi.w, xi.v + cross(v.w, v.v) - gravity_[parent.body],
                    g == nullptr ? nullptr : g + body.v);

    own_columns_.clear();  // of Z, each with its index in y
    for (int k = 0; k < columns(parent); ++k) {
      OwnColumn& z = new_column(index(parent, k));
      const Motion<T> m = column(parent, k);
      for (int r = 0; r < 6; ++r) z.z[r] = m[r];
    }
    const int start = site.columns[site.cluster_column];
    for (int r = 0; r < body.nv; ++r) {
      const int rate = body.v - c.spanning_v + r;
      for (int j = 0; j < c.nv; ++j) {
        if (!c.constrained && j != rate) continue;
        OwnColumn& z = new_column(start + j);
        z.z[6 + r] = c.constrained ? row(c, rate)[j] : T(1.0);
      }
    }
    const int size = node.size();
    for (const OwnColumn& a : own_columns_) {
      T F[12];
      for (int r = 0; r < own_.size(); ++r) {
        F[r] = T(0.0);
        for (int k = 0; k < own_.size(); ++k) F[r] += own_.M()[r * own_.size() + k] * a.z[k];
        h_[i][a.index] += a.z[r] * own_.f()[r];
      }
      for (const OwnColumn& b : own_columns_) {
        if (b.index < a.index) continue;
        T& entry = M_[i][b.index * size + a.index];
        for (int r = 0; r < own_.size(); ++r) entry += b.z[r] * F[r];
      }
    }
  }
  /// Zero, in own_columns_.
  auto& new_column(int index) {
    own_columns_.emplace_back();
    own_columns_.back().index = index;
    own_columns_.back().z.fill(T(0.0));
    return own_columns_.back();
  }
  void push_site(const SubsystemTree::Site& site, const Force<T>& f, T* out) const {
    const Motion<T>* J = J_.data() + site.first;
    const Force<T> fo = Xo_[site.index].transpose_times_force(f);
    for (int r = 0; r < 6; ++r) out[6 * site.support + r] += fo[r];
    for (std::size_t k = 0; k < site.columns.size(); ++k) out[site.columns[k]] += dot(J[k], f);
  }
  /// Lower triangle of a 6 x 6 block.
  static void add_block(const RigidInertia<T>& I, T* M, int size) {
    add_block(ArticulatedInertia<T>::from(I), M, size);
  }
  static void add_block(const ArticulatedInertia<T>& I, T* M, int size) {
    for (int k = 0; k < 6; ++k) {
      const Force<T> column = I.column(k);
      for (int r = k; r < 6; ++r) M[r * size + k] += column[r];
    }
  }

  void add_armature(const SubsystemTree::Node& node, std::size_t k, std::size_t i) {
    const Cluster& c = model_.clusters()[node.clusters[k]];
    for (int r = 0; r < c.spanning_nv; ++r) {
      const double inertia = armature_[c.spanning_v + r];
      if (inertia == 0.0) continue;
      if (!c.constrained) {
        const int at = node.starts[k] + r;
        M_[i][at * node.size() + at] += T(inertia);
        continue;
      }
      const bool bent = c.constraint != nullptr && motion_.g() != nullptr;
      add_rate(node, i, node.starts[k], c, r, inertia,
               bent ? inertia * motion_.g()[c.spanning_v + r] : T(0.0));
    }
  }
  /// M += inertia rho^T rho, h += rho^T tau on the rates of a cluster.
  void add_rate(const SubsystemTree::Node& node, std::size_t i, int start, const Cluster& c, int r,
                double inertia, const T& tau) {
    const T* rho = row(c, r);
    const int size = node.size();
    for (int j = 0; j < c.nv; ++j) {
      const T t = inertia * rho[j];
      T* row = M_[i].data() + (start + j) * size + start;
      for (int l = 0; l <= j; ++l) row[l] += t * rho[l];
      h_[i][start + j] += rho[j] * tau;
    }
  }

  void add_spin(const SubsystemTree::Node& node, const SubsystemTree::Spin& spin,
                const Wrenches<T>* wrenches, std::size_t i) {
    const Rotor& rotor = model_.rotors()[spin.rotor];
    const Cluster& c = cluster_of(rotor);
    const SubsystemTree::Site& parent = node.sites[spin.parent];
    const T* rho = row(c, spin.row);
    const Vec3<T> k = Vec3<T>::from(rotor.momentum);
    const int size = node.size();
    T* M = M_[i].data();
    const Force<T> ko = Xo_[parent.index].transpose_times_force(Force<T>{k, Vec3<T>::zero()});
    for (int a = 0; a < columns(parent); ++a) {
      const int l = index(parent, a);
      const T along = a < 6 ? ko[a] : dot(J_[parent.first + a - 6].w, k);
      for (int j = 0; j < c.nv; ++j) {
        const int at = spin.column + j;
        const T term = rho[j] * along;
        if (l <= at) M[at * size + l] += term;
        if (l >= at) M[l * size + at] += term;  // on the diagonal both
      }
    }
    T tau = dot(xi_[parent.index].w, k);
    Vec3<T> n = cross(v_[parent.body].w, scale(motion_.qd()[rotor.v], k));
    if (motion_.g() != nullptr) {
      const T& g = motion_.g()[rotor.v];
      tau += rotor.inertia * g;
      n += scale(g, k);
    }
    add_rate(node, i, spin.column, c, spin.row, rotor.inertia, tau);
    push_site(parent, {n, Vec3<T>::zero()}, h_[i].data());
    if (wrenches != nullptr) {
      apply_rotor_wrench(static_cast<int>(i), spin, -(*wrenches)[rotor.body], h_[i].data());
    }
  }
  /// The parent takes the wrench, and the spin its part about the axis.
  void apply_rotor_wrench(int node, const SubsystemTree::Spin& spin, const Force<T>& f,
                          T* out) const {
    const Rotor& rotor = model_.rotors()[spin.rotor];
    const Cluster& c = cluster_of(rotor);
    const T* rho = row(c, spin.row);
    for (int j = 0; j < c.nv; ++j) out[spin.column + j] += rho[j] * f.n.z;
    push_site(tree_.nodes()[node].sites[spin.parent],
              motion_.joints.X[rotor.body].transpose_times_force(f), out);
  }
  const Cluster& cluster_of(const Rotor& rotor) const {
    return model_.clusters()[model_.body(rotor.body).cluster];
  }

  const SubsystemTree& tree_;
  const Model& model_;
  SpanningMotion<T> motion_;
  std::vector<Motion<T>> v_;               ///< per body
  std::vector<Vec3<T>> gravity_;           ///< per body
  std::vector<Motion<T>> joint_velocity_;  ///< per body: S qd
  std::vector<Motion<T>> S_;               ///< per spanning rate
  std::vector<double> armature_;           ///< per spanning rate
  std::vector<Transform<T>> Xo_;           ///< per site
  std::vector<Motion<T>> J_;               ///< per site and rate that moves it
  std::vector<Motion<T>> xi_;              ///< per site
  std::vector<std::vector<T>> M_, h_;      ///< per subsystem

  struct OwnColumn {
    int index = 0;
    std::array<T, 12> z;
  };
  JointSuppliedDynamics<T> own_;
  std::vector<OwnColumn> own_columns_;
};

}  // namespace espalier
