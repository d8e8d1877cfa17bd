#include "simulation/contact/stepping/derivatives/moreau_derivatives.hpp"

#include "simulation/contact/stepping/derivatives/moreau_derivatives_entry.hpp"

namespace espalier::contact {

void register_moreau_derivatives(Registrar& registrar) {
  Entry& e = registrar.add(Kind::algorithm,
                           {.name = "moreau-derivatives",
                            .summary = "the step's derivatives with the modes of all rows held",
                            .source = "theory/contact 8",
                            .cost = "O(nv (n + m) + m^3)"});
  e.problem = ContactStepDerivatives<double>::problem;
  e.capabilities = {.couplings = true, .loops = true, .several_supports = true};
  e.algorithm[ScalarTraits<double>::index] = [](const Setup& s) {
    return std::make_unique<MoreauDerivatives>(s.model);
  };
}

}  // namespace espalier::contact
