#pragma once

#include "espalier/kernel/scalar/scalar_list.hpp"

/// Passes that several plugins run, or that take longer to compile than the algorithms that run
/// them, are compiled once, by the sources of this folder, and linked into the plugins that SHARED
/// names in algorithms/CMakeLists.txt, whose sources read the header beside. Whoever reads the
/// passes' own headers alone compiles what it calls, as with any template.

#ifndef ESPALIER_INSTANCE
#define ESPALIER_INSTANCE extern template
#define ESPALIER_SINGLE ESPALIER_INSTANCE
#endif

/// The calls of one robot, in a source of this folder or of a plugin. Linkers put what is hot side
/// by side, apart from what batches and constructors run: where caches are cold, a call waits for
/// each page of code that it comes to (docs/performance.md).
#define ESPALIER_SINGLE_INSTANCE template __attribute__((hot))

/// INSTANCES(before an instance, T) for each scalar.
#define ESPALIER_INSTANCES(INSTANCES)             \
  INSTANCES(ESPALIER_SINGLE, double)              \
  INSTANCES(ESPALIER_INSTANCE, ::espalier::Pack)  \
  INSTANCES(ESPALIER_INSTANCE, ::espalier::Count) \
  INSTANCES(ESPALIER_INSTANCE, ::espalier::FloatPack)
