// A proper library that is no plugin.
#include "espalier/kernel/export.hpp"

extern "C" ESPALIER_API int answer();
extern "C" int answer() { return 42; }
