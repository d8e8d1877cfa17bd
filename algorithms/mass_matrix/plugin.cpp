#include "espalier/plugins/plugin.hpp"
#include "algorithms/instances/passes.hpp"
#include "algorithms/mass_matrix/crba.hpp"

namespace espalier {
ESPALIER_SINGLE_INSTANCE void Crba<double>::compute(const double*, double*);
ESPALIER_SINGLE_INSTANCE void CompositeBodies<double>::compute(const double*,
                                                               const SpanningMotion<double>&,
                                                               double*);
ESPALIER_SINGLE_INSTANCE void CompositeState<double>::start(const double*, double*);
ESPALIER_SINGLE_INSTANCE void collect(const ChainGroup&, CompositeState<double>&, double*);
ESPALIER_SINGLE_INSTANCE void ChainComposites<double>::inward(int, const MassEntries<double>&,
                                                              ChainParents<double>&&);
ESPALIER_SINGLE_INSTANCE CompositeMoments<double> ChainComposites<double>::inward_alone(
    ChainUnits<double>::Single&, const MassEntries<double>&);
ESPALIER_SINGLE_INSTANCE auto ChainComposites<double>::inward(ChainUnits<double>::Side&,
                                                              const MassEntries<double>&);
}  // namespace espalier

ESPALIER_PLUGIN("mass-matrix", "0.2.0") {
  using namespace espalier;
  registrar.algorithm<Crba>({.name = "crba",
                             .summary = "joint-space inertia matrix by composite rigid bodies",
                             .source = "Featherstone (2008), Table 6.2",
                             .cost = "O(n d)"},
                            {});
  registrar.algorithm<Crba>({.name = "c-crba",
                             .summary = "composite rigid bodies on the cluster tree",
                             .source = "Featherstone (2008), Table 6.2; theory/clusters 5.4",
                             .cost = "O(n d)"},
                            {.couplings = true, .loops = true, .several_supports = true});
}
