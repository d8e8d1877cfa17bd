// Compiled without espalier::plugin's pin on Eigen's alignment, for a processor with AVX-512.
#undef EIGEN_MAX_ALIGN_BYTES
#define EIGEN_MAX_ALIGN_BYTES 64
#include <espalier/plugin.hpp>

ESPALIER_PLUGIN("other-alignment", "1.0") {}
