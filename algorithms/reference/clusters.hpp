#pragma once

#include <algorithm>

#include "algorithms/reference/bodies.hpp"
#include "espalier/kernel/problems/algorithm.hpp"

namespace espalier::reference {

/// A node of the cluster tree in the notation of Chignoli et al. (2023), section V: quantities of
/// its N bodies, folded rotors too, stacked.
struct ClusterNode {
  const Cluster* cluster = nullptr;  ///< nullptr: the ground, which is node 0
  int parent = 0;
  std::vector<int> bodies;    ///< in regular numbering
  std::vector<int> supports;  ///< distinct blocks of the parent that it hangs on
  MatrixXd X;                 ///< 6N x 6N_p, from the parent cluster (17)
  MatrixXd I;                 ///< 6N x 6N, block diagonal (14)
  MatrixXd G;                 ///< explicit constraint Jacobian, spanning rates x nv
  VectorXd g;                 ///< (dG/dt) yd
  MatrixXd S;                 ///< cluster motion subspace, 6N x nv (24)
  VectorXd v, c;              ///< velocity and velocity-product acceleration (33)
  VectorXd armature;          ///< per row of G

  /// What armature adds to D, and takes from tau at ydd = 0.
  MatrixXd armature_inertia() const { return G.transpose() * armature.asDiagonal() * G; }
  VectorXd armature_force() const { return G.transpose() * armature.cwiseProduct(g); }
};

/// The cluster tree at one state. Frames: each body's own.
/// Source: Chignoli et al. (2023), sections IV and V; theory/clusters 5.2.
class Clusters {
 public:
  explicit Clusters(const Model& model)
      : bodies(model), node_of(bodies.count + 1, 0), place(node_of) {
    nodes.resize(1);
    nodes[0].bodies = {0};
    nodes[0].v = nodes[0].c = Vector6::Zero();
    nodes[0].S.resize(6, 0);
    nodes[0].I = Matrix6::Zero();
    for (const Cluster& cluster : model.clusters()) {
      ClusterNode node{.cluster = &cluster};
      node.parent = cluster.parent + 1;
      for (int k = 0; k < cluster.count; ++k) node.bodies.push_back(cluster.first + k);
      for (int k = 0; k < cluster.rotors; ++k) {
        node.bodies.push_back(model.rotors()[cluster.rotor + k].body);
      }
      const int N = static_cast<int>(node.bodies.size());
      node.I = MatrixXd::Zero(6 * N, 6 * N);
      node.armature.resize(cluster.rows());
      for (int i = 0; i < cluster.rows(); ++i) node.armature[i] = bodies.armature[cluster.rate(i)];
      for (int k = 0; k < N; ++k) {
        node_of[node.bodies[k]] = static_cast<int>(nodes.size());
        place[node.bodies[k]] = k;
        node.I.block<6, 6>(6 * k, 6 * k) = bodies.I[node.bodies[k]];
      }
      for (const int body : node.bodies) {
        const int parent = bodies.lambda[body];
        if (node_of[parent] == node.parent && std::find(node.supports.begin(), node.supports.end(),
                                                        place[parent]) == node.supports.end()) {
          node.supports.push_back(place[parent]);
        }
      }
      nodes.push_back(std::move(node));
    }
  }

  void update(const Model& model, const double* q, const double* yd) {
    bodies.update(model, q, yd);
    for (std::size_t i = 1; i < nodes.size(); ++i) update(model, nodes[i], yd);
  }

  Bodies bodies;
  std::vector<ClusterNode> nodes;  ///< as the model's clusters, after the ground
  std::vector<int> node_of;        ///< per body
  std::vector<int> place;          ///< per body: its block in the node

 private:
  void update(const Model& model, ClusterNode& node, const double* yd) {
    const Cluster& cluster = *node.cluster;
    const ClusterNode& parent = nodes[node.parent];
    const int N = static_cast<int>(node.bodies.size()), n = cluster.rows();
    node.G = MatrixXd::Identity(n, cluster.nv);
    if (cluster.constrained)
      node.G = Eigen::Map<const RowMajor>(bodies.motion.G(cluster), n, cluster.nv);
    node.g = VectorXd::Zero(n);
    VectorXd qd = VectorXd::Zero(n);
    for (int i = 0; i < n; ++i) {
      if (bodies.motion.g() != nullptr) node.g[i] = bodies.motion.g()[cluster.rate(i)];
      if (yd != nullptr) qd[i] = bodies.motion.qd()[cluster.rate(i)];
    }
    // X from the supporting bodies, and X_intra (20), which is unit lower triangular.
    node.X = MatrixXd::Zero(6 * N, 6 * parent.bodies.size());
    MatrixXd X_intra = MatrixXd::Identity(6 * N, 6 * N), S = MatrixXd::Zero(6 * N, n);
    VectorXd cJ(6 * N);
    for (int k = 0; k < N; ++k) {
      const int body = node.bodies[k], above = bodies.lambda[body];
      const auto rows = Eigen::seqN(6 * k, 6);
      if (node_of[above] == node.parent) {
        node.X(rows, Eigen::seqN(6 * place[above], 6)) = bodies.X[body];
      } else {
        const auto from = Eigen::seqN(6 * place[above], 6);
        node.X(rows, Eigen::all) = bodies.X[body] * node.X(from, Eigen::all);
        X_intra(rows, Eigen::seqN(0, 6 * k)) =
            bodies.X[body] * X_intra(from, Eigen::seqN(0, 6 * k));
      }
      S(rows, Eigen::seqN(cluster.row(model.body(body).v), model.body(body).nv)) = bodies.S[body];
      cJ(rows) = bodies.cJ[body];
    }
    node.S = X_intra * S * node.G;
    const VectorXd vJ = X_intra * S * qd;
    // (dX_intra/dt)(b, j) = -(vJ_b - bX_j vJ_j)× bX_j, and (dS_C/dt) yd (26).
    MatrixXd dX = MatrixXd::Zero(6 * N, 6 * N);
    for (int b = 0; b < N; ++b) {
      for (int j = 0; j < b; ++j) {
        const Matrix6 X = X_intra.block<6, 6>(6 * b, 6 * j);
        dX.block<6, 6>(6 * b, 6 * j) =
            -cross_motion(vJ.segment<6>(6 * b) - X * vJ.segment<6>(6 * j)) * X;
      }
    }
    node.v = node.X * parent.v + vJ;
    node.c = dX * S * qd + X_intra * (S * node.g + cJ);
    for (int b = 0; b < N; ++b) {
      node.c.segment<6>(6 * b) += cross_motion(node.v.segment<6>(6 * b)) * vJ.segment<6>(6 * b);
    }
  }
};

/// v ×* I v of every body of a cluster, without what acts on it from outside.
inline VectorXd bias_force(const ClusterNode& node, const Wrenches<double>* wrenches) {
  VectorXd p = node.I * node.v;
  for (std::size_t k = 0; k < node.bodies.size(); ++k) {
    auto f = p.segment<6>(6 * static_cast<long>(k));
    f = cross_force(node.v.segment<6>(6 * static_cast<long>(k))) * f.eval();
    if (wrenches != nullptr) f -= vector((*wrenches)[node.bodies[k]]);
  }
  return p;
}

}  // namespace espalier::reference
