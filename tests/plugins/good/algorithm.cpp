// A plugin with algorithms for a problem of its own, with different capabilities.
#include "tests/plugins/entries.hpp"

namespace {

using espalier::test::Doubling;
using espalier::test::DoublingByAddition;

template <class T>
class DoublingByProduct final : public Doubling<T> {
 public:
  using Doubling<T>::Doubling;
  void evaluate(espalier::In<T> x, espalier::Out<T> twice) override {
    for (long i = 0; i < x.size(); ++i) twice[i] = T(2.0) * x[i];
  }
};

}  // namespace

ESPALIER_PLUGIN("test-algorithm", "1.0") {
  registrar.algorithm<DoublingByAddition>(espalier::test::named("test-add"), {});
  registrar.algorithm_at_double<DoublingByProduct>(
      espalier::test::named("test-multiply"),
      {.couplings = true, .loops = true, .several_supports = true});
}
