#include "espalier/plugins/plugin.hpp"
#include "algorithms/forward_dynamics/aba.hpp"
#include "algorithms/forward_dynamics/approximate_aba.hpp"
#include "algorithms/forward_dynamics/baselines.hpp"
#include "algorithms/forward_dynamics/c_aba.hpp"
#include "algorithms/instances/articulated_clusters.hpp"

namespace espalier {
ESPALIER_SINGLE_INSTANCE void Aba<double>::compute(const double*, const double*, const double*,
                                                   double*, const Wrenches<double>*);
ESPALIER_SINGLE_INSTANCE void CAba<double>::compute(const double*, const double*, const double*,
                                                    double*, const Wrenches<double>*);
ESPALIER_SINGLE_INSTANCE void ArticulatedState<double>::update(const double*, const double*,
                                                               const Vec3<double>&);
}  // namespace espalier

ESPALIER_PLUGIN("forward-dynamics", "0.2.0") {
  using namespace espalier;
  registrar.algorithm<Aba>({.name = "aba",
                            .summary = "articulated-body algorithm",
                            .source = "Featherstone (2008), Table 7.1",
                            .cost = "O(n)"},
                           {});
  registrar.algorithm<CAba>(
      {.name = "c-aba",
       .summary = "articulated-body algorithm on the cluster tree",
       .source = "Chignoli et al. (2023), Algorithm 1, fused: theory/clusters 5.4",
       .cost = "O(n)"},
      {.couplings = true,
       .loops = true,
       .several_supports = true,
       .joint_supplied_dynamics = true});
  registrar.algorithm<ApproximateAba>(
      {.name = "approximate-aba",
       .summary = "approximates: articulated-body algorithm on the links, rotors as armature alone",
       .source = "Chignoli et al. (2023), section II-D",
       .cost = "O(n)"},
      {.couplings = true, .several_supports = true, .exact = false});
  register_baselines(registrar);
}
