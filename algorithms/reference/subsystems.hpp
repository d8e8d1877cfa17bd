#pragma once

#include "algorithms/reference/clusters.hpp"
#include "algorithms/reference/task.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

namespace espalier::reference {

/// A cluster as a subsystem of Bremer: describing velocities y are the twists of the bodies that
/// it hangs on, then its independent rates.
struct Subsystem {
  int parent = 0;
  MatrixXd Z;  ///< twists of its bodies: v_C = Z y, a_C = Z yd + xi
  VectorXd xi;
  MatrixXd T, F;  ///< y = T y_p + F qd (8)
  VectorXd c;     ///< yd = T yd_p + F qdd + c
  MatrixXd M, B;  ///< virtual power dy^T (M yd + h - B u) (6), (16)
  VectorXd h;
  long first = 0, size = 0;  ///< of y among those of all subsystems
  int v = 0, nv = 0;         ///< independent rates
};

/// The subsystems of a robot at one state; subsystem 0 is the ground, whose y is its twist.
/// Frames: each body's own.
/// Source: Krög, Gattringer, Müller, section 3.1; theory/template 2, instance C.
class Subsystems {
 public:
  explicit Subsystems(const Model& model) : tree(model), all(tree.nodes.size()) {}

  void update(const Model& model, const InputColumns& inputs, const double* q, const double* v,
              const double* tau, const Wrenches<double>* wrenches) {
    tree.update(model, q, v);
    E = attitudes(tree.bodies);
    const int m = inputs.size();
    all[0] = {.Z = Matrix6::Identity(),
              .xi = Vector6::Zero(),
              .M = Matrix6::Zero(),
              .B = MatrixXd::Zero(6, m),
              .h = Vector6::Zero()};
    for (std::size_t i = 1; i < all.size(); ++i) {
      const ClusterNode& node = tree.nodes[i];
      const Subsystem &p = all[node.parent], &before = all[i - 1];
      Subsystem& s = all[i];
      const long n = node.cluster->nv, o = 6 * static_cast<long>(node.supports.size());
      s.parent = node.parent, s.v = node.cluster->v, s.nv = node.cluster->nv;
      s.first = before.first + before.size, s.size = o + n;
      s.xi = node.c;
      s.Z.resize(node.X.rows(), s.size), s.Z.rightCols(n) = node.S;
      s.T = MatrixXd::Zero(s.size, p.Z.cols()), s.c = VectorXd::Zero(s.size);
      s.F = MatrixXd::Zero(s.size, n), s.F.bottomRows(n).setIdentity();
      for (long k = 0; k < o; k += 6) {
        const long support = 6L * node.supports[k / 6];
        s.Z.middleCols(k, 6) = node.X.middleCols(support, 6);
        s.T.middleRows(k, 6) = p.Z.middleRows(support, 6);
        s.c.segment(k, 6) = p.xi.segment(support, 6);
      }
      s.M = s.Z.transpose() * node.I * s.Z + s.F * node.armature_inertia() * s.F.transpose();
      s.h = s.Z.transpose() * (node.I * s.xi + bias_force(node, wrenches)) +
            s.F * (node.armature_force() - ConstVector(tau + s.v, n));
      s.B = MatrixXd::Zero(s.size, m);
      for (const InputColumns::Motor& motor : inputs.motors()) {
        for (int r = 0; r < node.cluster->rows(); ++r) {
          if (node.cluster->rate(r) != motor.rate) continue;
          s.B.col(motor.column) += motor.gain * s.F * node.G.row(r).transpose();
        }
      }
    }
    for (const Task::Part& part : inputs.contacts()) {
      all[tree.node_of[part.body]].B.middleCols(part.first, part.size()) = rows(part).transpose();
    }
  }

  const Subsystem& of(const Task::Part& part) const { return all[tree.node_of[part.body]]; }
  /// Rows of an end-effector on y of its subsystem.
  MatrixXd rows(const Task::Part& part) const {
    return constraint_rows(part, E[part.body]) *
           of(part).Z.middleRows(6L * tree.place[part.body], 6);
  }
  /// Accelerations of an end-effector's rows at the accelerations yd of its subsystem.
  VectorXd acceleration(const Task::Part& part, const VectorXd& yd, const Vec3<double>& g) const {
    const RowMajor K = constraint_rows(part, E[part.body]);
    const auto block = Eigen::seqN(6 * tree.place[part.body], 6);
    const Vector6 twist = tree.nodes[tree.node_of[part.body]].v(block);
    const Eigen::Vector3d w = twist.head<3>(), l = twist.tail<3>();
    Vector6 a = of(part).Z(block, Eigen::all) * yd + of(part).xi(block);
    a.tail<3>() += E[part.body] * vector(g);  // the ground's acceleration stood for gravity
    if (part.world) a.tail<3>() += w.cross(l + w.cross(vector(part.point)));
    return K * a;
  }

  Clusters tree;
  std::vector<Subsystem> all;
  std::vector<Eigen::Matrix3d> E;
};

}  // namespace espalier::reference
