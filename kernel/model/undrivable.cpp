#include "espalier/kernel/model/undrivable.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>

#include "espalier/kernel/model/spanning_motion.hpp"
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

/// M of a joint with equations of its own, at rest; zero for others.
Eigen::MatrixXd own_inertia(const Model& model, int body, const double* q) {
  const int size = 6 + model.body(body).nv;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> M =
      Eigen::MatrixXd::Zero(size, size);
  const std::vector<double> still(model.spanning_nv(), 0.0);
  std::vector<double> h(size);
  model.equations(body, q, still.data(), Vec3<double>::zero(), M.data(), h.data());
  return M.selfadjointView<Eigen::Lower>();
}

/// The upper left 6 x 6 block of a symmetric matrix as an inertia.
ArticulatedInertia<double> inertia_of(const Eigen::MatrixXd& M) {
  ArticulatedInertia<double> I;
  I.A = {M(0, 0), M(0, 1), M(0, 2), M(1, 1), M(1, 2), M(2, 2)};
  I.C = {M(3, 3), M(3, 4), M(3, 5), M(4, 4), M(4, 5), M(5, 5)};
  for (int r = 0; r < 3; ++r) I.B.row[r] = {M(r, 3), M(r, 4), M(r, 5)};
  return I;
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
    const Transform<double>& X = kinematics.X[i];
    const Eigen::MatrixXd own = own_inertia(model, i, q);
    // What the parent sees: X^T I X and the joint's own, with the joint free and locked.
    ArticulatedInertia<double> Ia = congruence(X, IA[i]), Ilocked = congruence(X, Ic[i]);
    Ia += inertia_of(own), Ilocked += inertia_of(own);
    if (!model.clusters()[body.cluster].constrained) {
      SmallMatrix S, U, Uc;
      with_subspace(model.runs()[body.run], [&](auto ops) {
        const Motion<double>* dense = kinematics.S.data() + body.v;
        S = columns<decltype(ops)>(dense);
        U = times<decltype(ops)>(IA[i], dense);
        Uc = times<decltype(ops)>(Ic[i], dense);
      });
      SmallMatrix D = S.transpose() * U + own.bottomRightCorner(body.nv, body.nv);
      SmallMatrix locked =
          (S.transpose() * Uc + own.bottomRightCorner(body.nv, body.nv)).diagonal();
      for (int k = 0; k < body.nv; ++k) {
        D(k, k) += armature[body.v + k];
        locked(k) += armature[body.v + k];
      }
      if (!drivable(D, locked)) {
        undrivable.push_back(i);
      } else {
        // U D^-1 U^T = W W^T with W = U L^-T, D = L L^T; U as the parent sees it.
        SmallMatrix W(body.nv, 6);
        for (int k = 0; k < body.nv; ++k) {
          const Force<double> u = X.transpose_times_force(
              Force<double>{{U(0, k), U(1, k), U(2, k)}, {U(3, k), U(4, k), U(5, k)}});
          for (int r = 0; r < 6; ++r) W(k, r) = u[r] + own(6 + k, r);
        }
        D.llt().matrixL().solveInPlace(W);
        for (int k = 0; k < body.nv; ++k) {
          Force<double> u;
          for (int r = 0; r < 6; ++r) u[r] = W(k, r);
          Ia.subtract_outer(1.0, u);
        }
      }
    }
    if (body.parent != 0) {
      IA[body.parent] += Ia;
      Ic[body.parent] += Ilocked;
    }
  }
  return undrivable;
}

int rate_without_inertia(const Model& model, const double* q) {
  if (!model.bodies_with_equations().empty()) return -1;
  const int n = model.body_count(), spanning = model.spanning_nv(), nv = model.nv();
  SpanningMotion<double> motion(model);
  const std::vector<double> still(nv, 0.0);
  motion.update(q, still.data());
  const TreeKinematics<double>& kinematics = motion.joints;

  // H of the spanning tree by composite bodies (Featherstone 2008, Table 6.2).
  std::vector<RigidInertia<double>> Ic;
  for (int i = 0; i <= n; ++i) Ic.push_back(model.body(i).inertia);
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(spanning, spanning);
  std::vector<SmallMatrix> S(n + 1);
  for (int i = 1; i <= n; ++i) {
    with_subspace(model.runs()[model.body(i).run], [&](auto ops) {
      S[i] = columns<decltype(ops)>(kinematics.S.data() + model.body(i).v);
    });
  }
  for (int i = n; i >= 1; --i) {
    const Body& body = model.body(i);
    for (int k = 0; k < body.nv; ++k) {
      const Motion<double> s{{S[i](0, k), S[i](1, k), S[i](2, k)},
                             {S[i](3, k), S[i](4, k), S[i](5, k)}};
      Force<double> F = Ic[i] * s;
      for (int j = i; j != 0; j = model.body(j).parent) {
        for (int l = 0; l < model.body(j).nv; ++l) {
          double sum = 0.0;
          for (int r = 0; r < 6; ++r) sum += S[j](r, l) * F[r];
          H(body.v + k, model.body(j).v + l) = H(model.body(j).v + l, body.v + k) = sum;
        }
        F = kinematics.X[j].transpose_times_force(F);
      }
    }
    if (body.parent != 0) Ic[body.parent] += congruence(kinematics.X[i], Ic[i]);
  }
  for (const auto& [rate, inertia] : model.armature()) H(rate, rate) += inertia;

  Eigen::MatrixXd G(spanning, nv);
  std::vector<double> y(nv, 0.0);
  for (int j = 0; j < nv; ++j) {
    y[j] = 1.0;
    motion.update(q, y.data());
    G.col(j) = Eigen::Map<const Eigen::VectorXd>(motion.qd(), spanning);
    y[j] = 0.0;
  }
  const Eigen::MatrixXd M = G.transpose() * H * G;
  const Eigen::VectorXd diagonal = M.diagonal();
  int least = 0;
  if (nv == 0) return -1;
  if (!(diagonal.minCoeff(&least) > 0.0)) return least;
  const Eigen::VectorXd s = diagonal.cwiseSqrt().cwiseInverse();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(s.asDiagonal() * M * s.asDiagonal());
  // Rounding leaves 1e-16 times the size of the matrix of a zero.
  if (solver.eigenvalues()(0) > 1e-14 * nv) return -1;
  solver.eigenvectors().col(0).cwiseAbs().maxCoeff(&least);
  return least;
}

}  // namespace espalier::detail
