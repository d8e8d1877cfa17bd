#include "espalier/plugin.hpp"
#include "espalier/simulation/contact/collision/closed_form.hpp"

ESPALIER_PLUGIN("collision", "0.2.0") {
  using namespace espalier;
  using namespace espalier::contact;
  Entry& e = registrar.add(
      Kind::algorithm,
      {.name = "closed-form",
       .summary = "spheres, capsules, boxes, cylinders and hulls on planes and height fields",
       .source = "Ericson (2005), chapter 5",
       .cost = "O(1) per pair"});
  e.problem = Collision<double>::problem;
  e.capabilities = {
      .couplings = true, .loops = true, .several_supports = true, .joint_supplied_dynamics = true};
  e.algorithm[ScalarTraits<double>::index] = [](const Setup& s) {
    return std::make_unique<ClosedForm<double>>(s.model);
  };
  e.algorithm[ScalarTraits<Pack>::index] = [](const Setup& s) {
    return std::make_unique<ClosedForm<Pack>>(s.model);
  };
}
