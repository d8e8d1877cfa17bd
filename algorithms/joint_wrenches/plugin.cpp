#include "espalier/plugins/plugin.hpp"
#include "algorithms/joint_wrenches/joint_reactions.hpp"

ESPALIER_PLUGIN("joint-wrenches", "0.2.0") {
  using namespace espalier;
  registrar.algorithm_at_double<JointReactions>(
      {.name = "joint-reactions",
       .summary = "what every joint transmits, loop joints included; allocates",
       .source = "Featherstone (2008), Table 5.1 and section 8.4; theory/clusters 5.1",
       .cost = "O(n)"},
      {.couplings = true, .loops = true, .several_supports = true});
}
