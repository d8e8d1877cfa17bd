#include "espalier/plugin.hpp"
#include "simulation/contact/solvers/gauss_seidel_newton.hpp"

namespace {

using namespace espalier;
using namespace espalier::contact;

/// Solvers are of impulses alone: any model will do.
template <template <class> class A>
void add(Registrar& registrar, About about) {
  Entry& e = registrar.add(Kind::algorithm, std::move(about));
  e.problem = A<double>::problem;
  e.capabilities = {
      .couplings = true, .loops = true, .several_supports = true, .joint_supplied_dynamics = true};
  e.algorithm[ScalarTraits<double>::index] = [](const Setup& s) {
    return std::make_unique<A<double>>(s.model);
  };
  e.algorithm[ScalarTraits<Pack>::index] = [](const Setup& s) {
    return std::make_unique<A<Pack>>(s.model);
  };
}

}  // namespace

ESPALIER_PLUGIN("contact-impulses", "0.2.0") {
  add<GaussSeidelNewton>(
      registrar, {.name = "gauss-seidel-newton",
                  .summary = "sweeps of exact blocks, semismooth Newton rounds, fallback: admm",
                  .source = "Alart, Curnier (1991); Carpentier et al. (2024)",
                  .cost = "O(m^3) per round, 1 to 3 rounds"});
  add<BlockGaussSeidel>(registrar, {.name = "block-gauss-seidel",
                                    .summary = "sweeps of contacts that are solved exactly",
                                    .source = "Bonnefon, Daviet (2011); Hwangbo et al. (2018)",
                                    .cost = "O(m^2) per sweep"});
  add<Admm>(registrar, {.name = "admm",
                        .summary = "alternating directions with de Saxce's correction",
                        .source = "Carpentier, Le Lidec, Montaut (2024)",
                        .cost = "O(m^3) per penalty, O(m^2) per iteration"});
  add<ProjectedGaussSeidel>(registrar, {.name = "projected-gauss-seidel",
                                        .summary = "row by row with clipping: the baseline",
                                        .source = "Le Lidec et al. (2024)",
                                        .cost = "O(m^2) per sweep"});
}
