// Registers an algorithm that cannot be made at any scalar.
#include "tests/plugins/entries.hpp"

ESPALIER_PLUGIN("no-factory", "1.0") {
  using namespace espalier;
  registrar.add(Kind::algorithm, test::named("never")).problem = test::Doubling<double>::problem;
}
