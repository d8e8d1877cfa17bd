#include "espalier/plugins/plugin.hpp"
#include "algorithms/input_matrix/closed_form.hpp"
#include "algorithms/input_matrix/eufm.hpp"
#include "algorithms/input_matrix/iim_entry.hpp"
#include "algorithms/instances/articulated_tree.hpp"
#include "algorithms/instances/passes.hpp"

ESPALIER_PLUGIN("input-matrix", "0.2.0") {
  using namespace espalier;
  const Capabilities loops{.couplings = true, .loops = true, .several_supports = true};
  register_iim(registrar);
  registrar.algorithm_at_double<ClosedForm>(
      {.name = "iim-closed-form",
       .summary = "implicit inversion method as published: block matrices of pairs; allocates",
       .source = "Krög, Gattringer, Müller, equation (27); theory/input-matrix 3.2",
       .cost = "O(n^2 m)"},
      {.couplings = true, .loops = true});
  registrar.algorithm_at_double<Eufm>(
      {.name = "eufm",
       .summary = "extended unit force method: m + 1 passes of c-aba",
       .source = "Gattringer et al. (2019); Krög et al., section 4; theory/input-matrix 3.3",
       .cost = "O(n m)"},
      loops);
}
