#include "espalier/kernel/model/undrivable.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "espalier/kernel/model/subspace.hpp"
#include "espalier/kernel/model/tree_kinematics.hpp"

namespace espalier::detail {

namespace {

using SmallMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 6, 6>;

/// D positive definite, measured against the diagonal of the same inertia with the joints beyond
/// locked: what rounding leaves of a zero is 1e-16 of it.
bool drivable(const SmallMatrix& D, const SmallMatrix& locked) {
  if (!(locked.minCoeff() > 0.0)) return false;
  const SmallMatrix s = locked.cwiseSqrt().cwiseInverse();
  const SmallMatrix scaled = s.asDiagonal() * D * s.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<SmallMatrix> solver(scaled, Eigen::EigenvaluesOnly);
  return solver.eigenvalues()(0) > 1e-13;
}

/// I S for all rates of a joint.
template <class Ops>
SmallMatrix times(const ArticulatedInertia<double>& I, const Motion<double>* S) {
  Force<double> U[Ops::n];
  Ops::times(I, S, U);
  SmallMatrix out(6, Ops::n);
  for (int j = 0; j < Ops::n; ++j)
    for (int r = 0; r < 6; ++r) out(r, j) = U[j][r];
  return out;
}

/// S as a matrix.
template <class Ops>
SmallMatrix columns(const Motion<double>* S) {
  SmallMatrix out(6, Ops::n);
  for (int j = 0; j < Ops::n; ++j) {
    const Motion<double> column = Ops::column(S, j);
    for (int r = 0; r < 6; ++r) out(r, j) = column[r];
  }
  return out;
}

}  // namespace

std::vector<int> undrivable_bodies(const Model& model, const double* q) {
  const int n = model.body_count();
  TreeKinematics<double> kinematics(model);
  kinematics.update(model, q, nullptr);
  std::vector<ArticulatedInertia<double>> IA;  // with all joints beyond free
  for (int i = 0; i <= n; ++i) {
    IA.push_back(ArticulatedInertia<double>::from(model.body(i).inertia));
  }
  std::vector<ArticulatedInertia<double>> Ic = IA;  // with all joints beyond locked
  std::vector<double> armature(model.spanning_nv(), 0.0);
  for (const auto& [rate, inertia] : model.armature()) armature[rate] = inertia;

  std::vector<int> undrivable;
  for (int i = n; i >= 1; --i) {
    const Body& body = model.body(i);
    ArticulatedInertia<double> Ia = IA[i];
    if (!model.clusters()[body.cluster].constrained) {
      SmallMatrix S, U, Uc;
      with_subspace(model.runs()[body.run], [&](auto ops) {
        const Motion<double>* dense = kinematics.S.data() + body.v;
        S = columns<decltype(ops)>(dense);
        U = times<decltype(ops)>(IA[i], dense);
        Uc = times<decltype(ops)>(Ic[i], dense);
      });
      SmallMatrix D = S.transpose() * U;
      SmallMatrix locked = (S.transpose() * Uc).diagonal();
      for (int k = 0; k < body.nv; ++k) {
        D(k, k) += armature[body.v + k];
        locked(k) += armature[body.v + k];
      }
      if (!drivable(D, locked)) {
        undrivable.push_back(i);
      } else {
        // U D^-1 U^T = W W^T with W = U L^-T, D = L L^T.
        SmallMatrix W = U.transpose();
        D.llt().matrixL().solveInPlace(W);
        for (int k = 0; k < body.nv; ++k) {
          Force<double> u;
          for (int r = 0; r < 6; ++r) u[r] = W(k, r);
          Ia.subtract_outer(1.0, u);
        }
      }
    }
    if (body.parent != 0) {
      IA[body.parent] += congruence(kinematics.X[i], Ia);
      Ic[body.parent] += congruence(kinematics.X[i], Ic[i]);
    }
  }
  return undrivable;
}

}  // namespace espalier::detail
