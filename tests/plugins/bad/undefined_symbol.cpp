// Calls a function that no library has.
#include <espalier/plugin.hpp>

void espalier_test_function_that_nobody_defines();

ESPALIER_PLUGIN("undefined-symbol", "1.0") { espalier_test_function_that_nobody_defines(); }
