#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "algorithms/segments/articulated_bodies.hpp"
#include "algorithms/linear_algebra/small_ldlt.hpp"
#include "algorithms/segments/multi_support_cluster.hpp"

namespace espalier {

/// Articulated inertias of a tree or cluster tree at one position, and the two ways through it:
/// rows on the twists of bodies (wrenches) go inward, motions that answer forces go outward. All
/// methods for J M^-1 J^T and M^-1 B are made of these two.
///
/// Each cluster of the model is a node; a body that no loop ties is a cluster of its own. The twist
/// of body b of a node is that of its output body, shifted by x, and J_b times the node's rates.
/// With Moq (here U) and Mqq (here D) of theory/clusters 5.4,
///   rows K on body b:  Kq = K J_b,  Ko = K shifted;  handed on to the output: Ko - (Kq D^-1) U^T
///   motion a of the output:  rates = z - D^-1 U^T a  with z = D^-1 (forces on the rates)
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
class ArticulatedTree : public ArticulatedBodies<T> {
  using Base = ArticulatedBodies<T>;

 public:
  using typename Base::Kind, typename Base::Node, typename Base::V;

  /// @param links   if given, the robot is the approximate one of these links
  /// @param rotors  folded rotors (bodies) that rows speak of
  /// @param chains  if given, their bodies are left to the caller, whose inertias arrive by
  ///                add_inertia()
  explicit ArticulatedTree(const Model& model, const LinkTree* links = nullptr,
                           std::span<const int> rotors = {}, const ChainPlan* chains = nullptr)
      : Base(model, links,
             rotors.empty() ? SpanningMotion<T>::Rotors::skip : SpanningMotion<T>::Rotors::place,
             chains),
        zero_(model.nv(), T(0.0)) {
    for (std::size_t c = 0; c < model.clusters().size(); ++c) add_node(model.clusters()[c]);
    for (const int rotor : rotors) add_rotor_site(rotor);
    for (MultiSupportCluster<T>& w : multi_support_) w.connect(multi_support_);
    this->arrange();
    U_.resize(U_size_);
    D_.resize(D_size_);
    L_.resize(L_size_);
  }

  /// Articulated inertias at a position; all that follows speaks of the last one.
  void update(const T* q) {
    place(q);
    for (std::size_t k = this->order().size(); k-- > 0;) backward_pass(this->order()[k]);
  }
  /// The same in two parts, so that a caller may take rows through a node right after its inertia:
  /// attitudes of all bodies and rigid inertias,
  void place(const T* q) {
    this->place_bodies(q);
    for (const RotorSite& site : rotor_sites_) {
      this->place_body(body_[site.rotor->body], motion_.joints.X[site.rotor->body]);
    }
  }
  /// articulated inertias of what hangs on a body and is none of the tree's,
  void add_inertia(int body, const ArticulatedInertia<T>& IA) { body_[body].IA += IA; }
  const ArticulatedInertia<T>& articulated_inertia(int body) const { return body_[body].IA; }
  /// and, in reversed order(), the articulated inertia of a node.
  void backward_pass(int index) {
    const Node& node = nodes_[index];
    if (node.group >= 0) {
      this->backward_chain(index);
    } else {
      backward_alone(node);
    }
    for (const RotorSite& site : rotor_sites_) {
      if (body_[site.rotor->body].node == index) move_rotor(site);
    }
  }

  /// Takes rows through a node.
  /// @param sites     bodies of the node that the rows speak of
  /// @param K         rows as wrenches about the bodies' origins: sites x blocks
  /// @param[out] Kq   rows times J: n x blocks
  /// @param[out] z    Kq D^-1: n x blocks
  /// @param[out] out  rows on the supports: supports x blocks; may be K where both are single
  /// @param extra     if given, is added to Kq: forces on the rates (from_rates()), n x blocks
  void inward(const Node& node, std::span<const int> sites, int blocks, const Force<V>* K, V* Kq,
              V* z, Force<V>* out, const V* extra = nullptr) const {
    if (node.kind == Kind::revolute && extra == nullptr && sites.size() == 1 &&
        sites[0] == node.body) {
      return inward_one<SubspaceOps<RevoluteAxes>>(node, blocks, K, Kq, z, out);
    }
    const int n = node.n;
    for (int j = 0; j < n; ++j) {
      V* Kq_j = Kq + j * blocks;
      for (int b = 0; b < blocks; ++b) Kq_j[b] = extra == nullptr ? V(0.0) : extra[j * blocks + b];
      for (std::size_t s = 0; s < sites.size(); ++s) {
        const Motion<T>& J = columns_[body_[sites[s]].J + j];
        for (int b = 0; b < blocks; ++b) Kq_j[b] += dot(J, K[s * blocks + b]);
      }
      for (int b = 0; b < blocks; ++b) z[j * blocks + b] = D_[node.D + j] * Kq_j[b];
    }
    for (std::size_t o = 0; o < node.supports.size(); ++o) {
      for (int b = 0; b < blocks; ++b) {
        Force<V> sum = Force<V>::zero();
        for (std::size_t s = 0; s < sites.size(); ++s) {
          const BodyState& site = body_[sites[s]];
          if (site.output != static_cast<int>(o)) continue;
          const Force<V>& f = K[s * blocks + b];
          sum += Force<V>{f.n + cross(site.x, f.f), f.f};
        }
        for (int j = 0; j < n; ++j) sum -= scale(z[j * blocks + b], U_[node.U + o * n + j]);
        out[o * blocks + b] = sum;
      }
    }
  }

  /// Rates of a node whose supports move by a.
  /// @param a            supports x blocks
  /// @param[in,out] eta  n x blocks: D^-1 times the forces on the rates; then the rates
  void outward(const Node& node, int blocks, const Motion<V>* a, V* eta) const {
    for (std::size_t o = 0; o < node.supports.size(); ++o) {
      for (int j = 0; j < node.n; ++j) {
        const Force<T> U = scale(D_[node.D + j], U_[node.U + o * node.n + j]);
        for (int b = 0; b < blocks; ++b) eta[j * blocks + b] -= dot(a[o * blocks + b], U);
      }
    }
  }

  /// How a body of a node moves. @param[out] out  blocks
  void motion_of(const Node& node, int body, int blocks, const Motion<V>* a, const V* eta,
                 Motion<V>* out) const {
    const BodyState& site = body_[body];
    for (int b = 0; b < blocks; ++b) {
      Motion<V> m = Motion<V>::zero();
      if (site.output >= 0) {
        const Motion<V>& o = a[site.output * blocks + b];
        m = {o.w, o.v + cross(o.w, site.x)};
      }
      for (int j = 0; j < node.n; ++j) m += scale(eta[j * blocks + b], columns_[site.J + j]);
      out[b] = m;
    }
  }

  /// The model's rates of a node from those used here, in place. @param x  n x blocks
  void to_rates(const Node& node, int blocks, V* x) const {
    const int n = node.n;
    const T* L = L_.data() + node.L;
    for (int i = n - 1; i > 0; --i) {
      for (int k = 0; k < i; ++k) {
        for (int b = 0; b < blocks; ++b) x[k * blocks + b] -= L[i * n + k] * x[i * blocks + b];
      }
    }
    if (node.kind == Kind::free) {
      turn(blocks, x, [&](const Vec3<V>& v) { return body_[node.body].E * v; });
    }
  }
  /// Forces on the rates used here from those on the model's, in place. @param x  n x blocks
  void from_rates(const Node& node, int blocks, V* x) const {
    if (node.kind == Kind::free) {
      turn(blocks, x, [&](const Vec3<V>& v) { return transpose_times(body_[node.body].E, v); });
    }
    const int n = node.n;
    const T* L = L_.data() + node.L;
    for (int i = 1; i < n; ++i) {
      for (int k = 0; k < i; ++k) {
        for (int b = 0; b < blocks; ++b) x[i * blocks + b] -= L[i * n + k] * x[k * blocks + b];
      }
    }
  }
  /// Of a node of one rate and one output: D^-1, and U as the output sees it.
  const T& D(const Node& node) const { return D_[node.D]; }
  const Force<T>& U(const Node& node) const { return U_[node.U]; }
  /// From the origin of a body's output to that of the body.
  const Vec3<T>& offset(int body) const { return body_[body].x; }
  /// Most rates that a node has.
  int largest_node() const { return largest_; }

 private:
  using typename Base::BodyState;

  /// A folded rotor that rows speak of.
  struct RotorSite {
    const Rotor* rotor;
    const Cluster* cluster;
    int row;  ///< of G
  };

  using Base::armature_, Base::body_, Base::columns_, Base::D_, Base::links_, Base::model_,
      Base::motion_, Base::nodes_, Base::U_;

  // --- layout -----------------------------------------------------------------------------------

  void add_node(const Cluster& c) {
    std::vector<int> bodies;  // that are not welded to others
    for (int i = c.first; i < c.first + c.count; ++i) {
      if (links_ == nullptr || !links_->welded[i]) bodies.push_back(i);
    }
    Node node;
    node.cluster = &c;
    node.v = c.v, node.n = c.nv;
    const bool multi_support = c.constrained && (c.supports.size() > 1 || has_multi_support_child(c));
    if (multi_support) {
      node.kind = Kind::multi_support;
      multi_support_of_.resize(nodes_.size() + 1, -1);
      multi_support_of_[nodes_.size()] = static_cast<int>(multi_support_.size());
      multi_support_.emplace_back(model_, c);
    } else if (is_joint(c, bodies)) {
      node.body = bodies[0];
      node.kind = kind_of(bodies[0]);
    } else {
      node.kind = Kind::cluster;
    }
    for (const int o : c.supports) {
      if (o != 0) node.supports.push_back(o);
    }
    if (!node.supports.empty()) node.parent = body_[node.supports[0]].node;
    node.U = U_size_, node.D = D_size_, node.L = L_size_;
    U_size_ += std::max(1, static_cast<int>(node.supports.size())) * node.n;
    D_size_ += node.n;
    if (node.n > 1) L_size_ += node.n * node.n;
    largest_ = std::max(largest_, node.n);
    if (node.kind == Kind::revolute || node.kind == Kind::prismatic) add_reflected(node);
    const int index = static_cast<int>(nodes_.size());
    for (const int i : bodies) {
      BodyState& b = body_[i];
      b.node = index;
      b.output = b.parent >= c.first ? body_[b.parent].output : slot(node, b.parent);
      b.J = model_.body(i).v;
      if (multi_support || node.kind == Kind::cluster) add_columns(b, node.n);
    }
    nodes_.push_back(std::move(node));
  }

  /// Armature and rotors on the rate of a joint of one.
  void add_reflected(Node& node) const {
    const Cluster& c = *node.cluster;
    node.inertia = armature_[model_.body(node.body).v];
    if (links_ != nullptr) {
      node.inertia += links_->armature[c.v];
      return;
    }
    node.gears = c.rotors;
    for (int k = 0; k < c.rotors; ++k) {
      const double rho = c.G[c.spanning_nv + k];
      node.inertia += rho * rho * model_.rotors()[c.rotor + k].inertia;
    }
  }
  void add_columns(BodyState& b, int n) {
    b.J = static_cast<int>(columns_.size());
    columns_.resize(columns_.size() + n);
  }
  static int slot(const Node& node, int body) {
    const auto at = std::find(node.supports.begin(), node.supports.end(), body);
    return at == node.supports.end() ? -1 : static_cast<int>(at - node.supports.begin());
  }
  bool has_multi_support_child(const Cluster& c) const {
    const auto all = model_.clusters();
    return std::any_of(all.begin(), all.end(), [&](const Cluster& child) {
      return child.supports.size() > 1 && child.parent >= 0 && &all[child.parent] == &c;
    });
  }
  /// One body whose rates are the independent ones, all rotors on its parent.
  bool is_joint(const Cluster& c, const std::vector<int>& bodies) const {
    if (!c.constrained) return true;
    if (bodies.size() != 1 || c.constraint != nullptr) return false;
    const Body& body = model_.body(bodies[0]);
    if (body.nv != c.nv || body.parent >= c.first) return false;
    for (int i = 0; i < c.nv; ++i) {
      for (int j = 0; j < c.nv; ++j) {
        if (c.G[(c.row(body.v) + i) * c.nv + j] != (i == j ? 1.0 : 0.0)) return false;
      }
    }
    const auto rotors = model_.rotors().subspan(c.rotor, c.rotors);
    return links_ != nullptr ||
           (c.nv == 1 && std::all_of(rotors.begin(), rotors.end(), [&](const Rotor& r) {
              return r.parent == body.parent;
            }));
  }
  Kind kind_of(int body) const {
    const Body& b = model_.body(body);
    switch (model_.runs()[b.run].subspace) {
      case SubspaceKind::revolute_z: return Kind::revolute;
      case SubspaceKind::prismatic_z: return Kind::prismatic;
      case SubspaceKind::free:
        return b.parent == 0 && std::all_of(armature_.begin() + b.v,
                                            armature_.begin() + b.v + b.nv,
                                            [](double a) { return a == 0.0; })
                   ? Kind::free
                   : Kind::joint;
      default: return Kind::joint;
    }
  }
  void add_rotor_site(int body) {
    for (const Cluster& c : model_.clusters()) {
      for (int k = 0; k < c.rotors; ++k) {
        const Rotor& rotor = model_.rotors()[c.rotor + k];
        if (rotor.body != body) continue;
        BodyState& b = body_[body];
        b.parent = rotor.parent;
        b.node = static_cast<int>(&c - model_.clusters().data());
        b.output = b.parent >= c.first && b.parent < c.first + c.count
                       ? body_[b.parent].output
                       : slot(nodes_[b.node], b.parent);
        add_columns(b, c.nv);
        rotor_sites_.push_back({&rotor, &c, c.spanning_nv + k});
      }
    }
  }

  // --- rotors that rows speak of ----------------------------------------------------------------

  /// Columns of a rotor, after those of its parent.
  void move_rotor(const RotorSite& site) {
    BodyState& b = body_[site.rotor->body];
    const BodyState& p = body_[b.parent];
    const int n = site.cluster->nv;
    const T* rho = motion_.G(*site.cluster) + site.row * n;
    const bool inside = b.parent >= site.cluster->first;
    if (inside) b.x = p.x + b.r;
    Motion<T>* J = columns_.data() + b.J;
    for (int j = 0; j < n; ++j) J[j] = {scale(rho[j], b.E.row[2]), Vec3<T>::zero()};
    change_rates(nodes_[b.node], J);
    for (int j = 0; j < n && inside; ++j) J[j] += Base::at(columns_[p.J + j], b.r);
  }

  // --- inward: articulated inertias -------------------------------------------------------------

  void backward_alone(const Node& node) {
    switch (node.kind) {
      case Kind::revolute: backward_one<SubspaceOps<RevoluteAxes>>(node); break;
      case Kind::prismatic: backward_one<SubspaceOps<PrismaticAxes>>(node); break;
      case Kind::free: backward_free(node); break;
      case Kind::joint: backward_joint(node); break;
      case Kind::cluster: backward_cluster(node); break;
      case Kind::multi_support: backward_multi_support(node); break;
    }
  }

  template <class Ops>
  void backward_one(const Node& node) {
    const BodyState& b = body_[node.body];
    const Motion<T>& S = columns_[b.J];
    Force<T> U;
    T D;
    if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
      U = {b.IA.A * S.w, transpose_times(b.IA.B, S.w)};
      D = dot(S.w, U.n);
    } else {
      U = {b.IA.B * S.v, b.IA.C * S.v};
      D = dot(S.v, U.f);
    }
    U.n += cross(b.r, U.f);
    for (int k = 0; k < node.gears; ++k) U.n += this->gear_momentum(*node.cluster, k);
    if (node.inertia != 0.0) D += T(node.inertia);
    const T inverse = T(1.0) / D;
    D_[node.D] = inverse;
    if (node.supports.empty()) return;
    U_[node.U] = U;
    ArticulatedInertia<T> Ia = shifted(b.IA, b.r);
    Ia.subtract_outer(inverse, U);
    body_[b.parent].IA += Ia;
  }
  void backward_free(const Node& node) {
    const ArticulatedInertia<T>& IA = body_[node.body].IA;
    T* L = L_.data() + node.L;
    Motion<T>* J = columns_.data() + body_[node.body].J;
    for (int i = 0; i < 6; ++i) {
      const Force<T> column = IA.column(i);
      for (int k = i; k < 6; ++k) L[k * 6 + i] = column[k];
    }
    factor(node);
    for (int j = 0; j < 6; ++j) {  // the columns of L^-T
      for (int k = 0; k < 6; ++k) J[j][k] = T(k == j ? 1.0 : 0.0);
      for (int l = 0; l < j; ++l) {
        for (int k = 0; k <= l; ++k) J[j][k] -= L[j * 6 + l] * J[l][k];
      }
    }
  }

  void backward_joint(const Node& node) {
    const BodyState& b = body_[node.body];
    const int n = node.n, v = model_.body(node.body).v;
    T* M = n == 1 ? D_.data() + node.D : L_.data() + node.L;
    Force<T>* U = U_.data() + node.U;
    Motion<T>* J = columns_.data() + b.J;
    for (int j = 0; j < n; ++j) {
      U[j] = b.IA * J[j];
      for (int l = j; l < n; ++l) M[l * n + j] = dot(J[l], U[j]);
      double inertia = armature_[v + j];
      if (links_ != nullptr) inertia += links_->armature[node.v + j];
      if (inertia != 0.0) M[j * n + j] += T(inertia);
      U[j].n += cross(b.r, U[j].f);
    }
    factor(node);
    change_rates(node, J);
    if (node.supports.empty()) return;
    change_rates(node, U);
    ArticulatedInertia<T> Ia = shifted(b.IA, b.r);
    take_off(node, Ia);
    body_[b.parent].IA += Ia;
  }
  /// Factors Mqq, which stands in L (in D for one rate), as L D L^T; D holds the inverses.
  void factor(const Node& node) {
    T* D = D_.data() + node.D;
    if (node.n == 1) {
      D[0] = T(1.0) / D[0];
      return;
    }
    T* L = L_.data() + node.L;
    ldlt(L, node.n);
    for (int j = 0; j < node.n; ++j) D[j] = L[j * node.n + j];
  }
  /// n columns for yd become those for eta: X L^-T.
  template <class X>
  void change_rates(const Node& node, X* x) const {
    const T* L = L_.data() + node.L;
    for (int j = 1; j < node.n; ++j) {
      for (int l = 0; l < j; ++l) x[j] += scale(-L[j * node.n + l], x[l]);
    }
  }
  /// Takes U D^-1 U^T off.
  void take_off(const Node& node, ArticulatedInertia<T>& Ia) const {
    for (int j = 0; j < node.n; ++j) Ia.subtract_outer(D_[node.D + j], U_[node.U + j]);
  }

  void backward_cluster(const Node& node) {
    const Cluster& c = *node.cluster;
    const int n = node.n;
    const T* G = motion_.G(c);
    T* D = n == 1 ? D_.data() + node.D : L_.data() + node.L;  // Mqq at first
    Force<T>* U = U_.data() + node.U;
    for (int j = 0; j < n; ++j) {
      U[j] = Force<T>::zero();
      for (int l = 0; l <= j; ++l) D[j * n + l] = T(0.0);
    }
    ArticulatedInertia<T> Ia = ArticulatedInertia<T>::zero();
    for (int i = c.first; i < c.first + c.count; ++i) {
      if (links_ != nullptr && links_->welded[i]) continue;
      BodyState& b = body_[i];
      const Motion<T>* J = place_in_cluster(node, i, G);
      for (int j = 0; j < n; ++j) {
        const Force<T> f = b.IA * J[j];
        for (int l = 0; l <= j; ++l) D[j * n + l] += dot(J[l], f);
        U[j] += Force<T>{f.n + cross(b.x, f.f), f.f};
      }
      const Body& body = model_.body(i);
      for (int k = 0; k < body.nv; ++k) {
        const double armature = armature_[body.v + k];
        if (armature != 0.0) add_square(T(armature), G + (c.row(body.v) + k) * n, n, D);
      }
      if (!node.supports.empty()) Ia += shifted(b.IA, b.x);
    }
    if (links_ != nullptr) {
      for (int j = 0; j < n; ++j) D[j * n + j] += T(links_->armature[c.v + j]);
    } else {
      for (int k = 0; k < c.rotors; ++k) add_rotor(node, k, G, D, U);
    }
    factor(node);
    change_bodies(node);
    if (node.supports.empty()) return;
    change_rates(node, U);
    take_off(node, Ia);
    body_[node.supports[0]].IA += Ia;
  }
  void change_bodies(const Node& node) {
    const Cluster& c = *node.cluster;
    for (int i = c.first; i < c.first + c.count; ++i) {
      if (links_ != nullptr && links_->welded[i]) continue;
      change_rates(node, columns_.data() + body_[i].J);
    }
  }
  /// x and the columns J of a body of a cluster, after those of its parent.
  const Motion<T>* place_in_cluster(const Node& node, int i, const T* G) {
    const Cluster& c = *node.cluster;
    BodyState& b = body_[i];
    const Body& body = model_.body(i);
    const bool inside = b.parent >= c.first;
    const BodyState& p = body_[b.parent];
    if (inside) b.x = p.x + b.r;
    Motion<T>* J = columns_.data() + b.J;
    for (int j = 0; j < node.n; ++j) {
      J[j] = inside ? Base::at(columns_[p.J + j], b.r) : Motion<T>::zero();
      for (int k = 0; k < body.nv; ++k) {
        J[j] += scale(G[(c.row(body.v) + k) * node.n + j], columns_[body.v + k]);
      }
    }
    return J;
  }
  void add_rotor(const Node& node, int k, const T* G, T* D, Force<T>* U) const {
    const Cluster& c = *node.cluster;
    const int n = node.n;
    const Rotor& rotor = model_.rotors()[c.rotor + k];
    const BodyState& parent = body_[rotor.parent];
    const Vec3<T> momentum = transpose_times(parent.E, rotor.momentum);
    const T* rho = G + (c.spanning_nv + k) * n;
    add_square(T(rotor.inertia), rho, n, D);
    const bool inside = rotor.parent >= c.first;
    const Motion<T>* J = columns_.data() + parent.J;
    for (int j = 0; j < n; ++j) {
      U[j].n += scale(rho[j], momentum);
      if (!inside) continue;
      for (int l = 0; l <= j; ++l) {
        D[j * n + l] += rho[j] * dot(J[l].w, momentum) + rho[l] * dot(J[j].w, momentum);
      }
    }
  }

  void backward_multi_support(const Node& node) {
    const Cluster& c = *node.cluster;
    const T* G = motion_.G(c);
    MultiSupportCluster<T>& multi_support = multi_support_[multi_support_of_[&node - nodes_.data()]];
    multi_support.start(zero_.data());
    for (int i = c.first; i < c.first + c.count; ++i) {
      if (links_ != nullptr && links_->welded[i]) continue;
      const BodyState& b = body_[i];
      const Body& body = model_.body(i);
      place_in_cluster(node, i, G);
      multi_support.add_body(i, b.parent, b.r, b.IA, Force<T>::zero(), G, body,
                    [&](int k) { return columns_[body.v + k]; },
                    [&](int k) { return armature_[body.v + k]; });
    }
    if (links_ != nullptr) {
      for (int j = 0; j < c.nv; ++j) multi_support.add_armature(j, T(links_->armature[c.v + j]));
    } else {
      for (int k = 0; k < c.rotors; ++k) {
        const Rotor& rotor = model_.rotors()[c.rotor + k];
        multi_support.add_rotor(rotor, transpose_times(body_[rotor.parent].E, rotor.momentum), T(0.0),
                       G + (c.spanning_nv + k) * c.nv);
      }
    }
    multi_support.eliminate();
    const T* factor = multi_support.factor();
    if (node.n > 1) std::copy_n(factor, node.n * node.n, L_.data() + node.L);
    for (int j = 0; j < node.n; ++j) D_[node.D + j] = factor[j * node.n + j];
    change_bodies(node);
    Force<T> none = Force<T>::zero();
    for (std::size_t o = 0; o < c.supports.size(); ++o) {
      const int at = slot(node, c.supports[o]);
      if (at < 0) continue;
      for (int j = 0; j < node.n; ++j) {
        U_[node.U + at * node.n + j] = multi_support.coupling(static_cast<int>(o), j);
      }
      change_rates(node, U_.data() + node.U + at * node.n);
      multi_support.propagate_to_parent(static_cast<int>(o), body_[c.supports[o]].IA, none);
    }
  }

  /// Turns both halves of six rates.
  template <class Turn>
  static void turn(int blocks, V* x, Turn&& turned) {
    for (int b = 0; b < blocks; ++b) {
      for (int half = 0; half < 6; half += 3) {
        const auto at = [&](int j) -> V& { return x[(half + j) * blocks + b]; };
        const Vec3<V> y = turned(Vec3<V>{at(0), at(1), at(2)});
        at(0) = y.x, at(1) = y.y, at(2) = y.z;
      }
    }
  }

  template <class Ops>
  void inward_one(const Node& node, int blocks, const Force<V>* K, V* Kq, V* z,
                  Force<V>* out) const {
    const BodyState& site = body_[node.body];
    const Vec3<T> S = columns_[site.J].w;
    const T inverse = D_[node.D];
    for (int b = 0; b < blocks; ++b) {
      Kq[b] = dot(S, K[b].n);
      z[b] = inverse * Kq[b];
    }
    if (node.supports.empty()) return;
    const Vec3<T> x = site.x;
    const Force<T> U = U_[node.U];
    for (int b = 0; b < blocks; ++b) {
      const Vec3<V> f = K[b].f;
      out[b].n = K[b].n + cross(x, f) - scale(z[b], U.n);
      out[b].f = f - scale(z[b], U.f);
    }
  }

  std::vector<RotorSite> rotor_sites_;
  std::vector<MultiSupportCluster<T>> multi_support_;
  std::vector<int> multi_support_of_;  ///< per node
  std::vector<T> L_;          ///< factors of nodes of several rates
  std::vector<T> zero_;
  int U_size_ = 0, D_size_ = 0, L_size_ = 0, largest_ = 0;
};

}  // namespace espalier
