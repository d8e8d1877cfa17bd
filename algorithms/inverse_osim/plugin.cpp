#include "algorithms/inverse_osim/dense_osim.hpp"
#include "algorithms/inverse_osim/efpa.hpp"
#include "algorithms/inverse_osim/kjr.hpp"
#include "algorithms/inverse_osim/ltl_osim.hpp"
#include "algorithms/inverse_osim/projected_efpa.hpp"
#include "algorithms/inverse_osim/pv_osim.hpp"
#include "espalier/plugins/plugin.hpp"

ESPALIER_PLUGIN("inverse-osim", "0.1.0") {
  using namespace espalier;
  const Capabilities loops{.couplings = true, .loops = true, .several_supports = true};
  Capabilities all = loops;
  all.joint_supplied_dynamics = true;
  registrar.algorithm<Kjr>({.name = "kjr",
                            .summary = "operational-space inertias of bodies, base to tips",
                            .source = "Kreutz-Delgado, Jain, Rodriguez (1992)",
                            .cost = "O(n + m^2 d)"},
                           {});
  registrar.algorithm<Efpa>({.name = "efpa",
                             .summary = "extended force propagators",
                             .source = "Wensing, Featherstone, Orin (2012), Table I",
                             .cost = "O(n + m d + m^2)"},
                            {});
  registrar.algorithm<LtlOsim>({.name = "ltl-osim",
                                .summary = "sparse factor L^T L of the inertia matrix",
                                .source = "Featherstone (2010)",
                                .cost = "O(n d^2 + m d^2 + m^2 d)"},
                               {});
  registrar.algorithm<PvOsim>({.name = "pv-osim",
                               .summary = "inward sweep of the Popov-Vereshchagin solver",
                               .source = "Sathya et al. (2023), Algorithm 1",
                               .cost = "O(n + m^2 d)"},
                              {});
  registrar.algorithm<PvOsimr>(
      {.name = "pv-osimr",
       .summary = "the same, rows reduced to a twist where that is cheaper",
       .source = "Sathya et al. (2023), Algorithm 3, corrected: SPEC 4",
       .cost = "O(n + m^2)"},
      {});
  registrar.algorithm<Kjr>({.name = "c-kjr",
                            .summary = "kjr on the cluster tree",
                            .source = "SPEC 5.6",
                            .cost = "O(n + m^2 d)"},
                           loops);
  registrar.algorithm<Efpa>({.name = "c-efpa",
                             .summary = "extended force propagators on the cluster tree",
                             .source = "Chignoli et al. (2023), Algorithm 3, fused: SPEC 5.6",
                             .cost = "O(n + m d + m^2)"},
                            loops);
  registrar.algorithm<PvOsim>({.name = "c-pv-osim",
                               .summary = "pv-osim on the cluster tree",
                               .source = "SPEC 5.6",
                               .cost = "O(n + m^2 d)"},
                              loops);
  registrar.algorithm<PvOsimr>({.name = "c-pv-osimr",
                                .summary = "pv-osimr on the cluster tree",
                                .source = "SPEC 5.6",
                                .cost = "O(n + m^2)"},
                               loops);
  registrar.algorithm<ProjectedEfpa>(
      {.name = "projected-efpa",
       .summary = "inertia matrix of the spanning tree, rotors included, projected by G",
       .source = "Chignoli et al. (2023), section II-E",
       .cost = "O(n d + nv^3 + m nv^2)"},
      loops);
  registrar.algorithm<ApproximateEfpa>(
      {.name = "approximate-efpa",
       .summary = "approximates: efpa on the links, rotors as armature alone",
       .source = "Chignoli et al. (2023), section II-E",
       .cost = "O(n + m d + m^2)"},
      {.couplings = true, .several_supports = true, .exact = false});
  registrar.algorithm_at_double<DenseInverseOsim>(
      {.name = "dense",
       .summary = "oracle: explicit Jacobians and a dense solve; allocates",
       .source = "Khatib (1987)",
       .cost = "O(n^3)"},
      all);
}
