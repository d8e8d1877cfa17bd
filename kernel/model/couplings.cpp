#include "espalier/kernel/model/couplings.hpp"

#include <Eigen/Core>
#include <cmath>

#include "espalier/kernel/errors.hpp"

namespace espalier::detail {

namespace {

/// Whether a coefficient is what rounding of ratios left of zero, beside the largest number that
/// passed through its place. Ratios themselves may be of any size.
bool cancelled(double coefficient, double passed) { return std::abs(coefficient) <= 1e-9 * passed; }

/// Position in `joints` of the joint that the equation would rather have dependent.
int preferred_dependent(const std::vector<CoupledJoint>& joints, const Eigen::VectorXd& row,
                        const Eigen::VectorXd& passed, const Equation& equation) {
  const auto usable = [&](std::size_t k) {
    return joints[k].nv == 1 && !cancelled(row[joints[k].v], passed[joints[k].v]);
  };
  for (std::size_t k = joints.size(); k-- > 0;) {
    if (usable(k) && joints[k].independent == false) return static_cast<int>(k);
  }
  for (const Equation::Term& term : equation.terms) {
    for (std::size_t k = 0; k < joints.size(); ++k) {
      if (joints[k].body == term.body && usable(k) && !joints[k].independent) {
        return static_cast<int>(k);
      }
    }
  }
  for (std::size_t k = joints.size(); k-- > 0;) {
    if (usable(k) && !joints[k].independent) return static_cast<int>(k);
  }
  return -1;
}

}  // namespace

Coupled solve_couplings(const std::vector<CoupledJoint>& joints, int spanning_nv,
                        const std::vector<const Equation*>& equations) {
  Coupled out;
  out.independent.assign(joints.size(), true);

  // Gauss-Jordan on [A | b], pivots chosen by preference instead of size.
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(equations.size(), spanning_nv + 1);
  Eigen::MatrixXd passed = A;  // what the coefficients were at most
  std::vector<int> pivot_row(joints.size(), -1);
  for (std::size_t e = 0; e < equations.size(); ++e) {
    const Equation& equation = *equations[e];
    for (const Equation::Term& term : equation.terms) {
      for (const CoupledJoint& joint : joints) {
        if (joint.body == term.body) A(e, joint.v) += term.coefficient;
      }
    }
    A(e, spanning_nv) = equation.constant;
    passed.row(e) = A.row(e).cwiseAbs();
    const auto subtract = [&](std::size_t from, double factor, int pivot) {
      A.row(from) -= factor * A.row(pivot);
      passed.row(from) = passed.row(from).cwiseMax(std::abs(factor) * passed.row(pivot));
    };
    for (std::size_t k = 0; k < joints.size(); ++k) {
      if (pivot_row[k] < 0 || A(e, joints[k].v) == 0.0) continue;
      subtract(e, A(e, joints[k].v), pivot_row[k]);
    }
    bool nothing_new = true;  // a product of ratios that closes to rounding
    for (int j = 0; j < spanning_nv; ++j) {
      nothing_new = nothing_new && cancelled(A(e, j), passed(e, j));
    }
    if (nothing_new) {
      if (std::abs(A(e, spanning_nv)) > 1e-9) {
        throw InvalidModel("coupling '" + equation.name +
                           "': contradicts the other couplings of its joints, expected a "
                           "consistent set (remove one or correct its offset)");
      }
      A.row(e).setZero();
      continue;
    }
    const int k =
        preferred_dependent(joints, A.row(e).transpose(), passed.row(e).transpose(), equation);
    if (k < 0) {
      std::string names;
      for (const CoupledJoint& joint : joints) {
        if (joint.nv == 1 && A(e, joint.v) != 0.0) names += " '" + joint.name + "'";
      }
      throw InvalidModel("coupling '" + equation.name + "': all joints that it ties (" + names +
                         " ) are declared independent, expected one that is not (set "
                         "independent=\"false\" on it; with the other couplings of these joints, "
                         "this one may also leave them no motion)");
    }
    passed.row(e) /= std::abs(A(e, joints[k].v));
    A.row(e) /= A(e, joints[k].v);
    A(e, joints[k].v) = 1.0;
    for (std::size_t other = 0; other < e; ++other) {
      if (A(other, joints[k].v) == 0.0) continue;
      subtract(other, A(other, joints[k].v), static_cast<int>(e));
      A(other, joints[k].v) = 0.0;
    }
    pivot_row[k] = static_cast<int>(e);
    out.independent[k] = false;
  }

  std::vector<int> column(spanning_nv, -1);
  for (std::size_t k = 0; k < joints.size(); ++k) {
    if (!out.independent[k]) continue;
    if (joints[k].independent == false) {
      throw InvalidModel("joint '" + joints[k].name +
                         "': is declared dependent, but no coupling determines it, expected "
                         "independent=\"true\"");
    }
    for (int i = 0; i < joints[k].nv; ++i) column[joints[k].v + i] = out.nv++;
  }
  if (out.nv == 0) {
    std::string couplings, tied;
    for (const Equation* e : equations)
      couplings += (couplings.empty() ? "'" : ", '") + e->name + "'";
    for (const CoupledJoint& j : joints) tied += (tied.empty() ? "'" : ", '") + j.name + "'";
    throw InvalidModel("couplings " + couplings + ": leave the joints " + tied +
                       " no freedom, expected at least one degree (they contradict each "
                       "other: remove some or correct their ratios)");
  }
  out.G.assign(static_cast<std::size_t>(spanning_nv) * out.nv, 0.0);
  out.offset.assign(spanning_nv, 0.0);
  for (std::size_t k = 0; k < joints.size(); ++k) {
    for (int i = joints[k].v; i < joints[k].v + joints[k].nv; ++i) {
      if (out.independent[k]) {
        out.G[i * out.nv + column[i]] = 1.0;
        continue;
      }
      for (int j = 0; j < spanning_nv; ++j) {
        if (column[j] >= 0) out.G[i * out.nv + column[j]] = -A(pivot_row[k], j) + 0.0;
      }
      out.offset[i] = A(pivot_row[k], spanning_nv);
    }
  }
  return out;
}

}  // namespace espalier::detail
