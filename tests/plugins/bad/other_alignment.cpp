// Compiled without espalier::plugin's pin on Eigen's alignment, for wider registers.
#undef EIGEN_MAX_ALIGN_BYTES
#define EIGEN_MAX_ALIGN_BYTES 128
#include <espalier/plugin.hpp>

ESPALIER_PLUGIN("other-alignment", "1.0") {}
