#pragma once

#include <optional>
#include <string>
#include <vector>

#include "espalier/kernel/model/description.hpp"

/// Linear equations between joint positions (gear ratios, mimics) inside one cluster, solved once:
/// q = G y + offset.

namespace espalier::detail {

/// sum of coefficient * q(body's joint) = constant.
struct Equation {
  struct Term {
    int body;
    double coefficient;
  };
  std::string name;
  SourceLocation where;
  std::vector<Term> terms;
  double constant = 0.0;
};

/// A joint of the cluster.
struct CoupledJoint {
  int body;
  std::string name;
  int v, nv;                        ///< its rates among the cluster's spanning rates
  std::optional<bool> independent;  ///< what the file says
};

struct Coupled {
  std::vector<bool> independent;  ///< of each joint
  int nv = 0;                     ///< independent rates
  std::vector<double> G;          ///< spanning_nv x nv, row-major
  std::vector<double> offset;     ///< spanning_nv
};

/// Dependent joints are those declared so; where the file is silent, the joint that an equation
/// names first.
/// @throws InvalidModel if equations contradict each other or a joint declared independent is not
Coupled solve_couplings(const std::vector<CoupledJoint>& joints, int spanning_nv,
                        const std::vector<const Equation*>& equations);

}  // namespace espalier::detail
