#pragma once

#include "algorithms/reference/clusters.hpp"
#include "algorithms/reference/task.hpp"
#include "espalier/kernel/problems/operational_space/inverse_osim.hpp"

namespace espalier::reference {

/// Inverse operational-space inertia J M^-1 J^T of a cluster tree by extended force propagators,
/// as printed.
/// Frames: each body's own; rows as the task says.  Cost: O(n + m d + m^2) on clusters of one size.
/// Source: Chignoli et al. (2023), section VIII, equations (57), (62) and (67), after Wensing,
/// Featherstone, Orin (2012), Table I; theory/delassus 4 and theory/clusters 5.6.
///
///   inward:   L = 1 - S D^-1 S^T IA,  IA_p += X^T L^T IA X,  chi_p = chi L X
///   outward:  Lambda_ik = L_i X_i Lambda_pk + S D^-1 S^T chi_ik^T    for k in ES(i)
///   pairs:    Lambda_kl = chi_k Lambda_l at the greatest common ancestor
template <class T>
class CEfpa final : public InverseOsim<T> {
 public:
  explicit CEfpa(const Setup& setup) : InverseOsim<T>(setup), tree_(this->model()) {}

 private:
  void compute(const double* q, double* inverse_osim) override {
    tree_.update(this->model(), q, nullptr);
    const std::vector<Eigen::Matrix3d> E = attitudes(tree_.bodies);
    const std::vector<ClusterNode>& nodes = tree_.nodes;
    const std::vector<Task::Part>& parts = this->task().parts();
    const int N = static_cast<int>(nodes.size()), m = this->task().size();
    std::vector<MatrixXd> IA(N), L(N), SDS(N);
    std::vector<std::vector<MatrixXd>> chi(N), Lambda(N);  // per end-effector; empty: not supported

    for (int i = 0; i < N; ++i) {
      IA[i] = nodes[i].I;
      chi[i].resize(parts.size()), Lambda[i].resize(parts.size());
    }
    for (std::size_t k = 0; k < parts.size(); ++k) {
      const int i = tree_.node_of[parts[k].body];
      chi[i][k] = MatrixXd::Zero(parts[k].size(), nodes[i].I.rows());
      chi[i][k].middleCols(6 * tree_.place[parts[k].body], 6) =
          constraint_rows(parts[k], E[parts[k].body]);
    }
    for (int i = N; --i >= 1;) {
      const ClusterNode& node = nodes[i];
      const MatrixXd D = node.S.transpose() * IA[i] * node.S + node.armature_inertia();
      SDS[i] = node.S * D.llt().solve(node.S.transpose());
      L[i] = MatrixXd::Identity(IA[i].rows(), IA[i].rows()) - SDS[i] * IA[i];
      IA[node.parent] += node.X.transpose() * L[i].transpose() * IA[i] * node.X;
      for (std::size_t k = 0; k < parts.size(); ++k) {
        if (chi[i][k].size() != 0) chi[node.parent][k] = chi[i][k] * L[i] * node.X;
      }
    }
    for (std::size_t k = 0; k < parts.size(); ++k) {
      Lambda[0][k] = MatrixXd::Zero(6, parts[k].size());
    }
    for (int i = 1; i < N; ++i) {
      for (std::size_t k = 0; k < parts.size(); ++k) {
        if (chi[i][k].size() == 0) continue;
        Lambda[i][k] =
            L[i] * nodes[i].X * Lambda[nodes[i].parent][k] + SDS[i] * chi[i][k].transpose();
      }
    }
    Eigen::Map<RowMajor> out(inverse_osim, m, m);
    for (std::size_t k = 0; k < parts.size(); ++k) {
      for (std::size_t l = 0; l <= k; ++l) {
        int i = N - 1;  // the greatest common ancestor, in regular numbering
        while (chi[i][k].size() == 0 || chi[i][l].size() == 0) i = i > 0 ? i - 1 : i;
        const auto rows = Eigen::seqN(parts[k].first, parts[k].size());
        const auto columns = Eigen::seqN(parts[l].first, parts[l].size());
        out(rows, columns) = chi[i][k] * Lambda[i][l];
        out(columns, rows) = out(rows, columns).transpose().eval();
      }
    }
  }

  Clusters tree_;
};

}  // namespace espalier::reference
