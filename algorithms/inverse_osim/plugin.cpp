#include "espalier/plugins/plugin.hpp"
#include "algorithms/instances/articulated_tree.hpp"
#include "algorithms/inverse_osim/propagators.hpp"
#include "algorithms/inverse_osim/pv_osim.hpp"

ESPALIER_PLUGIN("inverse-osim", "0.2.0") {
  using namespace espalier;
  const Capabilities loops{.couplings = true, .loops = true, .several_supports = true};
  register_propagators(registrar);
  registrar.algorithm_at<PvOsim, double, Count>(
      {.name = "pv-osim",
       .summary = "inward sweep of the Popov-Vereshchagin solver",
       .source = "Sathya et al. (2023), Algorithm 1",
       .cost = "O(n + m^2 d)"},
      {});
  registrar.algorithm<PvOsimr>(
      {.name = "pv-osimr",
       .summary = "the same, rows reduced to a twist where that is cheaper",
       .source = "Sathya et al. (2023), Algorithm 3, corrected: theory/delassus 4",
       .cost = "O(n + m^2)"},
      {});
  registrar.algorithm_at<PvOsimrEveryNode, double, Count>(
      {.name = "pv-osimr-every-node",
       .summary = "pv-osimr with the published rule: reduced wherever rows meet",
       .source = "Sathya et al. (2023), Algorithm 3",
       .cost = "O(n + m^2)"},
      {});
  registrar.algorithm_at<PvOsim, double, Count>({.name = "c-pv-osim",
                                                 .summary = "pv-osim on the cluster tree",
                                                 .source = "theory/clusters 5.6",
                                                 .cost = "O(n + m^2 d)"},
                                                loops);
  registrar.algorithm<PvOsimr>({.name = "c-pv-osimr",
                                .summary = "pv-osimr on the cluster tree",
                                .source = "theory/clusters 5.6",
                                .cost = "O(n + m^2)"},
                               loops);
}
