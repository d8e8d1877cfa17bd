#include "algorithms/inverse_osim/propagators.hpp"

#include "algorithms/instances/articulated_tree.hpp"
#include "algorithms/instances/passes.hpp"
#include "algorithms/inverse_osim/efpa.hpp"
#include "algorithms/inverse_osim/kjr.hpp"
#include "algorithms/inverse_osim/ltl_osim.hpp"
#include "algorithms/inverse_osim/projected_efpa.hpp"

namespace espalier {

void register_propagators(Registrar& registrar) {
  const Capabilities loops{.couplings = true, .loops = true, .several_supports = true};
  registrar.algorithm_at<Kjr, double, Count>(
      {.name = "kjr",
       .summary = "operational-space inertias of bodies, base to tips",
       .source = "Kreutz-Delgado, Jain, Rodriguez (1992)",
       .cost = "O(n + m^2 d)"},
      {});
  registrar.algorithm<Efpa>({.name = "efpa",
                             .summary = "extended force propagators",
                             .source = "Wensing, Featherstone, Orin (2012), Table I",
                             .cost = "O(n + m d + m^2)"},
                            {});
  registrar.algorithm_at<LtlOsim, double, Count>(
      {.name = "ltl-osim",
       .summary = "sparse factor L^T L of the inertia matrix",
       .source = "Featherstone (2010)",
       .cost = "O(n d^2 + m d^2 + m^2 d)"},
      {});
  registrar.algorithm_at<Kjr, double, Count>({.name = "c-kjr",
                                              .summary = "kjr on the cluster tree",
                                              .source = "theory/clusters 5.6",
                                              .cost = "O(n + m^2 d)"},
                                             loops);
  registrar.algorithm<Efpa>(
      {.name = "c-efpa",
       .summary = "extended force propagators on the cluster tree",
       .source = "Chignoli et al. (2023), section VIII, fused: theory/clusters 5.6",
       .cost = "O(n + m d + m^2)"},
      loops);
  registrar.algorithm_at<ProjectedEfpa, double, Count>(
      {.name = "projected-efpa",
       .summary = "inertia matrix of the spanning tree, rotors included, projected by G",
       .source = "Chignoli et al. (2023), section II-E",
       .cost = "O(n d + nv^3 + m nv^2)"},
      loops);
  registrar.algorithm_at<ApproximateEfpa, double, Count>(
      {.name = "approximate-efpa",
       .summary = "approximates: efpa on the links, rotors as armature alone",
       .source = "Chignoli et al. (2023), section II-E",
       .cost = "O(n + m d + m^2)"},
      {.couplings = true, .several_supports = true, .exact = false});
}

}  // namespace espalier
