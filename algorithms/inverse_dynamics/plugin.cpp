#include "espalier/plugins/plugin.hpp"
#include "algorithms/instances/passes.hpp"
#include "algorithms/inverse_dynamics/approximate_rnea.hpp"
#include "algorithms/inverse_dynamics/projected_rnea.hpp"
#include "algorithms/inverse_dynamics/rnea.hpp"

namespace espalier {
ESPALIER_SINGLE_INSTANCE void Rnea<double>::compute(const double*, const double*, const double*,
                                                    double*, const Wrenches<double>*);
ESPALIER_SINGLE_INSTANCE void RneaState<double>::update(const double*, const double*, const double*,
                                                        const Vec3<double>&);
ESPALIER_SINGLE_INSTANCE void take_parents_motion(const ChainGroup&, RneaState<double>&);
ESPALIER_SINGLE_INSTANCE void show_motion(const ChainGroup&, RneaState<double>&);
ESPALIER_SINGLE_INSTANCE void take_forces(const ChainGroup&, RneaState<double>&);
ESPALIER_SINGLE_INSTANCE void propagate_to_parents(const ChainGroup&, RneaState<double>&);
ESPALIER_SINGLE_INSTANCE void forward_motion(const ChainGroup&, RneaState<double>&, const double*);
ESPALIER_SINGLE_INSTANCE void collect_forces(const ChainGroup&, RneaState<double>&, double*);
}  // namespace espalier

ESPALIER_PLUGIN("inverse-dynamics", "0.2.0") {
  using namespace espalier;
  const About rnea{.name = "rnea",
                   .summary = "recursive Newton-Euler algorithm",
                   .source = "Luh, Walker, Paul (1980); Featherstone (2008), Table 5.1",
                   .cost = "O(n)"};
  registrar.algorithm<Rnea>(rnea, {});
  registrar.algorithm<RneaBias>(rnea, {});
  const About c_rnea{.name = "c-rnea",
                     .summary = "recursive Newton-Euler algorithm on the cluster tree",
                     .source = "Chignoli et al. (2023), section VI, fused: theory/clusters 5.3",
                     .cost = "O(n)"};
  const Capabilities loops{.couplings = true, .loops = true, .several_supports = true};
  Capabilities all = loops;
  all.joint_supplied_dynamics = true;
  registrar.algorithm<Rnea>(c_rnea, all);
  registrar.algorithm<RneaBias>(c_rnea, all);
  registrar.algorithm_at<ProjectedRnea, double, Count>(
      {.name = "projected-rnea",
       .summary = "recursive Newton-Euler on the spanning tree, rotors included, and one dense G",
       .source = "Featherstone (2008), section 8.12; Chignoli et al. (2023), section II-C",
       .cost = "O(n^2)"},
      loops);
  registrar.algorithm<ApproximateRnea>(
      {.name = "approximate-rnea",
       .summary = "approximates: rotors as armature alone",
       .source = "Chignoli et al. (2023), section II-C",
       .cost = "O(n)"},
      {.couplings = true, .several_supports = true, .exact = false});
  registrar.algorithm_at<UnconstrainedRnea, double, Count>(
      {.name = "unconstrained-rnea",
       .summary = "approximates: no inertia of rotors and no force through couplings and loops",
       .source = "Chignoli et al. (2023), section II-C",
       .cost = "O(n)"},
      {.couplings = true, .loops = true, .several_supports = true, .exact = false});
}
