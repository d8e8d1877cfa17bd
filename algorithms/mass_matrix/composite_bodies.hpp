#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "algorithms/segments/free_body.hpp"
#include "algorithms/chains/composites.hpp"
#include "algorithms/mass_matrix/ways_inward.hpp"
#include "espalier/kernel/model/spanning_motion.hpp"
#include "espalier/kernel/model/subspace.hpp"

namespace espalier {

/// Joint-space inertia matrix by the composite-rigid-body algorithm, on trees and cluster trees.
/// Cost: O(n d), d the depth of the tree.
/// Source: Featherstone (2008), Table 6.2; theory/clusters 5.4 (clusters, folded rotors), of whose
/// sums only the part that inertia takes is needed here.
///
/// A unit acceleration of an independent rate of cluster c moves its bodies by the columns J_b (the
/// output bodies rest) and what hangs on them rigidly. With Ic_b the composite inertia of body b
/// and of the clusters that hang on it,
///   M(c,c) = sum J_b^T Ic_b J_b,   F_o = sum of Ic_b J_b over the bodies with output body o,
/// and M(c,d) = F_o^T J_a for every body a on the way from o to the ground, d the cluster of a:
/// inside a cluster the way goes from a body to its output body.
/// A folded rotor of axis momentum k, inertia j and row rho of G adds k rho to F and
/// j rho^T rho to M(c,c).
///
/// Frames: world axes; inertias and J at body origins. Where F meets the J of many ancestors, both
/// are taken about the first body of the way, whose columns lie in memory one beside the other.
/// Where all of the robot hangs on one floating body, its axes stand for the world's: its J is the
/// identity, F itself is what its rates meet, and its block of M is its composite inertia.
/// Chains are computed by themselves (chains/composites.hpp). To what they hang on they are rigid
/// bodies; to what hangs on them, the body of theirs that carries it stands for the world.
template <class T>
class CompositeBodies {
 public:
  /// Independent: clusters as they are. Spanning: as if nothing coupled the bodies, folded rotors
  /// being bodies, too.
  enum class Rates { independent, spanning };

  CompositeBodies(const Model& model, Rates rates)
      : model_(model),
        size_(rates == Rates::spanning ? model.spanning_nv() : model.nv()),
        inward_(size_) {
    std::vector<RigidInertia<double>> inertia;  // per body
    if (rates == Rates::spanning) {
      inertia.push_back(model.body(0).inertia);
      for (int i = 1; i <= model.body_count(); ++i) {
        nodes_.push_back({nullptr, i, 1, model.body(i).v, model.body(i).nv, {}});
        inertia.push_back(model.body(i).inertia);
      }
    } else {
      ChainPlan plan = ChainComposites<T>::chains_of(model);
      for (const Cluster& c : model.clusters()) {
        if (plan.chain_of[c.first] >= 0) continue;
        nodes_.push_back({c.constrained ? &c : nullptr, c.first, c.count, c.v, c.nv, {}});
        nodes_.back().level = plan.level[c.first];
      }
      std::stable_sort(nodes_.begin(), nodes_.end(),
                       [](const Node& a, const Node& b) { return a.level < b.level; });
      inertia = plan.inertia;
      if (!plan.chains.empty()) {
        chains_ = std::make_unique<ChainComposites<T>>(model, std::move(plan));
      }
    }
    lay_out(inertia);
  }

  /// Leaves out of a motion, before it is updated, what is not needed here.
  void leave_out_of(SpanningMotion<T>& motion) const {
    if (chains_ != nullptr) motion.leave_out(chains_->whole_runs(), chains_->whole_clusters());
  }

  /// @param q       spanning positions
  /// @param motion  updated at the position, with rotors placed if the rates are spanning ones
  /// @param[out] M  symmetric, full storage
  void compute(const T* q, const SpanningMotion<T>& motion, T* M) {
    const TreeKinematics<T>& joints = motion.joints;
    if (root_ > 0) {
      const RigidInertia<double>& I = body_[root_].inertia;
      body_[root_].Ic = {T(I.m), Vec3<T>::from(I.h), Sym3<T>::from(I.I)};
    }
    for (const Stretch& s : stretches_) {
      if (s.group >= 0) continue;
      if (s.run == nullptr) {
        place_cluster(nodes_[s.begin], motion);
      } else {
        with_subspace(*s.run, [&](auto ops) {
          for (int n = s.begin; n < s.end; ++n) place_body<decltype(ops)>(nodes_[n], joints);
        });
      }
    }
    if (has_zeros_) std::fill(M, M + static_cast<long>(size_) * size_, T(0.0));
    if (chains_ != nullptr) chains_->start(model_, q);
    for (std::size_t k = stretches_.size(); k-- > 0;) {
      const Stretch& s = stretches_[k];
      if (s.group >= 0) {
        chains_->inward(s.group, M, size_, LimbsHangOn{*this, M});
      } else if (s.run == nullptr) {
        add_cluster(nodes_[s.begin], motion.G(*nodes_[s.begin].cluster), M);
      } else {
        with_subspace(*s.run, [&](auto ops) {
          for (int n = s.end; n-- > s.begin;) add_body<decltype(ops)>(nodes_[n], joints, M);
        });
      }
    }
    if (root_ > 0) add_root(M);
    if (sparse_) {
      for (std::size_t n = root_ > 0 ? 1 : 0; n < nodes_.size(); ++n) mirror_node(nodes_[n], M);
    } else {
      inward_.mirror_all(M);
    }
  }

 private:
  using Way = typename WaysInward<T>::Way;

  /// A plain body, or a cluster.
  struct Node {
    const Cluster* cluster;  ///< null for a plain body
    int first, count;
    int v, nv;  ///< rates in M
    std::vector<Way> ways;
    int J = 0;      ///< of a cluster: where the J of its bodies about their origins start
    int level = 0;  ///< as in ChainPlan
  };
  /// Plain bodies of one run that follow each other, or (no run) one cluster, or a group of chains.
  struct Stretch {
    const BodyRun* run;
    int begin, end;  ///< nodes
    int order;       ///< outward, twice the level, one more for chains
    int group = -1;
  };
  struct BodyState {
    RigidInertia<double> inertia;  // body axes
    int parent = 0;
    int rate = 0;     // spanning rate at which its joint starts
    int output = 0;   // nearest supporting body outside of the node
    int way = 0;      // that begins there
    int column = -1;  // of its J about the first body; -1: nothing hangs on it
    Mat3<T> E;        // world to body axes
    Vec3<T> step;     // from the parent's origin to the body's
    Vec3<T> r;        // from the output body's origin to the body's
    Vec3<T> x;        // from the origin of the first body, or what stands for the world
    RigidInertia<T> Ic;
  };

  void lay_out(const std::vector<RigidInertia<double>>& inertia) {
    const int bodies = static_cast<int>(inertia.size()) - 1;
    body_.resize(bodies + 1);
    armature_.assign(model_.spanning_nv(), 0.0);
    for (const auto& [rate, armature] : model_.armature()) armature_[rate] = armature;
    for (int i = 0; i <= bodies; ++i) {  // what stands for the world
      body_[i].E = Mat3<T>::identity();
      body_[i].x = Vec3<T>::zero();
    }
    std::vector<int> node_of(bodies + 1, -1);
    root_ = floating_root(model_, bodies);
    for (std::size_t n = root_ > 0 ? 1 : 0; n < nodes_.size(); ++n) {
      add_stretch(static_cast<int>(n));
    }
    for (int g = 0; chains_ != nullptr && g < chains_->group_count(); ++g) {
      stretches_.push_back({nullptr, 0, 0, 2 * chains_->level(g) + 1, g});
    }
    std::stable_sort(stretches_.begin(), stretches_.end(),
                     [](const Stretch& a, const Stretch& b) { return a.order < b.order; });
    int J = 0;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      Node& node = nodes_[n];
      for (int i = node.first; i < node.first + node.count; ++i) {
        BodyState& b = body_[i];
        node_of[i] = static_cast<int>(n);
        b.inertia = inertia[i];
        b.parent = model_.body(i).parent;
        b.rate = model_.body(i).v;
        b.output = b.parent >= node.first ? body_[b.parent].output : b.parent;
        // Room for J of every plain body, so that columns of chains stay contiguous.
        if (node.cluster == nullptr && i != root_) b.column = inward_.add_columns(node.nv);
        b.way = way_to(node, b.output);
      }
      if (node.cluster == nullptr) continue;
      node.J = J;
      J += node.count * node.nv;
      for (int r = 0; r < node.cluster->rotors; ++r) {
        const int parent = model_.rotors()[node.cluster->rotor + r].parent;
        if (parent < node.first) way_to(node, parent);
      }
    }
    long met = 0;
    for (Node& node : nodes_) {
      for (Way& way : node.ways) met += static_cast<long>(node.nv) * follow(way, node_of);
    }
    sparse_ = chains_ != nullptr || 8 * met < static_cast<long>(size_) * size_;
    if (chains_ != nullptr) {
      for (const Chain& chain : chains_->plan().chains) {
        Way& way = way_of_chain_.emplace_back();
        way.output = chain.parent;
        if (!in_chain(chain.parent)) follow(way, node_of);
      }
    }
    has_zeros_ = sparse_ && !is_chain();
    inward_.lay_out(root_, chains_.get(), sparse_);
    local_.resize(J);
    F_.resize(6);
    for (const Node& node : nodes_) {
      F_.resize(std::max(F_.size(), node.ways.size() * static_cast<std::size_t>(node.nv)));
    }
  }
  bool in_chain(int body) const { return chains_ != nullptr && chains_->contains(body); }
  /// Whether every body moves all that come after it.
  bool is_chain() const {
    for (std::size_t i = 2; i < body_.size(); ++i) {
      if (model_.body(static_cast<int>(i)).parent + 1 != static_cast<int>(i)) return false;
    }
    return true;
  }
  /// Finds what a way meets. @returns how many rates
  int follow(Way& way, const std::vector<int>& node_of) {
    int rates = 0;
    for (int i = way.output; i != 0; i = body_[i].output) {
      if (i == root_ || in_chain(i)) {
        way.end = i;
        rates += 6;
        break;
      }
      const Node& met = nodes_[node_of[i]];
      rates += met.nv;
      if (body_[i].column < 0) body_[i].column = inward_.add_columns(met.nv);
      way.ranges.push_back({body_[i].column, met.v, met.nv});
    }
    WaysInward<T>::join(way);
    return rates;
  }
  void add_stretch(int node) {
    const bool cluster = nodes_[node].cluster != nullptr;
    const BodyRun* run = cluster ? nullptr : &model_.runs()[model_.body(nodes_[node].first).run];
    const int order = 2 * nodes_[node].level;
    if (!cluster && !stretches_.empty() && stretches_.back().run == run &&
        stretches_.back().order == order) {
      ++stretches_.back().end;
    } else {
      stretches_.push_back({run, node, node + 1, order});
    }
  }
  static int way_to(Node& node, int output) {
    for (std::size_t w = 0; w < node.ways.size(); ++w) {
      if (node.ways[w].output == output) return static_cast<int>(w);
    }
    node.ways.push_back({output, 0, {}});
    return static_cast<int>(node.ways.size()) - 1;
  }

  /// Base to tips: attitude, place, inertia in world axes.
  void place(BodyState& b, const Transform<T>& X) {
    const BodyState& p = body_[b.parent];
    b.E = X.E * p.E;
    b.step = transpose_times(p.E, X.r);
    b.x = b.parent == 0 ? Vec3<T>::zero() : p.x + b.step;
    b.r = b.parent == b.output ? b.step : p.r + b.step;
    b.Ic = {T(b.inertia.m), transpose_times(b.E, b.inertia.h), congruence(b.E, b.inertia.I)};
  }
  template <class Ops>
  void place_body(const Node& node, const TreeKinematics<T>& joints) {
    const int i = node.first;
    BodyState& b = body_[i];
    place(b, joints.X[i]);
    const Motion<T>* S = joints.S.data() + b.rate;
    for (int k = 0; k < Ops::n; ++k) inward_.store(b.column + k, column<Ops>(b, S, k), b.x);
  }
  void place_cluster(const Node& node, const SpanningMotion<T>& motion) {
    const T* G = motion.G(*node.cluster);
    for (int i = node.first; i < node.first + node.count; ++i) {
      place(body_[i], motion.joints.X[i]);
      with_subspace(model_.runs()[model_.body(i).run], [&](auto ops) {
        move_columns<decltype(ops)>(node, i, motion.joints.S.data() + body_[i].rate, G);
      });
    }
  }

  /// Column k of a joint's motion subspace, world axes at the body's origin.
  template <class Ops>
  static Motion<T> column(const BodyState& b, const Motion<T>* S, int k) {
    if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
      return {b.E.row[2], Vec3<T>::zero()};
    } else {
      const Motion<T> c = Ops::column(S, k);
      return {transpose_times(b.E, c.w), transpose_times(b.E, c.v)};
    }
  }

  /// J of a cluster's body: that of its parent and what its own joint adds.
  template <class Ops>
  void move_columns(const Node& node, int i, const Motion<T>* S, const T* G) {
    const BodyState& b = body_[i];
    const int n = node.nv;
    Motion<T>* J = local_.data() + node.J + static_cast<std::size_t>(i - node.first) * n;
    if (b.parent == b.output) {
      std::fill(J, J + n, Motion<T>::zero());
    } else {
      const Motion<T>* P = J - static_cast<long>(i - b.parent) * n;
      for (int j = 0; j < n; ++j) J[j] = {P[j].w, P[j].v + cross(P[j].w, b.step)};
    }
    const T* row = G + (b.rate - node.cluster->spanning_v) * n;
    for (int k = 0; k < Ops::n; ++k, row += n) {
      const Motion<T> c = column<Ops>(b, S, k);
      for (int j = 0; j < n; ++j) J[j] += scale(row[j], c);
    }
    if (b.column < 0) return;
    for (int j = 0; j < n; ++j) inward_.store(b.column + j, J[j], b.x);
  }

  /// A body's composite inertia is all there: into its output body.
  void propagate_to_parent(const BodyState& b) {
    if (b.output == 0) return;
    RigidInertia<T>& o = in_chain(b.output) ? chains_->attachment(b.output).composite : body_[b.output].Ic;
    const RigidInertia<T>& I = b.Ic;
    // Steiner, with h seen from the output body's origin: I + (r·h + r·h') 1 - (r h^T + h' r^T).
    const Vec3<T>&r = b.r, &h = I.h;
    const Vec3<T> g = h + scale(I.m, r);
    const T xx = r.x * (h.x + g.x), yy = r.y * (h.y + g.y), zz = r.z * (h.z + g.z);
    o.m += I.m;
    o.h += g;
    o.I.xx += I.I.xx + (yy + zz);
    o.I.yy += I.I.yy + (xx + zz);
    o.I.zz += I.I.zz + (xx + yy);
    o.I.xy += I.I.xy - (r.x * h.y + g.x * r.y);
    o.I.xz += I.I.xz - (r.x * h.z + g.x * r.z);
    o.I.yz += I.I.yz - (r.y * h.z + g.y * r.z);
  }

  /// What takes over what chains hand to plain bodies and clusters.
  struct LimbsHangOn {
    CompositeBodies& all;
    T* M;

    template <class F>
    ESPALIER_ALWAYS_INLINE void with_parent(int chain, F&& f) const {
      const Way& way = all.way_of_chain_[chain];
      BodyState& b = all.body_[way.output];
      if (way.output == all.root_) {
        f(Root{b.Ic, M, all.size_});
      } else {
        f(Parent{all, way, b, M});
      }
    }
  };
  /// Apart from Parent: it takes most, and with less to ask a quadruped takes 0.8 of the time.
  struct Root {
    RigidInertia<T>& Ic;
    T* M;
    long size;

    void operator()(const RigidInertia<T>& I) const { Ic += I; }
    ESPALIER_ALWAYS_INLINE void operator()(int rate, const Force<T>& F) const {
      T *row = M + rate * size, *column = M + rate;
      for (int i = 0; i < 6; ++i) row[i] = column[i * size] = F[i];
    }
  };
  struct Parent {
    CompositeBodies& all;
    const Way& way;
    BodyState& b;
    T* M;

    void operator()(const RigidInertia<T>& I) const {
      b.Ic.m += I.m;
      b.Ic.h += transpose_times(b.E, I.h);
      b.Ic.I += congruence(b.E, I.I);
    }
    void operator()(int rate, const Force<T>& F) const {
      const Vec3<T> f = transpose_times(b.E, F.f);
      all.inward_.write_both(way, {transpose_times(b.E, F.n) + cross(b.x, f), f}, rate, M);
    }
  };

  template <class Ops>
  void add_body(const Node& node, const TreeKinematics<T>& joints, T* M) {
    const int i = node.first;
    const BodyState& b = body_[i];
    Motion<T> S[Ops::n];
    for (int k = 0; k < Ops::n; ++k) {
      S[k] = column<Ops>(b, joints.S.data() + b.rate, k);
      Force<T> U;
      if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
        U = {b.Ic.I * S[k].w, cross(S[k].w, b.Ic.h)};
      } else {
        U = b.Ic * S[k];
      }
      T* row = M + static_cast<long>(node.v + k) * size_;
      for (int l = 0; l <= k; ++l) row[node.v + l] = dot(S[l], U);
      row[node.v + k] += T(armature_[b.rate + k]);
      const Force<T> F{U.n + cross(b.x, U.f), U.f};
      inward_.write_row(node.ways[0], F, node.v + k, node.v, M);
    }
    propagate_to_parent(b);
  }

  /// The root's block.
  void add_root(T* M) const {
    const RigidInertia<T>& I = body_[root_].Ic;
    const Vec3<T>& h = I.h;
    const T zero = T(0.0);
    const T rows[6][6] = {
        {I.I.xx, I.I.xy, I.I.xz, zero, -h.z, h.y}, {I.I.xy, I.I.yy, I.I.yz, h.z, zero, -h.x},
        {I.I.xz, I.I.yz, I.I.zz, -h.y, h.x, zero}, {zero, h.z, -h.y, I.m, zero, zero},
        {-h.z, zero, h.x, zero, I.m, zero},        {h.y, -h.x, zero, zero, zero, I.m}};
    for (int k = 0; k < 6; ++k) {
      T* row = M + static_cast<long>(k) * size_;
      std::copy_n(rows[k], 6, row);
      row[k] += T(armature_[k]);
    }
  }

  void add_cluster(const Node& node, const T* G, T* M) {
    const Cluster& c = *node.cluster;
    const int n = node.nv;
    for (int j = 0; j < n; ++j) {
      T* row = M + static_cast<long>(node.v + j) * size_;
      std::fill(row, row + node.v + j + 1, T(0.0));
    }
    std::fill_n(F_.begin(), node.ways.size() * n, Force<T>::zero());
    for (int i = c.first; i < c.first + c.count; ++i) {
      const BodyState& b = body_[i];
      const Motion<T>* J = local_.data() + node.J + static_cast<std::size_t>(i - c.first) * n;
      Force<T>* F = F_.data() + static_cast<std::size_t>(b.way) * n;
      for (int j = 0; j < n; ++j) {
        const Force<T> U = b.Ic * J[j];
        T* row = M + static_cast<long>(node.v + j) * size_ + node.v;
        for (int l = 0; l <= j; ++l) row[l] += dot(J[l], U);
        F[j] += Force<T>{U.n + cross(b.x, U.f), U.f};
      }
      for (int rate = b.rate; rate < b.rate + model_.body(i).nv; ++rate) {
        if (armature_[rate] == 0.0) continue;
        add_square(node, T(armature_[rate]), G + (rate - c.spanning_v) * n, M);
      }
      propagate_to_parent(b);
    }
    for (int r = 0; r < c.rotors; ++r) {
      add_rotor(node, model_.rotors()[c.rotor + r], G + (c.spanning_nv + r) * n, M);
    }
    for (std::size_t w = 0; w < node.ways.size(); ++w) {
      for (int j = 0; j < n; ++j) {
        inward_.add_row(node.ways[w], F_[w * n + j], node.v + j, M);
      }
    }
  }

  void add_rotor(const Node& node, const Rotor& rotor, const T* rho, T* M) {
    const int n = node.nv;
    add_square(node, T(rotor.inertia), rho, M);
    const BodyState& parent = body_[rotor.parent];
    const Vec3<T> k = transpose_times(parent.E, rotor.momentum);
    const bool inside = rotor.parent >= node.first;
    int way = parent.way;
    if (inside) {
      const Motion<T>* J =
          local_.data() + node.J + static_cast<std::size_t>(rotor.parent - node.first) * n;
      for (int j = 0; j < n; ++j) {
        T* row = M + static_cast<long>(node.v + j) * size_ + node.v;
        for (int l = 0; l <= j; ++l) row[l] += rho[j] * dot(J[l].w, k) + rho[l] * dot(J[j].w, k);
      }
    } else {
      for (way = 0; node.ways[way].output != rotor.parent;) ++way;
    }
    for (int j = 0; j < n; ++j) F_[static_cast<std::size_t>(way) * n + j].n += scale(rho[j], k);
  }

  void add_square(const Node& node, const T& s, const T* rho, T* M) {
    for (int j = 0; j < node.nv; ++j) {
      T* row = M + static_cast<long>(node.v + j) * size_ + node.v;
      const T t = s * rho[j];
      for (int l = 0; l <= j; ++l) row[l] += t * rho[l];
    }
  }

  /// Copies a node's rows to its columns where they are not zero.
  void mirror_node(const Node& node, T* M) const {
    const long n = size_;
    for (int i = node.v; i < node.v + node.nv; ++i) {
      const T* row = M + i * n;
      for (const Way& way : node.ways) inward_.mirror(way, i, M);
      for (int j = node.v; j < i; ++j) M[j * n + i] = row[j];
    }
  }

  const Model& model_;
  int size_;
  int root_ = 0;            ///< floating_root(); its node is the first
  bool sparse_ = false;     ///< only what is not zero is written after M is zeroed,
  bool has_zeros_ = false;  ///< if anything of it is zero
  std::unique_ptr<ChainComposites<T>> chains_;  ///< null if there are none
  WaysInward<T> inward_;
  std::vector<Way> way_of_chain_;  ///< that starts from its parent
  std::vector<Node> nodes_;
  std::vector<Stretch> stretches_;
  std::vector<BodyState> body_;
  std::vector<double> armature_;  ///< per spanning rate
  std::vector<Motion<T>> local_;  ///< J of clusters' bodies about their origins
  std::vector<Force<T>> F_;       ///< of one cluster, per way and rate
};

}  // namespace espalier
