#include "espalier/kernel/problems/dynamics/christoffel_symbols.hpp"

#include "espalier/kernel/scalar/scalar.hpp"

namespace espalier {

#define ESPALIER_INSTANTIATE(T) template class ChristoffelSymbols<T>;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
