// Throws an exception of its own type while registering, after a good entry.
#include <stdexcept>

#include "tests/plugins/entries.hpp"

namespace {
struct OwnError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
}  // namespace

ESPALIER_PLUGIN("throws-exception", "1.0") {
  registrar.format<espalier::test::EmptyFormat>(espalier::test::named("from-throws-exception"));
  throw OwnError("the table of gears is empty");
}
