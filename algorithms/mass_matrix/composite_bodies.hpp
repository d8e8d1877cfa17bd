#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/free_body.hpp"
#include "espalier/kernel/model/spanning_motion.hpp"
#include "espalier/kernel/model/subspace.hpp"

namespace espalier {

/// Joint-space inertia matrix by the composite-rigid-body algorithm, on trees and cluster trees.
/// Cost: O(n d), d the depth of the tree.
/// Source: Featherstone (2008), Table 6.2; SPEC 5.4 (clusters, folded rotors), of whose sums only
/// the part that inertia takes is needed here.
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
template <class T>
class CompositeBodies {
 public:
  /// Independent: clusters as they are. Spanning: as if nothing tied the bodies, folded rotors
  /// being bodies, too.
  enum class Rates { independent, spanning };

  CompositeBodies(const Model& model, Rates rates)
      : model_(model), size_(rates == Rates::spanning ? model.spanning_nv() : model.nv()) {
    if (rates == Rates::spanning) {
      for (int i = 1; i <= model.body_count(); ++i) {
        nodes_.push_back({nullptr, i, 1, model.body(i).v, model.body(i).nv, {}, 0});
      }
    } else {
      for (const Cluster& c : model.clusters()) {
        nodes_.push_back({c.constrained ? &c : nullptr, c.first, c.count, c.v, c.nv, {}, 0});
      }
    }
    lay_out(rates);
  }

  /// @param motion  updated at the position, with rotors placed if the rates are spanning ones
  /// @param[out] M  symmetric, full storage
  void compute(const SpanningMotion<T>& motion, T* M) {
    const TreeKinematics<T>& joints = motion.joints;
    if (root_ > 0) place_root();
    for (const Stretch& s : stretches_) {
      if (s.run == nullptr) {
        place_cluster(nodes_[s.begin], motion);
      } else {
        with_subspace(*s.run, [&](auto ops) {
          for (int n = s.begin; n < s.end; ++n) place_body<decltype(ops)>(nodes_[n], joints);
        });
      }
    }
    if (sparse_) std::fill(M, M + static_cast<long>(size_) * size_, T(0.0));
    for (std::size_t k = stretches_.size(); k-- > 0;) {
      const Stretch& s = stretches_[k];
      if (s.run == nullptr) {
        add_cluster(nodes_[s.begin], motion.G(*nodes_[s.begin].cluster), M);
      } else {
        with_subspace(*s.run, [&](auto ops) {
          for (int n = s.end; n-- > s.begin;) add_body<decltype(ops)>(nodes_[n], joints, M);
        });
      }
    }
    if (root_ > 0) add_root(M);
    if (sparse_) {
      for (const Node& node : nodes_) mirror_node(node, M);
    } else {
      mirror(M);
    }
  }

 private:
  /// Columns of ancestors that lie side by side in memory and in M.
  struct Range {
    int column, rate, count;
  };
  struct Way {
    int output = 0;             ///< body; 0: the ground, which takes nothing
    bool root = false;          ///< it ends at the floating root
    std::vector<Range> ranges;  ///< by growing rates, the root's left out
  };
  /// A plain body, or a cluster.
  struct Node {
    const Cluster* cluster;  ///< null for a plain body
    int first, count;
    int v, nv;  ///< rates in M
    std::vector<Way> ways;
    int J = 0;  ///< of a cluster: where the J of its bodies about their origins start
  };
  /// Plain bodies of one run that follow each other, or (no run) one cluster.
  struct Stretch {
    const BodyRun* run;
    int begin, end;  ///< nodes
  };
  struct BodyState {
    RigidInertia<double> inertia;  // body axes
    int parent = 0;
    int rate = 0;          // spanning rate at which its joint starts
    int output = 0;        // nearest supporting body outside of the node
    int way = 0;           // that begins there
    int column = -1;       // of its J about the first body; -1: nothing hangs on it
    Mat3<T> E;             // world to body axes
    Vec3<T> step;          // from the parent's origin to the body's
    Vec3<T> r;             // from the output body's origin to the body's
    Vec3<T> x;             // from the first body's origin to the body's
    RigidInertia<T> Ic;
  };

  void lay_out(Rates rates) {
    const int bodies =
        rates == Rates::spanning ? model_.body_count() : model_.active_body_count();
    body_.resize(bodies + 1);
    armature_.assign(model_.spanning_nv(), 0.0);
    for (const auto& [rate, inertia] : model_.armature()) armature_[rate] = inertia;
    body_[0].E = Mat3<T>::identity();
    body_[0].x = Vec3<T>::zero();
    std::vector<int> node_of(bodies + 1, -1);
    root_ = floating_root(model_, bodies);
    for (std::size_t n = root_ > 0 ? 1 : 0; n < nodes_.size(); ++n) {
      add_stretch(static_cast<int>(n));
    }
    int J = 0;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      Node& node = nodes_[n];
      for (int i = node.first; i < node.first + node.count; ++i) {
        BodyState& b = body_[i];
        node_of[i] = static_cast<int>(n);
        b.inertia = rates == Rates::spanning ? model_.body(i).inertia : model_.folded_inertia(i);
        b.parent = model_.body(i).parent;
        b.rate = model_.body(i).v;
        b.output = b.parent >= node.first ? body_[b.parent].output : b.parent;
        // Room for J of every plain body, so that columns of chains stay contiguous.
        if (node.cluster == nullptr && i != root_) b.column = next_column(node.nv);
        b.way = way_to(node, b.output);
      }
      if (node.cluster == nullptr) continue;
      node.J = J;
      J += node.count * node.nv;
      for (int r = 0; r < node.cluster->rotors; ++r) {
        const int carrier = model_.rotors()[node.cluster->rotor + r].carrier;
        if (carrier < node.first) way_to(node, carrier);
      }
    }
    // What do the ways meet?
    long entries = 0;
    for (Node& node : nodes_) {
      for (Way& way : node.ways) {
        for (int i = way.output; i != 0; i = body_[i].output) {
          if (i == root_) {
            way.root = true;
            entries += 6L * node.nv;
            continue;
          }
          const Node& met = nodes_[node_of[i]];
          if (body_[i].column < 0) body_[i].column = next_column(met.nv);
          way.ranges.push_back({body_[i].column, met.v, met.nv});
        }
        std::reverse(way.ranges.begin(), way.ranges.end());
        merge(way.ranges);
        for (const Range& range : way.ranges) entries += static_cast<long>(node.nv) * range.count;
      }
    }
    sparse_ = 8 * entries < static_cast<long>(size_) * size_;
    J_.assign(static_cast<std::size_t>(6) * columns_, T(0.0));
    local_.resize(J);
    F_.resize(6);
    for (const Node& node : nodes_) {
      F_.resize(std::max(F_.size(), node.ways.size() * static_cast<std::size_t>(node.nv)));
    }
  }
  void add_stretch(int node) {
    const bool cluster = nodes_[node].cluster != nullptr;
    const BodyRun* run =
        cluster ? nullptr : &model_.runs()[model_.body(nodes_[node].first).run];
    if (!cluster && !stretches_.empty() && stretches_.back().run == run) {
      ++stretches_.back().end;
    } else {
      stretches_.push_back({run, node, node + 1});
    }
  }
  int next_column(int count) {
    columns_ += count;
    return columns_ - count;
  }
  static int way_to(Node& node, int output) {
    for (std::size_t w = 0; w < node.ways.size(); ++w) {
      if (node.ways[w].output == output) return static_cast<int>(w);
    }
    node.ways.push_back({output, false, {}});
    return static_cast<int>(node.ways.size()) - 1;
  }
  static void merge(std::vector<Range>& ranges) {
    std::vector<Range> merged;
    for (const Range& r : ranges) {
      if (!merged.empty()) {
        Range& last = merged.back();
        if (last.column + last.count == r.column && last.rate + last.count == r.rate) {
          last.count += r.count;
          continue;
        }
      }
      merged.push_back(r);
    }
    ranges = std::move(merged);
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
  void place_root() {
    BodyState& b = body_[root_];
    b.E = Mat3<T>::identity();
    b.x = b.r = Vec3<T>::zero();
    b.Ic = {T(b.inertia.m), Vec3<T>::from(b.inertia.h), Sym3<T>::from(b.inertia.I)};
  }
  template <class Ops>
  void place_body(const Node& node, const TreeKinematics<T>& joints) {
    const int i = node.first;
    BodyState& b = body_[i];
    place(b, joints.X[i]);
    const Motion<T>* S = joints.S.data() + b.rate;
    for (int k = 0; k < Ops::n; ++k) store_column(b.column + k, column<Ops>(b, S, k), b.x);
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
    for (int j = 0; j < n; ++j) store_column(b.column + j, J[j], b.x);
  }

  /// A body's composite inertia is all there: into its output body.
  void hand_on(const BodyState& b) {
    if (b.output == 0) return;
    RigidInertia<T>& o = body_[b.output].Ic;
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
      write_row(node.ways[0], F, node.v, row);
    }
    hand_on(b);
  }

  /// Lower triangle of the root's block.
  void add_root(T* M) const {
    const RigidInertia<T>& I = body_[root_].Ic;
    const Vec3<T>& h = I.h;
    const T zero = T(0.0);
    const T rows[6][6] = {{I.I.xx},
                          {I.I.xy, I.I.yy},
                          {I.I.xz, I.I.yz, I.I.zz},
                          {zero, h.z, -h.y, I.m},
                          {-h.z, zero, h.x, zero, I.m},
                          {h.y, -h.x, zero, zero, zero, I.m}};
    for (int k = 0; k < 6; ++k) {
      T* row = M + static_cast<long>(k) * size_;
      std::copy_n(rows[k], k + 1, row);
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
      hand_on(b);
    }
    for (int r = 0; r < c.rotors; ++r) {
      add_rotor(node, model_.rotors()[c.rotor + r], G + (c.spanning_nv + r) * n, M);
    }
    for (std::size_t w = 0; w < node.ways.size(); ++w) {
      for (int j = 0; j < n; ++j) {
        add_row(node.ways[w], F_[w * n + j], M + static_cast<long>(node.v + j) * size_);
      }
    }
  }

  void add_rotor(const Node& node, const Rotor& rotor, const T* rho, T* M) {
    const int n = node.nv;
    add_square(node, T(rotor.inertia), rho, M);
    const BodyState& carrier = body_[rotor.carrier];
    const Vec3<T> k = transpose_times(carrier.E, rotor.momentum);
    const bool inside = rotor.carrier >= node.first;
    int way = carrier.way;
    if (inside) {
      const Motion<T>* J =
          local_.data() + node.J + static_cast<std::size_t>(rotor.carrier - node.first) * n;
      for (int j = 0; j < n; ++j) {
        T* row = M + static_cast<long>(node.v + j) * size_ + node.v;
        for (int l = 0; l <= j; ++l) row[l] += rho[j] * dot(J[l].w, k) + rho[l] * dot(J[j].w, k);
      }
    } else {
      for (way = 0; node.ways[way].output != rotor.carrier;) ++way;
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

  /// A motion at x, kept as one about the first body's origin.
  void store_column(int column, const Motion<T>& m, const Vec3<T>& x) {
    const Vec3<T> v = m.v + cross(x, m.w);
    T* J = J_.data() + column;
    const long n = columns_;
    J[0] = m.w.x, J[n] = m.w.y, J[2 * n] = m.w.z;
    J[3 * n] = v.x, J[4 * n] = v.y, J[5 * n] = v.z;
  }

  /// J^T F for the columns of a range, `take` for each.
  template <class Take>
  void meet(const Range& range, const Force<T>& F, Take&& take) const {
    const long n = columns_;
    const T* J = J_.data() + range.column;
    for (int k = 0; k < range.count; ++k) {
      take(range.rate + k, J[k] * F.n.x + J[n + k] * F.n.y + J[2 * n + k] * F.n.z +
                               J[3 * n + k] * F.f.x + J[4 * n + k] * F.f.y + J[5 * n + k] * F.f.z);
    }
  }
  /// Row of M up to `end`: zero where no ancestor is.
  void write_row(const Way& way, const Force<T>& F, int end, T* __restrict row) const {
    int next = 0;
    if (way.root) {
      row[0] = F.n.x, row[1] = F.n.y, row[2] = F.n.z;
      row[3] = F.f.x, row[4] = F.f.y, row[5] = F.f.z;
      next = 6;
    }
    for (const Range& range : way.ranges) {
      if (!sparse_) std::fill(row + next, row + range.rate, T(0.0));
      meet(range, F, [&](int rate, const T& x) { row[rate] = x; });
      next = range.rate + range.count;
    }
    if (!sparse_) std::fill(row + next, row + end, T(0.0));
  }
  void add_row(const Way& way, const Force<T>& F, T* __restrict row) const {
    if (way.root) {
      row[0] += F.n.x, row[1] += F.n.y, row[2] += F.n.z;
      row[3] += F.f.x, row[4] += F.f.y, row[5] += F.f.z;
    }
    for (const Range& range : way.ranges) {
      meet(range, F, [&](int rate, const T& x) { row[rate] += x; });
    }
  }

  /// Copies a node's rows to its columns where they are not zero.
  void mirror_node(const Node& node, T* M) const {
    const long n = size_;
    for (int i = node.v; i < node.v + node.nv; ++i) {
      const T* row = M + i * n;
      for (const Way& way : node.ways) {
        if (way.root) {
          for (int j = 0; j < 6; ++j) M[j * n + i] = row[j];
        }
        for (const Range& range : way.ranges) {
          for (int j = range.rate; j < range.rate + range.count; ++j) M[j * n + i] = row[j];
        }
      }
      for (int j = node.v; j < i; ++j) M[j * n + i] = row[j];
    }
  }

  /// Copies the lower triangle to the upper one, in blocks that stay in the cache.
  void mirror(T* M) const {
    constexpr int block = 16;
    const long n = size_;
    for (long I = 0; I < n; I += block) {
      const long i_end = std::min(n, I + block);
      for (long J = 0; J <= I; J += block) {
        for (long i = I; i < i_end; ++i) {
          const long j_end = std::min(i, J + block);
          for (long j = J; j < j_end; ++j) M[j * n + i] = M[i * n + j];
        }
      }
    }
  }

  const Model& model_;
  int size_, columns_ = 0;
  int root_ = 0;                   ///< floating_root(); its node is the first
  bool sparse_ = false;            ///< most of M is zero
  std::vector<Node> nodes_;
  std::vector<Stretch> stretches_;
  std::vector<BodyState> body_;
  std::vector<double> armature_;   ///< per spanning rate
  std::vector<T> J_;               ///< 6 rows of columns about the first body's origin
  std::vector<Motion<T>> local_;   ///< J of clusters' bodies about their origins
  std::vector<Force<T>> F_;        ///< of one cluster, per way and rate
};

}  // namespace espalier
