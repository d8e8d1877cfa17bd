#include "espalier/plugins/plugin.hpp"
#include "algorithms/instances/articulated_tree.hpp"
#include "algorithms/instances/passes.hpp"
#include "algorithms/operational_space/recursive.hpp"

ESPALIER_PLUGIN("operational-space", "0.2.0") {
  using namespace espalier;
  const Capabilities loops{.couplings = true, .loops = true, .several_supports = true};
  registrar.algorithm_at_double<RecursiveOperationalSpace>(
      {.name = "recursive",
       .summary = "quantities of operational-space control from the answer to unit task forces",
       .source = "Khatib (1987); theory/input-matrix 3.1, 3.4",
       .cost = "O(n m + nv^2 m)"},
      loops);
}
