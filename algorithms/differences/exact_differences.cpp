#include "algorithms/differences/exact_differences.hpp"

#include "algorithms/differences/hessian_differences.hpp"
#include "algorithms/differences/step_differences.hpp"

namespace espalier {

void register_exact_differences(Registrar& registrar, const Capabilities& differences) {
  const About of_gradients{.name = "differences",
                           .summary =
                               "approximates: central differences of order 8 of exact gradients, "
                               "loops closed; allocates",
                           .source = "theory/derivatives 22",
                           .cost = "O(n d^2)"};
  registrar.algorithm_at_double<DifferenceInverseHessian>(of_gradients, differences);
  registrar.algorithm_at_double<DifferenceForwardHessian>(of_gradients, differences);
  // `compare --against differences` holds each step against its own.
  const auto of_step = [&](const char* name) {
    About about = of_gradients;
    about.name = name;
    about.summary = "approximates: central differences of order 8 of the step itself; allocates";
    about.cost = "O(n^4)";
    return about;
  };
  registrar.algorithm_at_double<DifferenceEuler>(of_step("semi-implicit-euler-step-differences"),
                                                 differences);
  registrar.algorithm_at_double<DifferenceRk4>(of_step("rk4-step-differences"), differences);
}

}  // namespace espalier
