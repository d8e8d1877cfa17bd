// Needs a shared library that is not found at run time.
#include <espalier/plugin.hpp>

extern "C" int espalier_test_absent();

ESPALIER_PLUGIN("missing-dependency", "1.0") { espalier_test_absent(); }
