#include "espalier/plugin.hpp"
#include "simulation/contact/stepping/derivatives/moreau_derivatives_entry.hpp"
#include "simulation/contact/stepping/moreau.hpp"

ESPALIER_PLUGIN("contact-step", "0.2.0") {
  using namespace espalier;
  using namespace espalier::contact;
  Entry& e = registrar.add(Kind::algorithm,
                           {.name = "moreau",
                            .summary = "semi-implicit Euler with impulses; damping implicit",
                            .source = "Moreau (1988)",
                            .cost = "O(n d^2 + m^2 d)"});
  e.problem = ContactStep<double>::problem;
  e.capabilities = {
      .couplings = true, .loops = true, .several_supports = true, .joint_supplied_dynamics = true};
  e.algorithm[ScalarTraits<double>::index] = [](const Setup& s) {
    return std::make_unique<Moreau<double>>(s.model);
  };
  e.algorithm[ScalarTraits<Pack>::index] = [](const Setup& s) {
    return std::make_unique<Moreau<Pack>>(s.model);
  };
  register_moreau_derivatives(registrar);
}
