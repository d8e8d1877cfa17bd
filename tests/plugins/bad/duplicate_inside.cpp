// Registers one name twice.
#include "tests/plugins/entries.hpp"

ESPALIER_PLUGIN("duplicate-inside", "1.0") {
  using namespace espalier::test;
  registrar.format<EmptyFormat>(named("twin"));
  registrar.format<EmptyFormat>(named("twin"));
}
