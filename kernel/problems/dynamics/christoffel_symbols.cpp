#include "espalier/kernel/problems/dynamics/christoffel_symbols.hpp"

namespace espalier {

#define ESPALIER_INSTANTIATE(T) template class ChristoffelSymbols<T>;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
