#include "espalier/plugins/plugin.hpp"

#include "algorithms/derivatives/adjoints.hpp"
#include "algorithms/derivatives/c_aba_derivatives.hpp"
#include "algorithms/derivatives/c_rnea_derivatives.hpp"
#include "algorithms/derivatives/centroidal.hpp"
#include "algorithms/derivatives/constrained_dynamics_derivatives.hpp"
#include "algorithms/derivatives/design/design.hpp"
#include "algorithms/derivatives/design/design_variation.hpp"
#include "algorithms/derivatives/kinematics_derivatives.hpp"
#include "algorithms/derivatives/matrices/christoffel_symbols.hpp"
#include "algorithms/derivatives/matrices/coriolis_matrix.hpp"
#include "algorithms/derivatives/matrices/inverse_mass_matrix.hpp"
#include "algorithms/derivatives/parts.hpp"
#include "algorithms/derivatives/step_derivatives.hpp"

ESPALIER_PLUGIN("derivatives", "0.2.0") {
  using namespace espalier;
  const Capabilities tree{};
  const Capabilities loops{.couplings = true, .loops = true, .several_supports = true};
  registrar.algorithm_at<CRneaDerivatives, double, Pack>(
      {.name = "rnea-derivatives",
       .summary = "derivatives of inverse dynamics, and M",
       .source = "Singh, Russell, Wensing (2022); theory/derivatives 12",
       .cost = "O(n d)"},
      tree);
  registrar.algorithm_at<CRneaDerivatives, double, Pack>(
      {.name = "c-rnea-derivatives",
       .summary = "derivatives of inverse dynamics on the cluster tree, and M",
       .source = "Singh, Russell, Wensing (2022); theory/derivatives 13",
       .cost = "O(n d)"},
      loops);
  registrar.algorithm_at<CAbaDerivatives, double, Pack>(
      {.name = "aba-derivatives",
       .summary = "derivatives of forward dynamics, and M^-1",
       .source = "Carpentier, Mansard (2018); theory/derivatives 15",
       .cost = "O(n^2)"},
      tree);
  registrar.algorithm_at<CAbaDerivatives, double, Pack>(
      {.name = "c-aba-derivatives",
       .summary = "derivatives of forward dynamics on the cluster tree, and M^-1",
       .source = "Carpentier, Mansard (2018); theory/derivatives 15",
       .cost = "O(n^2)"},
      loops);
  registrar.algorithm_at_double<VariationConstrainedDynamics>(
      {.name = "variation-constrained",
       .summary = "derivatives of accelerations and constraint forces of held end-effectors",
       .source = "theory/derivatives 15",
       .cost = "O(n^2 d + m n^2)"},
      loops);
  registrar.algorithm_at<LtlInverseMassMatrix, double, Pack>(
      {.name = "ltl-inverse-mass-matrix",
       .summary = "M^-1 from M and its sparse factor",
       .source = "Featherstone (2008), Tables 6.2 to 6.5; theory/derivatives 15",
       .cost = "O(n d^2 + n^2)"},
      loops);
  registrar.algorithm_at_double<CompositeCoriolisMatrix>(
      {.name = "composite-coriolis",
       .summary = "C with dM/dt - 2 C skew, from composite bodies",
       .source = "Echeandia, Wensing (2021); theory/derivatives 16",
       .cost = "O(n d)"},
      loops);
  registrar.algorithm_at_double<CompositeChristoffel>(
      {.name = "composite-christoffel",
       .summary = "symbols whose sums with rates are the Coriolis matrix",
       .source = "Echeandia, Wensing (2021); theory/derivatives 16",
       .cost = "O(n d^2) or O(n^2 d)"},
      loops);
  registrar.algorithm_at_double<CRneaAdjoint>({.name = "c-rnea-adjoint",
                                               .summary = "gradient of lambda^T tau",
                                               .source = "theory/derivatives 19.1",
                                               .cost = "O(n)"},
                                              loops);
  registrar.algorithm_at_double<CAbaAdjoint>({.name = "c-aba-adjoint",
                                              .summary = "gradient of nu^T vdot",
                                              .source = "theory/derivatives 15 and 19.1",
                                              .cost = "O(n d^2)"},
                                             loops);
  registrar.algorithm_at_double<VariationKinematics>(
      {.name = "variation-kinematics",
       .summary = "derivatives of links' twists and accelerations, and of their Jacobians",
       .source = "theory/derivatives 13.2 and 15",
       .cost = "O(d) per link of depth d"},
      loops);
  registrar.algorithm_at_double<CompositeCentroidal>(
      {.name = "composite-centroidal",
       .summary = "centroidal momentum, its matrix and derivatives, world axes",
       .source = "Orin, Goswami, Lee (2013); theory/derivatives 12",
       .cost = "O(n)"},
      loops);
  registrar.algorithm_at_double<AdjointDesign>(
      {.name = "adjoint-design",
       .summary = "gradient of lambda^T tau by inertias, placements, gear ratios and laws",
       .source = "theory/derivatives 18",
       .cost = "O(n)"},
      loops);
  registrar.algorithm_at_double<AdjointVariation>(
      {.name = "adjoint-variation",
       .summary = "gradient of lambda^T tau along families of robots: bars, ratios, any number",
       .source = "theory/derivatives 18",
       .cost = "O(n)"},
      loops);
  // Steps of different orders answer differently: none is the reference of the other.
  Capabilities steps = loops;
  steps.exact = false;
  registrar.algorithm_at_double<SemiImplicitEulerDerivatives>(
      {.name = "semi-implicit-euler-step",
       .summary = "approximates: a step of order 1 with A and B, loops closed",
       .source = "theory/derivatives 19.3",
       .cost = "O(n^2 d)"},
      steps);
  registrar.algorithm_at_double<Rk4Derivatives>(
      {.name = "rk4-step",
       .summary = "approximates: a step of order 4 with A and B, loops closed",
       .source = "Celledoni, Marthinsen, Owren (2003); theory/derivatives 19.3",
       .cost = "O(n^3)"},
      steps);
  add_recursive(registrar);
  add_hessian_products(registrar);
}
