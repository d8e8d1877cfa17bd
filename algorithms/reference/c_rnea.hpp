#pragma once

#include "algorithms/reference/clusters.hpp"
#include "espalier/kernel/problems/dynamics/inverse_dynamics.hpp"

namespace espalier::reference {

/// Inverse dynamics of a cluster tree by the recursive Newton-Euler algorithm, as printed.
/// Frames: each body's own, angular above linear.  Cost: O(N^2) for each cluster of N bodies.
/// Source: Chignoli et al. (2023), sections V-D and VI, equations (31), (33) and (35);
/// theory/clusters 5.3, stacked.
///
///   forward:   v = X v_p + S yd,  a = X a_p + S ydd + c,  f = I a + v ×* I v - fx
///   backward:  tau = S^T f,  f_p += X^T f
template <class T>
class CRnea final : public InverseDynamics<T> {
 public:
  explicit CRnea(ModelPtr model) : InverseDynamics<T>(std::move(model)), tree_(this->model()) {}

 private:
  void compute(const double* q, const double* yd, const double* ydd, double* tau,
               const Wrenches<double>* wrenches) override {
    tree_.update(this->model(), q, yd);
    const std::vector<ClusterNode>& nodes = tree_.nodes;
    const int N = static_cast<int>(nodes.size());
    std::vector<VectorXd> a(N), f(N);

    a[0] = ground_acceleration(this->gravity());
    f[0] = Vector6::Zero();
    for (int i = 1; i < N; ++i) {
      const ClusterNode& node = nodes[i];
      a[i] = node.X * a[node.parent] + node.c +
             node.S * ConstVector(ydd + node.cluster->v, node.cluster->nv);
      f[i] = node.I * a[i] + bias_force(node, wrenches);
    }
    for (int i = N; --i >= 1;) {
      const ClusterNode& node = nodes[i];
      const int k = node.cluster->v, n = node.cluster->nv;
      Eigen::Map<VectorXd>(tau + k, n) = node.S.transpose() * f[i] + node.armature_force() +
                                         node.armature_inertia() * ConstVector(ydd + k, n);
      f[node.parent] += node.X.transpose() * f[i];
    }
  }

  Clusters tree_;
};

}  // namespace espalier::reference
