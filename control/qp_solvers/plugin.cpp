#include "espalier/plugin.hpp"
#include "control/qp_solvers/alglib.hpp"

ESPALIER_PLUGIN("qp-alglib", "0.2.0") {
  using namespace espalier;
  registrar.qp_solver<AlglibSolver>(
      {.name = "alglib",
       .summary = "interior points with dense Cholesky factors, of ALGLIB (GPL 2 or later)",
       .source = "Vanderbei (1999)",
       .cost = "O(n^3 + rows n^2) per iteration"});
}
