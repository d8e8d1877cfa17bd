#include "algorithms/derivatives/matrices/recursive_inverse.hpp"
#include "algorithms/derivatives/parts.hpp"

namespace espalier {

void add_recursive(Registrar& registrar) {
  registrar.algorithm_at_double<RecursiveInverseMassMatrix>(
      {.name = "recursive-inverse-mass-matrix",
       .summary = "M^-1 without M, by articulated inertias of the cluster tree",
       .source = "Carpentier (2018); theory/derivatives 15",
       .cost = "O(n^2)"},
      {.couplings = true, .loops = true});
}

}  // namespace espalier
