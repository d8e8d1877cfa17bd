#pragma once

#include <Eigen/Dense>
#include <vector>

#include "algorithms/derivatives/variation/variation_state.hpp"
#include "espalier/kernel/problems/dynamics/inverse_mass_matrix.hpp"

namespace espalier {

/// M^-1 without M: articulated inertias inward, once; then for each unit force what reaches the
/// ground, and accelerations outward. All is in one frame for each tree, so that propagations are
/// sums. With Theta_b the columns of body b and I^A_b its articulated inertia,
///   Mqq = sum Theta^T I^A Theta,  Moq = sum I^A Theta,  I^A_o += sum I^A - Moq Mqq^-1 Moq^T.
/// Source: theory/derivatives 15; Carpentier (2018) for trees.
template <class T>
class RecursiveInverseMassMatrix final : public InverseMassMatrix<T> {
 public:
  explicit RecursiveInverseMassMatrix(ModelPtr model)
      : InverseMassMatrix<T>(std::move(model)),
        state_(this->model()),
        inertia_(this->model().body_count() + 1),
        theta_(this->model().body_count() + 1),
        motion_(this->model().body_count() + 1, Vector6::Zero()),
        node_(this->model().clusters().size()) {
    for (const Cluster& c : this->model().clusters()) {
      Node& n = node_[&c - this->model().clusters().data()];
      n.Moq.resize(6, c.nv), n.D.resize(c.nv, 6), n.Mqq.resize(c.nv, c.nv), n.u.resize(c.nv);
      n.x.resize(c.nv), n.A.resize(6, c.nv), n.factor = Eigen::LLT<Eigen::MatrixXd>(c.nv);
      for (int i = c.first; i < c.first + c.count; ++i) theta_[i].resize(6, c.nv);
    }
  }

 private:
  using Vector6 = Eigen::Matrix<double, 6, 1>;
  using Matrix6 = Eigen::Matrix<double, 6, 6>;
  using Matrix6X = Eigen::Matrix<double, 6, Eigen::Dynamic>;
  struct Node {
    Matrix6X Moq, A;
    Eigen::MatrixXd D, Mqq;  ///< D = Mqq^-1 Moq^T
    Eigen::LLT<Eigen::MatrixXd> factor;
    Eigen::VectorXd u, x;
    bool reached = false;  ///< by the force of the present column
  };

  void compute(const double* q, double* M_inverse) override {
    const Model& m = this->model();
    const int n = m.nv(), count = static_cast<int>(m.clusters().size());
    state_.update_positions(q);
    for (int i = 1; i <= m.active_body_count(); ++i) {
      for (int k = 0; k < 6; ++k) {
        Motion<double> unit = Motion<double>::zero();
        unit[k] = 1.0;
        const Force<double> f = state_.body[i].I * unit;
        for (int j = 0; j < 6; ++j) inertia_[i](j, k) = f[j];
      }
    }
    for (int k = count; k-- > 0;) eliminate(m.clusters()[k], node_[k]);
    for (int of = 0; of < count; ++of) {
      const Cluster& c = m.clusters()[of];
      for (int j = 0; j < c.nv; ++j) {
        push(of, j);
        for (int k = 0; k < count; ++k) {
          const Cluster& at = m.clusters()[k];
          accelerate(at, node_[k]);
          for (int i = 0; i < at.nv; ++i) {
            M_inverse[static_cast<long>(at.v + i) * n + c.v + j] = node_[k].x[i];
          }
        }
      }
    }
  }

  void eliminate(const Cluster& c, Node& n) {
    const Model& m = this->model();
    n.Moq.setZero(), n.Mqq.setZero();
    Matrix6 outer = Matrix6::Zero();
    for (int i = c.first; i < c.first + c.count; ++i) {
      for (int k = 0; k < c.nv; ++k) {
        for (int j = 0; j < 6; ++j) theta_[i](j, k) = state_.columns(i)[k].S[j];
      }
      n.A.noalias() = inertia_[i] * theta_[i];
      n.Moq += n.A;
      n.Mqq.noalias() += theta_[i].transpose() * n.A;
      outer += inertia_[i];
    }
    const double* G = c.constrained ? state_.motion.G(c) : nullptr;
    for (int row = 0; row < c.spanning_nv; ++row) {
      const double armature = state_.armature(c.spanning_v + row);
      if (armature == 0.0) continue;
      for (int i = 0; i < c.nv; ++i) {
        for (int j = 0; j < c.nv; ++j)
          n.Mqq(i, j) += armature * entry(G, c, row, i) * entry(G, c, row, j);
      }
    }
    for (int r = 0; r < c.rotors; ++r) {
      const Rotor& rotor = m.rotors()[c.rotor + r];
      add_rotor(c, rotor, G + static_cast<long>(c.spanning_nv + r) * c.nv, n);
    }
    n.factor.compute(n.Mqq);
    n.D = n.Moq.transpose();
    n.factor.solveInPlace(n.D);
    const int o = state_.support(c.first);
    if (o != 0) inertia_[o] += outer, inertia_[o].noalias() -= n.Moq * n.D;
  }
  static double entry(const double* G, const Cluster& c, int row, int k) {
    return G == nullptr ? (row == k ? 1.0 : 0.0) : G[row * c.nv + k];
  }
  /// Its spin has the momentum k rho, about whatever carries it. @param rho  its row of G
  void add_rotor(const Cluster& c, const Rotor& rotor, const double* rho, Node& n) {
    for (int i = 0; i < c.nv; ++i) {
      for (int j = 0; j < c.nv; ++j) n.Mqq(i, j) += rotor.inertia * rho[i] * rho[j];
    }
    if (rotor.parent == 0) return;
    const Vec3<double> k = state_.momentum(rotor);
    const Eigen::Vector3d spin(k.x, k.y, k.z);
    const Eigen::Map<const Eigen::RowVectorXd> row(rho, c.nv);
    n.Moq.template topRows<3>().noalias() += spin * row;
    if (rotor.parent < c.first || rotor.parent >= c.first + c.count) return;
    for (int i = 0; i < c.nv; ++i) {
      const double with = theta_[rotor.parent].col(i).template head<3>().dot(spin);
      for (int j = 0; j < c.nv; ++j) n.Mqq(i, j) += with * rho[j], n.Mqq(j, i) += with * rho[j];
    }
  }
  /// A unit force on coordinate j of a cluster: what it does on the way to the ground.
  void push(int of, int j) {
    const Model& m = this->model();
    for (Node& n : node_) n.reached = false;
    Vector6 wrench = Vector6::Zero();
    int on = 0;  // body that it acts on
    for (int k = of; k >= 0; k = m.clusters()[k].parent) {
      const Cluster& c = m.clusters()[k];
      Node& n = node_[k];
      if (k == of) {
        n.u.setZero(), n.u[j] = 1.0;
      } else {
        n.u.setZero();  // a negated product has a temporary matrix
        n.u.noalias() -= theta_[on].transpose() * wrench;
      }
      n.factor.solveInPlace(n.u);
      n.reached = true;
      wrench.noalias() += n.Moq * n.u;
      on = state_.support(c.first);
    }
  }
  void accelerate(const Cluster& c, Node& n) {
    const int o = state_.support(c.first);
    if (n.reached) {
      n.x = n.u;
    } else {
      n.x.setZero();
    }
    if (o != 0) n.x.noalias() -= n.D * motion_[o];
    for (int i = c.first; i < c.first + c.count; ++i) {
      motion_[i].setZero();
      if (o != 0) motion_[i] = motion_[o];
      motion_[i].noalias() += theta_[i] * n.x;
    }
  }

  VariationState<T> state_;
  std::vector<Matrix6> inertia_;  ///< articulated, of what hangs on a body outside its cluster
  std::vector<Matrix6X> theta_;
  std::vector<Vector6> motion_;
  std::vector<Node> node_;
};

}  // namespace espalier
