// Compiled with a sanitizer that no host has.
#include <espalier/plugin.hpp>

#undef ESPALIER_SANITIZER
#define ESPALIER_SANITIZER "memory"

ESPALIER_PLUGIN("other-sanitizer", "1.0") {}
