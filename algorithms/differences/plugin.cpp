#include "espalier/plugins/plugin.hpp"
#include "algorithms/differences/constrained_differences.hpp"
#include "algorithms/differences/design_differences.hpp"
#include "algorithms/differences/differences.hpp"
#include "algorithms/differences/exact_differences.hpp"
#include "algorithms/differences/more_differences.hpp"

// Central differences for every problem of derivatives: what the exact ones are held to.
ESPALIER_PLUGIN("differences", "0.2.0") {
  using namespace espalier;
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
  register_exact_differences(registrar, differences);
}
