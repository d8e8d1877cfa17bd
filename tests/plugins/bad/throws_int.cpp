// Throws something that is no std::exception while registering.
#include "tests/plugins/entries.hpp"

ESPALIER_PLUGIN("throws-int", "1.0") {
  registrar.format<espalier::test::EmptyFormat>(espalier::test::named("from-throws-int"));
  throw 7;
}
