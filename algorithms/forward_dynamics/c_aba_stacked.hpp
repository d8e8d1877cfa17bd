#pragma once

#include <algorithm>

#include "algorithms/linear_algebra/small_ldlt.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"

namespace espalier {

/// Forward dynamics of a cluster tree by the articulated-body algorithm in stacked form, as it is
/// published: the N bodies of a cluster, rotors included, are one "body" with a twist of 6N numbers
/// and an articulated inertia of 6N x 6N, S_C (6N x nv) is its motion subspace and X_C takes the
/// parent cluster's twist to it. Exact, for any number of supporting bodies; slow, and kept as the
/// reference for the fused form (c_aba.hpp).
/// Frames: each body's own.  Cost: O(N^2) numbers for each cluster.
/// Source: Chignoli et al. (2023), Algorithm 1; theory/template 2 (instance B), theory/clusters 5.2
/// and 5.4.
///
/// Blocks, with b a body and o(b) its supporting body (X_b from o(b)'s frame):
///   S_C: J_b = X J_parent + S_b G_b;  c_C: xi_b = X xi_parent + S_b g_b + v_b x s_b
///   (theory/clusters 5.2) U = M S_C,  D = S_C^T U,  r = tau - S_C^T (h + M c_C) M_P += X_C^T (M -
///   U D^-1 U^T) X_C,  h_P += X_C^T (h + M c_C + U D^-1 r) ydd = D^-1 (r - U^T X_C a_P),  a_C = X_C
///   a_P + c_C + S_C ydd
template <class T>
class CAbaStacked final : public ForwardDynamics<T> {
 public:
  explicit CAbaStacked(ModelPtr model)
      : ForwardDynamics<T>(std::move(model)),
        motion_(this->model()),
        place_(this->model().body_count() + 1),
        armature_(this->model().spanning_nv(), 0.0),
        v_(this->model().body_count() + 1, Motion<T>::zero()),
        x_(this->model().body_count() + 1) {
    const Model& m = this->model();
    for (const auto& [rate, inertia] : m.armature()) armature_[rate] = inertia;
    for (const Cluster& c : m.clusters()) {
      nodes_.emplace_back();
      Node& node = nodes_.back();
      node.cluster = &c;
      for (int i = c.first; i < c.first + c.count; ++i) node.bodies.push_back(i);
      for (int r = 0; r < c.rotors; ++r) node.bodies.push_back(m.rotors()[c.rotor + r].body);
      const int N = static_cast<int>(node.bodies.size());
      for (int k = 0; k < N; ++k) {
        const int body = node.bodies[k], parent = m.body(body).parent;
        const bool inside = parent >= c.first;
        place_[body] = {static_cast<int>(nodes_.size()) - 1, k,
                        inside ? place_[parent].output : parent};
      }
      node.S.resize(static_cast<std::size_t>(N) * c.nv);
      node.U.resize(node.S.size());
      node.c.resize(N), node.h.resize(N), node.a.resize(N);
      node.M.resize(static_cast<std::size_t>(6 * N) * 6 * N);
      node.D.resize(static_cast<std::size_t>(c.nv) * c.nv);
      node.r.resize(c.nv);
      w_.resize(std::max(w_.size(), static_cast<std::size_t>(6 * N) * c.nv));
    }
  }

 private:
  /// Stacked quantities of a cluster. Columns of S and U are stored body by body: those of body k
  /// start at k nv.
  struct Node {
    const Cluster* cluster = nullptr;
    std::vector<int> bodies;
    std::vector<Motion<T>> S, c, a;
    std::vector<Force<T>> U, h;
    std::vector<T> M;  ///< 6N x 6N, row-major
    std::vector<T> D, r;
    T* row(int k, int i) { return M.data() + (6L * k + i) * 6 * static_cast<long>(bodies.size()); }
  };
  struct Place {
    int node = -1;   ///< cluster
    int number = 0;  ///< in it
    int output = 0;  ///< body; 0: the ground
  };

  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    motion_.update(q, v);
    for (Node& node : nodes_) outward(node, wrenches);
    for (std::size_t k = nodes_.size(); k-- > 0;) inward(nodes_[k], tau);
    for (Node& node : nodes_) accelerate(node, vdot);
  }

  /// Base to tips: X_C, S_C, c_C, the rigid inertias, and the bias forces.
  void outward(Node& node, const Wrenches<T>* wrenches) {
    const Model& model = this->model();
    const Cluster& c = *node.cluster;
    const T* qd = motion_.qd();
    const T* g = motion_.g();
    std::fill(node.M.begin(), node.M.end(), T(0.0));
    for (std::size_t k = 0; k < node.bodies.size(); ++k) {
      const int i = node.bodies[k];
      const Body& body = model.body(i);
      const Transform<T>& X = motion_.joints.X[i];
      const bool inside = body.parent >= c.first;
      const int p = place_[body.parent].number;
      x_[i] = inside ? X * x_[body.parent] : X;
      Motion<T>* J = node.S.data() + k * c.nv;
      for (int j = 0; j < c.nv; ++j) {
        J[j] = inside ? X * node.S[static_cast<std::size_t>(p) * c.nv + j] : Motion<T>::zero();
      }
      node.c[k] = inside ? X * node.c[p] : Motion<T>::zero();
      Motion<T> s = Motion<T>::zero();  // S_b times its rates
      with_subspace(model.runs()[body.run], [&](auto ops) {
        using Ops = decltype(ops);
        for (int l = 0; l < Ops::n; ++l) {
          const Motion<T> S = Ops::column(motion_.joints.S.data() + body.v, l);
          s += scale(qd[body.v + l], S);
          if (g != nullptr) node.c[k] += scale(g[body.v + l], S);
          add_columns(c, body.v + l, S, J);
        }
        if constexpr (Ops::dense) node.c[k] += motion_.joints.bias[i];
      });
      v_[i] = X * v_[body.parent] + s;
      node.c[k] += cross(v_[i], s);
      const ArticulatedInertia<T> I = ArticulatedInertia<T>::from(body.inertia);
      for (int l = 0; l < 6; ++l) {
        const Force<T> column = I.column(l);
        for (int r = 0; r < 6; ++r) node.row(static_cast<int>(k), r)[6 * k + l] = column[r];
      }
      node.h[k] = cross_star(v_[i], I * v_[i]);
      if (wrenches != nullptr) node.h[k] -= (*wrenches)[i];
    }
  }
  /// J += S (row of G that belongs to the rate).
  void add_columns(const Cluster& c, int rate, const Motion<T>& S, Motion<T>* J) const {
    if (!c.constrained) {
      J[rate - c.spanning_v] += S;
      return;
    }
    const T* G = motion_.G(c) + c.row(rate) * c.nv;
    for (int j = 0; j < c.nv; ++j) J[j] += scale(G[j], S);
  }

  /// Tips to base: articulated inertias and bias forces.
  void inward(Node& node, const T* tau) {
    const Cluster& c = *node.cluster;
    const int n = c.nv, N = static_cast<int>(node.bodies.size());
    // U = M S_C; h becomes h + M c_C.
    for (int k = 0; k < N; ++k) {
      for (int i = 0; i < 6; ++i) {
        const T* M = node.row(k, i);
        T bias = T(0.0);
        for (int l = 0; l < 6 * N; ++l) bias += M[l] * node.c[l / 6][l % 6];
        node.h[k][i] += bias;
        for (int j = 0; j < n; ++j) {
          T sum = T(0.0);
          for (int l = 0; l < 6 * N; ++l) sum += M[l] * node.S[l / 6 * n + j][l % 6];
          node.U[k * n + j][i] = sum;
        }
      }
    }
    for (int j = 0; j < n; ++j) {
      node.r[j] = tau[c.v + j];
      for (int l = 0; l <= j; ++l) node.D[j * n + l] = T(0.0);
      for (int k = 0; k < N; ++k) {
        node.r[j] -= dot(node.S[k * n + j], node.h[k]);
        for (int l = 0; l <= j; ++l) node.D[j * n + l] += dot(node.S[k * n + l], node.U[k * n + j]);
      }
    }
    add_armature(node);
    ldlt(node.D.data(), n);
    ldlt_solve(node.D.data(), n, node.r.data());
    if (c.supports[0] != 0) propagate_to_parent(node);
  }

  void add_armature(Node& node) {
    const Cluster& c = *node.cluster;
    const int n = c.nv;
    for (int i = 0; i < c.rows(); ++i) {
      const int rate = c.rate(i);
      const double inertia = armature_[rate];
      if (inertia == 0.0) continue;
      if (!c.constrained) {
        node.D[i * n + i] += T(inertia);
        continue;
      }
      const T* rho = motion_.G(c) + i * n;
      for (int j = 0; j < n; ++j) {
        for (int l = 0; l <= j; ++l) node.D[j * n + l] += inertia * (rho[j] * rho[l]);
        if (motion_.g() != nullptr) node.r[j] -= inertia * (rho[j] * motion_.g()[rate]);
      }
    }
  }

  /// What the cluster shows to its supporting bodies, all pairs of which meet in the parent's
  /// inertia.
  void propagate_to_parent(Node& node) {
    const int n = node.cluster->nv, N = static_cast<int>(node.bodies.size());
    // w = D^-1 U^T, column by column.
    for (int l = 0; l < 6 * N; ++l) {
      T* w = w_.data() + static_cast<long>(l) * n;
      for (int j = 0; j < n; ++j) w[j] = node.U[l / 6 * n + j][l % 6];
      ldlt_solve(node.D.data(), n, w);
    }
    for (int k = 0; k < N; ++k) {
      const Place& to = place_[node.bodies[k]];
      Node& parent = nodes_[place_[to.output].node];
      const int a = place_[to.output].number;
      const Transform<T>& X = x_[node.bodies[k]];
      Force<T> f = node.h[k];
      for (int j = 0; j < n; ++j) f += scale(node.r[j], node.U[k * n + j]);
      parent.h[a] += X.transpose_times_force(f);
      for (int m = 0; m < N; ++m) {
        const int other = place_[node.bodies[m]].output;
        const int b = place_[other].number;
        // Block (k, m) of M - U D^-1 U^T, taken to the supporting bodies from the left by columns,
        // then from the right by rows.
        Force<T> column[6], row[6];
        for (int l = 0; l < 6; ++l) {
          for (int i = 0; i < 6; ++i) {
            T x = node.row(k, i)[6 * m + l];
            const T* w = w_.data() + (6L * m + l) * n;
            for (int j = 0; j < n; ++j) x -= node.U[k * n + j][i] * w[j];
            column[l][i] = x;
          }
          column[l] = X.transpose_times_force(column[l]);
        }
        for (int i = 0; i < 6; ++i) {
          for (int l = 0; l < 6; ++l) row[i][l] = column[l][i];
          row[i] = x_[node.bodies[m]].transpose_times_force(row[i]);
          T* M = parent.row(a, i) + 6 * b;
          for (int l = 0; l < 6; ++l) M[l] += row[i][l];
        }
      }
    }
  }

  /// Base to tips: accelerations.
  void accelerate(Node& node, T* vdot) {
    const Cluster& c = *node.cluster;
    const int n = c.nv, N = static_cast<int>(node.bodies.size());
    T* ydd = vdot + c.v;
    for (int j = 0; j < n; ++j) ydd[j] = T(0.0);
    for (int k = 0; k < N; ++k) {
      const int output = place_[node.bodies[k]].output;
      const Motion<T> a = output == 0 ? Motion<T>{Vec3<T>::zero(), Vec3<T>::from(-this->gravity())}
                                      : nodes_[place_[output].node].a[place_[output].number];
      node.a[k] = x_[node.bodies[k]] * a;
      for (int j = 0; j < n; ++j) ydd[j] -= dot(node.a[k], node.U[k * n + j]);
    }
    ldlt_solve(node.D.data(), n, ydd);
    for (int j = 0; j < n; ++j) ydd[j] += node.r[j];
    for (int k = 0; k < N; ++k) {
      node.a[k] += node.c[k];
      for (int j = 0; j < n; ++j) node.a[k] += scale(ydd[j], node.S[k * n + j]);
    }
  }

  SpanningMotion<T> motion_;
  std::vector<Node> nodes_;   ///< as the model's clusters
  std::vector<Place> place_;  ///< per body
  std::vector<double> armature_;
  std::vector<Motion<T>> v_;     ///< per body
  std::vector<Transform<T>> x_;  ///< per body: from its supporting body's frame
  std::vector<T> w_;
};

}  // namespace espalier
