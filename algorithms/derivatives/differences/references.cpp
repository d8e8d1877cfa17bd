#include "algorithms/derivatives/differences/references.hpp"
#include "algorithms/derivatives/differences/constrained_differences.hpp"
#include "algorithms/derivatives/differences/design_differences.hpp"
#include "algorithms/derivatives/differences/differences.hpp"
#include "algorithms/derivatives/differences/more_differences.hpp"
#include "algorithms/derivatives/hessian_products.hpp"

namespace espalier {

void add_hessian_products(Registrar& registrar) {
  const Capabilities loops{.couplings = true, .loops = true, .several_supports = true};
  registrar.algorithm_at_double<DualInverseHessian>(
      {.name = "dual-adjoint",
       .summary = "Hessian of lambda^T tau times a vector, by dual numbers through the adjoint",
       .source = "theory/derivatives 19.2",
       .cost = "O(n)"},
      loops);
  registrar.algorithm_at_double<DualForwardHessian>(
      {.name = "dual-adjoint",
       .summary = "Hessian of nu^T vdot times a vector, by dual numbers through the adjoint",
       .source = "theory/derivatives 19.2",
       .cost = "O(n d^2)"},
      loops);
}

void add_differences(Registrar& registrar) {
  const Capabilities differences{
      .couplings = true, .loops = true, .several_supports = true, .exact = false};
  const About by_differences{.name = "differences",
                             .summary =
                                 "approximates: central differences of order 8 of 'dense', "
                                 "loops closed; allocates",
                             .source = "theory/derivatives 22",
                             .cost = "O(n^4)"};
  registrar.algorithm_at_double<DifferenceInverse>(by_differences, differences);
  registrar.algorithm_at_double<DifferenceForward>(by_differences, differences);
  registrar.algorithm_at_double<DifferenceConstrained>(by_differences, differences);
  registrar.algorithm_at_double<DifferenceInverseAdjoint>(by_differences, differences);
  registrar.algorithm_at_double<DifferenceForwardAdjoint>(by_differences, differences);
  registrar.algorithm_at_double<DifferenceInverseMass>(by_differences, differences);
  registrar.algorithm_at_double<DifferenceCoriolisMatrix>(by_differences, differences);
  registrar.algorithm_at_double<DifferenceChristoffel>(by_differences, differences);
  registrar.algorithm_at_double<DifferenceKinematics>(by_differences, differences);
  registrar.algorithm_at_double<DifferenceCentroidal>(by_differences, differences);
  About of_robots = by_differences;
  of_robots.summary =
      "approximates: central differences of other robots' dynamics, loops closed anew; allocates";
  of_robots.cost = "O(n p)";
  registrar.algorithm_at_double<DifferenceDesign>(of_robots, differences);
  registrar.algorithm_at_double<DifferenceVariation>(of_robots, differences);
  const About of_gradients{.name = "differences",
                           .summary =
                               "approximates: central differences of order 8 of exact gradients, "
                               "loops closed; allocates",
                           .source = "theory/derivatives 22",
                           .cost = "O(n d^2)"};
  registrar.algorithm_at_double<DifferenceInverseHessian>(of_gradients, differences);
  registrar.algorithm_at_double<DifferenceForwardHessian>(of_gradients, differences);
  Capabilities steps = differences;
  // `compare --against differences` holds each step against its own.
  const auto of_step = [&](const char* name) {
    About about = by_differences;
    about.name = name;
    about.summary = "approximates: central differences of order 8 of the step itself; allocates";
    return about;
  };
  registrar.algorithm_at_double<DifferenceEuler>(of_step("semi-implicit-euler-step-differences"),
                                                 steps);
  registrar.algorithm_at_double<DifferenceRk4>(of_step("rk4-step-differences"), steps);
}

}  // namespace espalier
