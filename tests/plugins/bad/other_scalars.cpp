// Compiled against another list of scalars.
#include <espalier/plugin.hpp>

#undef ESPALIER_SCALARS
#define ESPALIER_SCALARS(X) X(double) X(float)

ESPALIER_PLUGIN("other-scalars", "1.0") {}
