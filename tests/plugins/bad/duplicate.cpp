// Five good entries, then one whose name good/algorithm.cpp has.
#include "tests/plugins/entries.hpp"

ESPALIER_PLUGIN("duplicate", "1.0") {
  using namespace espalier::test;
  for (const char* name : {"duplicate-1", "duplicate-2", "duplicate-3", "duplicate-4"}) {
    registrar.format<EmptyFormat>(named(name));
  }
  registrar.algorithm<DoublingByAddition>(named("duplicate-5"), {});
  registrar.algorithm<DoublingByAddition>(named("test-add"), {});
}
