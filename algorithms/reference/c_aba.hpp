#pragma once

#include "algorithms/reference/clusters.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"

namespace espalier::reference {

/// Forward dynamics of a cluster tree by the articulated-body algorithm, as printed: the N bodies
/// of a cluster are one node with a twist of 6N numbers.
/// Frames: each body's own, angular above linear.  Cost: O(N^3) for each cluster.
/// Source: Chignoli et al. (2023), Algorithm 1, equations (33), (52), (55) and (56);
/// theory/clusters 5.4, stacked.
///
///   forward:   v = X v_p + S yd,  IA = I,  pA = v ×* I v - fx
///   backward:  U = IA S,  D = S^T U,  u = tau - S^T pA
///              Ia = IA - U D^-1 U^T,  pa = pA + Ia c + U D^-1 u
///              IA_p += X^T Ia X,  pA_p += X^T pa
///   forward:   a' = X a_p + c,  ydd = D^-1 (u - U^T a'),  a = a' + S ydd
template <class T>
class CAba final : public ForwardDynamics<T> {
 public:
  explicit CAba(ModelPtr model) : ForwardDynamics<T>(std::move(model)), tree_(this->model()) {}

 private:
  void compute(const double* q, const double* yd, const double* tau, double* ydd,
               const Wrenches<double>* wrenches) override {
    tree_.update(this->model(), q, yd);
    const std::vector<ClusterNode>& nodes = tree_.nodes;
    const int N = static_cast<int>(nodes.size());
    std::vector<MatrixXd> IA(N), U(N);
    std::vector<VectorXd> pA(N), u(N), a(N);
    std::vector<Eigen::LLT<MatrixXd>> D(N);

    for (int i = 0; i < N; ++i) {
      IA[i] = nodes[i].I;
      pA[i] = bias_force(nodes[i], i == 0 ? nullptr : wrenches);
    }
    for (int i = N; --i >= 1;) {
      const auto& [cluster, p, bodies, supports, X, I, G, g, S, v, c, armature] = nodes[i];
      U[i] = IA[i] * S;
      D[i].compute(S.transpose() * U[i] + nodes[i].armature_inertia());
      u[i] = ConstVector(tau + cluster->v, cluster->nv) - S.transpose() * pA[i] -
             nodes[i].armature_force();
      const MatrixXd Ia = IA[i] - U[i] * D[i].solve(U[i].transpose());
      const VectorXd pa = pA[i] + Ia * c + U[i] * D[i].solve(u[i]);
      IA[p] += X.transpose() * Ia * X;
      pA[p] += X.transpose() * pa;
    }
    a[0] = ground_acceleration(this->gravity());
    for (int i = 1; i < N; ++i) {
      const ClusterNode& node = nodes[i];
      Eigen::Map<VectorXd> ydd_i(ydd + node.cluster->v, node.cluster->nv);
      a[i] = node.X * a[node.parent] + node.c;
      ydd_i = D[i].solve(u[i] - U[i].transpose() * a[i]);
      a[i] += node.S * ydd_i;
    }
  }

  Clusters tree_;
};

}  // namespace espalier::reference
