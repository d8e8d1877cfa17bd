#include "espalier/plugins/plugin.hpp"
#include "algorithms/bremer/bremer_on.hpp"
#include "algorithms/bremer/minimal_form.hpp"
#include "algorithms/bremer/subsystem_matrices.hpp"

ESPALIER_PLUGIN("bremer", "0.2.0") {
  using namespace espalier;
  const Capabilities all{
      .couplings = true, .loops = true, .several_supports = true, .joint_supplied_dynamics = true};
  registrar.algorithm<BremerOn>(
      {.name = "bremer-on",
       .summary = "Bremer's recursions over subsystems, which the user may group",
       .source = "Bremer (2008); Krög et al., equations (8) to (12); theory/template 2.1",
       .cost = "O(n)"},
      all);
  registrar.algorithm<MinimalForm>(
      {.name = "minimal-form",
       .summary = "subsystems' matrices projected on the independent rates, dense solve",
       .source = "Krög et al., equations (6) and (9); theory/template 2",
       .cost = "O(n d^2 + nv^3)"},
      all);
  registrar.algorithm_at_double<BremerMatrices>(
      {.name = "bremer",
       .summary = "M, h, B, T, dT/dt, F and c of every subsystem by name; allocates",
       .source = "Bremer (2008); Krög et al., section 3.1; theory/template 2, instance C",
       .cost = "O(n)"},
      all);
}
