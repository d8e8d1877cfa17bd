#include "algorithms/derivatives/hessian_products.hpp"

#include "algorithms/derivatives/parts.hpp"

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

}  // namespace espalier
