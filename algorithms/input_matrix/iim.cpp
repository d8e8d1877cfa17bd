#include "algorithms/input_matrix/iim.hpp"

#include "algorithms/input_matrix/iim_entry.hpp"
#include "algorithms/instances/articulated_tree.hpp"
#include "algorithms/instances/passes.hpp"

namespace espalier {

void register_iim(Registrar& registrar) {
  const Capabilities loops{.couplings = true, .loops = true, .several_supports = true};
  registrar.algorithm<Iim>(
      {.name = "iim",
       .summary = "implicit inversion method, recursive: two sweeps for all columns",
       .source =
           "Krög, Gattringer, Müller, section 5; theory/input-matrix 3.1, theory/clusters 5.6",
       .cost = "O(n m)"},
      loops);
}

}  // namespace espalier
