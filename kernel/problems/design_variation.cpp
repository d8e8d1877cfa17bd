#include "espalier/kernel/problems/design_variation.hpp"

namespace espalier {

#define ESPALIER_INSTANTIATE(T) template class DesignVariation<T>;
ESPALIER_SCALARS(ESPALIER_INSTANTIATE)
#undef ESPALIER_INSTANTIATE

}  // namespace espalier
