#include "espalier/plugins/plugin.hpp"
#include "algorithms/constrained_dynamics/delassus.hpp"
#include "algorithms/constrained_dynamics/pv.hpp"
#include "algorithms/instances/articulated_tree.hpp"
#include "algorithms/instances/passes.hpp"

ESPALIER_PLUGIN("constrained-dynamics", "0.2.0") {
  using namespace espalier;
  const Capabilities loops{.couplings = true, .loops = true, .several_supports = true};
  registrar.algorithm_at_double<PopovVereshchagin>(
      {.name = "pv",
       .summary = "Popov-Vereshchagin solver, on trees and cluster trees",
       .source = "Popov, Vereshchagin, Zenkevich (1978); Sathya et al. (2023)",
       .cost = "O(n + m^2 d + m^3)"},
      loops);
  registrar.algorithm_at_double<DelassusDynamics>(
      {.name = "delassus",
       .summary = "constraint forces from J M^-1 J^T by pv-osimr",
       .source = "Featherstone (2008), section 8.5; theory/delassus 4",
       .cost = "O(n + m^3)"},
      loops);
}
