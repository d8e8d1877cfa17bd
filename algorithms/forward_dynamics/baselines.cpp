#include "algorithms/forward_dynamics/baselines.hpp"

#include "algorithms/forward_dynamics/c_aba_stacked.hpp"
#include "algorithms/forward_dynamics/crba_ltl.hpp"
#include "algorithms/forward_dynamics/lagrange_multiplier.hpp"
#include "algorithms/forward_dynamics/projection.hpp"
#include "algorithms/instances/passes.hpp"

namespace espalier {

void register_baselines(Registrar& registrar) {
  const Capabilities loops{.couplings = true, .loops = true, .several_supports = true};
  Capabilities spanning = loops;
  spanning.weightless_tree = false;
  registrar.algorithm_at<CrbaLtl, double, Count>(
      {.name = "crba-ltl",
       .summary = "joint-space inertia matrix and its sparse factor L^T L",
       .source = "Featherstone (2008), Tables 6.2 to 6.5",
       .cost = "O(n d^2)"},
      {});
  registrar.algorithm_at<Projection, double, Count>(
      {.name = "projection",
       .summary = "inertia matrix of the spanning tree, rotors included, projected by G",
       .source = "Featherstone (2008), section 8.5; Chignoli et al. (2023), section II-D",
       .cost = "O(n d + nv^3)"},
      loops);
  registrar.algorithm_at<LagrangeMultiplier, double, Count>(
      {.name = "lagrange-multiplier",
       .summary = "constraint forces by the sparse factor of the spanning tree's inertia matrix",
       .source = "Featherstone (2008), sections 6.5 and 8.5; Chignoli et al. (2023), section II-D",
       .cost = "O(n d^2 + m^2 d + m^3)"},
      spanning);
  registrar.algorithm_at<CAbaStacked, double, Count>(
      {.name = "c-aba-stacked",
       .summary = "articulated-body algorithm on the cluster tree, the published 6N x 6N form",
       .source = "Chignoli et al. (2023), Algorithm 1; theory/template 2, instance B",
       .cost = "O(n), O(N^2) in a cluster of N bodies"},
      loops);
}

}  // namespace espalier
