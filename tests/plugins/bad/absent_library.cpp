// Linked by missing_dependency.cpp, and not found when that is loaded.
#include "espalier/kernel/export.hpp"

extern "C" ESPALIER_API int espalier_test_absent();
extern "C" int espalier_test_absent() { return 1; }
