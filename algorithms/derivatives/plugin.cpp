#include "espalier/plugins/plugin.hpp"

#include "algorithms/derivatives/adjoints.hpp"
#include "algorithms/derivatives/c_aba_derivatives.hpp"
#include "algorithms/derivatives/c_rnea_derivatives.hpp"
#include "algorithms/derivatives/coriolis_matrix.hpp"
#include "algorithms/derivatives/inverse_mass_matrix.hpp"

ESPALIER_PLUGIN("derivatives", "0.1.0") {
  using namespace espalier;
  const Capabilities tree{};
  const Capabilities loops{.couplings = true, .loops = true, .several_outputs = true};
  registrar.algorithm<CRneaDerivatives>({.name = "rnea-derivatives",
                                         .summary = "derivatives of inverse dynamics, and M",
                                         .source = "Singh, Russell, Wensing (2022); SPEC 12",
                                         .cost = "O(n d)"},
                                        tree);
  registrar.algorithm<CRneaDerivatives>(
      {.name = "c-rnea-derivatives",
       .summary = "derivatives of inverse dynamics on the cluster tree, and M",
       .source = "Singh, Russell, Wensing (2022); SPEC 13",
       .cost = "O(n d)"},
      loops);
  registrar.algorithm<CAbaDerivatives>({.name = "aba-derivatives",
                                        .summary = "derivatives of forward dynamics, and M^-1",
                                        .source = "Carpentier, Mansard (2018); SPEC 15",
                                        .cost = "O(n^2)"},
                                       tree);
  registrar.algorithm<CAbaDerivatives>(
      {.name = "c-aba-derivatives",
       .summary = "derivatives of forward dynamics on the cluster tree, and M^-1",
       .source = "Carpentier, Mansard (2018); SPEC 15",
       .cost = "O(n^2)"},
      loops);
  registrar.algorithm<LtlInverseMassMatrix>(
      {.name = "ltl-inverse-mass-matrix",
       .summary = "M^-1 from M and its sparse factor",
       .source = "Featherstone (2008), Tables 6.2 to 6.5; SPEC 15",
       .cost = "O(n d^2 + n^2)"},
      loops);
  registrar.algorithm<CompositeCoriolisMatrix>(
      {.name = "composite-coriolis",
       .summary = "C with dM/dt - 2 C skew, from composite bodies",
       .source = "Echeandia, Wensing (2021); SPEC 16",
       .cost = "O(n d)"},
      loops);
  registrar.algorithm<CRneaAdjoint>({.name = "c-rnea-adjoint",
                                     .summary = "gradient of lambda^T tau",
                                     .source = "SPEC 19.1",
                                     .cost = "O(n)"},
                                    loops);
  registrar.algorithm<CAbaAdjoint>({.name = "c-aba-adjoint",
                                    .summary = "gradient of nu^T vdot",
                                    .source = "SPEC 15 and 19.1",
                                    .cost = "O(n d^2)"},
                                   loops);
}
