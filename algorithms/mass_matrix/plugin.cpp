#include "espalier/plugins/plugin.hpp"
#include "algorithms/instances/passes.hpp"
#include "algorithms/mass_matrix/crba.hpp"

ESPALIER_PLUGIN("mass-matrix", "0.2.0") {
  using namespace espalier;
  registrar.algorithm<Crba>({.name = "crba",
                             .summary = "joint-space inertia matrix by composite rigid bodies",
                             .source = "Featherstone (2008), Table 6.2",
                             .cost = "O(n d)"},
                            {});
  registrar.algorithm<Crba>({.name = "c-crba",
                             .summary = "composite rigid bodies on the cluster tree",
                             .source = "Featherstone (2008), Table 6.2; theory/clusters 5.4",
                             .cost = "O(n d)"},
                            {.couplings = true, .loops = true, .several_supports = true});
}
