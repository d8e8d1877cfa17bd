#include "algorithms/dense.hpp"
#include "algorithms/inverse_dynamics/rnea.hpp"
#include "espalier/plugins/plugin.hpp"

ESPALIER_PLUGIN("inverse-dynamics", "0.1.0") {
  using namespace espalier;
  const About rnea{.name = "rnea",
                   .summary = "recursive Newton-Euler algorithm",
                   .source = "Luh, Walker, Paul (1980); Featherstone (2008), Table 5.1",
                   .cost = "O(n)"};
  const About dense{.name = "dense",
                    .summary = "oracle: explicit Jacobians; allocates",
                    .source = "Featherstone (2008), section 3.2",
                    .cost = "O(n^3)"};
  registrar.algorithm<Rnea>(rnea, {});
  registrar.algorithm<RneaBias>(rnea, {});
  registrar.algorithm_at_double<DenseInverseDynamics>(dense,
                                                      {.couplings = true, .several_outputs = true});
  registrar.algorithm_at_double<DenseBias>(dense, {.couplings = true, .several_outputs = true});
}
