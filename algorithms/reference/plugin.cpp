#include "espalier/plugins/plugin.hpp"
#include "algorithms/reference/aba.hpp"
#include "algorithms/reference/c_aba.hpp"
#include "algorithms/reference/c_efpa.hpp"
#include "algorithms/reference/c_rnea.hpp"
#include "algorithms/reference/crba.hpp"
#include "algorithms/reference/iim.hpp"
#include "algorithms/reference/pv_osimr.hpp"
#include "algorithms/reference/rnea.hpp"

// Algorithms as the literature prints them, for readers and as a measure for the fast ones.
ESPALIER_PLUGIN("reference", "0.2.0") {
  using namespace espalier;
  const Capabilities tree{};
  const Capabilities loops{.couplings = true, .loops = true, .several_supports = true};
  registrar.algorithm_at_double<reference::Aba>(
      {.name = "aba-reference",
       .summary = "articulated-body algorithm as printed; allocates",
       .source = "Featherstone (2008), Table 7.1",
       .cost = "O(n)"},
      tree);
  registrar.algorithm_at_double<reference::Rnea>(
      {.name = "rnea-reference",
       .summary = "recursive Newton-Euler algorithm as printed; allocates",
       .source = "Featherstone (2008), Table 5.1",
       .cost = "O(n)"},
      tree);
  registrar.algorithm_at_double<reference::Crba>(
      {.name = "crba-reference",
       .summary = "composite-rigid-body algorithm as printed; allocates",
       .source = "Featherstone (2008), Table 6.2",
       .cost = "O(n d)"},
      tree);
  registrar.algorithm_at_double<reference::CAba>(
      {.name = "c-aba-reference",
       .summary = "articulated-body algorithm on the cluster tree as printed, 6N x 6N; allocates",
       .source = "Chignoli et al. (2023), Algorithm 1",
       .cost = "O(n), O(N^3) in a cluster of N bodies"},
      loops);
  registrar.algorithm_at_double<reference::CRnea>(
      {.name = "c-rnea-reference",
       .summary = "recursive Newton-Euler algorithm on the cluster tree as printed; allocates",
       .source = "Chignoli et al. (2023), equations (31), (33) and (35)",
       .cost = "O(n), O(N^2) in a cluster of N bodies"},
      loops);
  registrar.algorithm_at_double<reference::CEfpa>(
      {.name = "c-efpa-reference",
       .summary = "extended force propagators on the cluster tree as printed; allocates",
       .source = "Chignoli et al. (2023), equations (57), (62) and (67)",
       .cost = "O(n + m d + m^2)"},
      loops);
  registrar.algorithm_at_double<reference::PvOsimr>(
      {.name = "pv-osimr-reference",
       .summary = "PV-OSIMr as printed, misprints put right; allocates",
       .source = "Sathya, Decré, Swevers (2023), Algorithm 3",
       .cost = "O(n + m^2)"},
      tree);
  registrar.algorithm_at_double<reference::Iim>(
      {.name = "iim-reference",
       .summary = "implicit inversion method as printed: block matrices of pairs; allocates",
       .source = "Krög, Gattringer, Müller, equations (8) to (12), (17), (25) and (27)",
       .cost = "O(n^2 m)"},
      loops);
}
