// Says in its summary what instruction set it was compiled for.
#include "tests/plugins/entries.hpp"

#if defined(__AVX512F__)
#define COMPILED_FOR "x86-64-v4"
#elif defined(__AVX2__)
#define COMPILED_FOR "x86-64-v3"
#else
#define COMPILED_FOR "baseline"
#endif

ESPALIER_PLUGIN("test-variant", "1.0") {
  registrar.format<espalier::test::EmptyFormat>({.name = "test-variant", .summary = COMPILED_FOR});
}
