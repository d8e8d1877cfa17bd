#include "espalier/kernel/problems/derivatives/hessian_products.hpp"

#include "espalier/kernel/scalar/scalar.hpp"

namespace espalier {

#define ESPALIER_INSTANTIATE(T)                    \
  template class InverseDynamicsHessianProduct<T>; \
  template class ForwardDynamicsHessianProduct<T>;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
