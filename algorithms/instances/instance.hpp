#pragma once

#include "espalier/kernel/scalar/scalar_list.hpp"

/// Passes that several plugins run, or that take longer to compile than the algorithms that run
/// them, are compiled once, by the sources of this folder, and linked into the plugins that SHARED
/// names in algorithms/CMakeLists.txt, whose sources read the header beside. Whoever reads the
/// passes' own headers alone compiles what it calls, as with any template.

#ifndef ESPALIER_INSTANCE
#define ESPALIER_INSTANCE extern template
#endif
