#pragma once

#include <string>
#include <vector>

#include "espalier/espalier.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/scalar/scalar.hpp"

namespace espalier::bench {

/// Operations of a sparse LU and one solution: no refinement, no entries of the matrix.
struct LuCount {
  long multiplications = 0, additions = 0;
};

/// How a chain's joint frames stand to each other.
enum class Geometry { denavit_hartenberg, general };

/// What it takes to compute the dynamics of a chain on the ground, all external wrenches measured.
struct ChainCounts {
  int bodies = 0;
  LuCount ours;               ///< forward dynamics, in the order of sparse-lu
  LuCount safe;               ///< the same, in the plain order of the articulated-body algorithm
  LuCount threshold;          ///< the same, pivots by Markowitz' criterion and threshold alone
  LuCount matrix_form;        ///< forward dynamics by the matrix form of the ABA (matrix_form.hpp)
  LuCount inverse;            ///< inverse dynamics, in the order of sparse-lu
  OperationCounts aba, rnea;  ///< with what is known before folded away; kinematics included
};
ChainCounts count_chain(const Host& host, int bodies, Geometry geometry);

/// What it takes to find the torques of a floating chain that stands on its first and its last
/// body, all but mz measured at both, accelerations of all but four joints (Nori, eq. 24).
struct StandingCounts {
  int bodies = 0, unknowns = 0;
  LuCount ours;
  LuCount threshold;     ///< pivots by Markowitz' criterion and threshold alone
  double dense = 0;      ///< multiplications of a dense LU and one solution
  OperationCounts rnea;  ///< of the same chain, if nothing but torques were unknown
};
StandingCounts count_standing(const Host& host, int bodies, Geometry geometry);

}  // namespace espalier::bench
