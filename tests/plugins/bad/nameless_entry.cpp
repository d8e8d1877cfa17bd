// Its second entry has no name.
#include "tests/plugins/entries.hpp"

ESPALIER_PLUGIN("nameless-entry", "1.0") {
  using namespace espalier::test;
  registrar.format<EmptyFormat>(named("from-nameless-entry"));
  registrar.format<EmptyFormat>(named(""));
}
