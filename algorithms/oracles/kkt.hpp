#pragma once

#include <algorithm>
#include <cmath>

#include "algorithms/oracles/dense.hpp"

namespace espalier {

/// The oracle for loops: the equations of the whole spanning tree with their constraints,
///   [H  -K^T] [qdd   ]   [tau - C]
///   [K   0  ] [lambda] = [k      ],
/// solved at once. K and k are what the loops and laws say, before any elimination; G serves only
/// for the spanning rates of the state, and for couplings of constant ratios, of which the model
/// keeps nothing else: their rows are [-G_dependent 1]. Rows that depend on others are found by
/// pivoting and left out. Makes no attempt at speed. Cost: O(n^3).
/// Source: Featherstone (2008), sections 8.1 and 8.5; theory/oracles 9.
template <class T>
class Kkt final : public ForwardDynamics<T> {
 public:
  explicit Kkt(ModelPtr model) : ForwardDynamics<T>(std::move(model)), equations_(this->model()) {
    for (const Cluster& c : this->model().clusters()) {
      if (c.constraint != nullptr) c.constraint->allocate(c, work_);
    }
  }

 private:
  void compute(const double* q, const double* v, const double* tau, double* vdot,
               const Wrenches<double>* wrenches) override {
    const Model& model = this->model();
    const int n = model.spanning_nv();
    if (model.nv() == 0) return;
    equations_.update(q, v, this->gravity(), wrenches);
    Eigen::MatrixXd K(0, n);
    Eigen::VectorXd k(0);
    constraints(q, K, k);
    keep_independent_rows(K, k, n - model.nv());
    const int m = static_cast<int>(K.rows());
    // Rates are measured by their inertia, so that the pivots compare like with like.
    // A joint of the tree may move no inertia of its own, up to rounding.
    const Eigen::ArrayXd inertia = equations_.H().diagonal().array();
    const double nothing = 1e-14 * inertia.maxCoeff();
    const Eigen::VectorXd unit = (inertia > nothing).select(inertia.rsqrt(), 1.0).matrix();
    Eigen::MatrixXd A = Eigen::MatrixXd::Zero(n + m, n + m);
    A.topLeftCorner(n, n) = unit.asDiagonal() * equations_.H() * unit.asDiagonal();
    Eigen::MatrixXd scaled = K * unit.asDiagonal();
    const Eigen::VectorXd length = scaled.rowwise().norm().cwiseInverse();
    scaled = length.asDiagonal() * scaled;
    A.topRightCorner(n, m) = -scaled.transpose();
    A.bottomLeftCorner(m, n) = scaled;
    Eigen::VectorXd b(n + m);
    b.head(n) = -equations_.C();
    const auto independent = model.independent_rates();
    for (int j = 0; j < model.nv(); ++j) b(independent[j]) += tau[j];
    b.head(n) = unit.asDiagonal() * b.head(n).eval();
    b.tail(m) = length.asDiagonal() * k;
    const Eigen::PartialPivLU<Eigen::MatrixXd> factor(A);
    Eigen::VectorXd x = factor.solve(b);
    x += factor.solve(b - A * x);  // one step of refinement
    for (int j = 0; j < model.nv(); ++j) vdot[j] = unit(independent[j]) * x(independent[j]);
  }

  /// Rows of all clusters over all spanning rates.
  void constraints(const double* q, Eigen::MatrixXd& K, Eigen::VectorXd& k) {
    const Model& model = this->model();
    SpanningMotion<double>& motion = equations_.motion();
    const TreeKinematics<double>& joints = motion.joints;
    const SpanningView<double> at{q, motion.qd(), joints.X.data(), joints.S.data(),
                                  joints.bias.data()};
    std::vector<bool> independent(model.spanning_nv(), false);
    for (const int rate : model.independent_rates()) independent[rate] = true;
    for (const Cluster& c : model.clusters()) {
      if (!c.constrained) continue;
      if (c.constraint == nullptr) {
        for (int i = 0; i < c.rows(); ++i) {
          if (independent[c.rate(i)]) continue;
          const long row = append(K, k, 0.0);
          K(row, c.rate(i)) = 1.0;
          for (int l = 0, j = 0; l < c.rows(); ++l) {
            if (independent[c.rate(l)]) K(row, c.rate(l)) = -c.G[i * c.nv + j++];
          }
        }
        continue;
      }
      c.constraint->jacobian(model, c, at, work_);
      c.constraint->bias(model, c, at, work_);
      for (int i = 0; i < c.constraint->rows(); ++i) {
        const long row = append(K, k, work_.k[i]);
        c.constraint->each_in_row(work_, i, [&](int l, double x) { K(row, c.rate(l)) = x; });
      }
    }
  }
  static long append(Eigen::MatrixXd& K, Eigen::VectorXd& k, double value) {
    K.conservativeResize(K.rows() + 1, Eigen::NoChange);
    k.conservativeResize(K.rows());
    K.row(K.rows() - 1).setZero();
    k(K.rows() - 1) = value;
    return K.rows() - 1;
  }

  /// As many as the model has found to say something: the pivots of the others are roundings of the
  /// loops' numbers. At dead points there are fewer.
  static void keep_independent_rows(Eigen::MatrixXd& K, Eigen::VectorXd& k, long most) {
    if (K.rows() == 0 || !K.allFinite()) return;
    const Eigen::VectorXd length = K.rowwise().norm().cwiseMax(1e-300).cwiseInverse();
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr((length.asDiagonal() * K).transpose());
    qr.setThreshold(1e-13);
    const long rank = std::min(qr.rank(), most);
    Eigen::MatrixXd kept(rank, K.cols());
    Eigen::VectorXd kept_k(rank);
    for (long i = 0; i < rank; ++i) {
      const long row = qr.colsPermutation().indices()(i);
      kept.row(i) = K.row(row);
      kept_k(i) = k(row);
    }
    K = kept, k = kept_k;
  }

  DenseEquations equations_;
  ConstraintWorkspace<double> work_;  ///< of one cluster after the other
};

}  // namespace espalier
