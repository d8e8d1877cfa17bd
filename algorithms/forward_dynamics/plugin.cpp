#include "algorithms/dense.hpp"
#include "algorithms/forward_dynamics/aba.hpp"
#include "algorithms/forward_dynamics/crba_ltl.hpp"
#include "espalier/plugins/plugin.hpp"

ESPALIER_PLUGIN("forward-dynamics", "0.1.0") {
  using namespace espalier;
  registrar.algorithm<Aba>({.name = "aba",
                            .summary = "articulated-body algorithm",
                            .source = "Featherstone (2008), Table 7.1",
                            .cost = "O(n)"},
                           {});
  registrar.algorithm<CrbaLtl>(
      {.name = "crba-ltl",
       .summary = "joint-space inertia matrix and its sparse factor L^T L",
       .source = "Featherstone (2008), Tables 6.2 to 6.5",
       .cost = "O(n d^2)"},
      {});
  registrar.algorithm_at_double<DenseForwardDynamics>(
      {.name = "dense",
       .summary = "oracle: explicit Jacobians and a dense solve; allocates",
       .source = "Featherstone (2008), section 3.2",
       .cost = "O(n^3)"},
      {.couplings = true, .several_outputs = true});
}
