// Loads well; its algorithms cannot be made.
#include <stdexcept>

#include "tests/plugins/entries.hpp"

namespace {

using namespace espalier;

/// Takes itself for a solver of test-doubling, but is of another type.
class Impostor final : public Algorithm {
 public:
  using Algorithm::Algorithm;
  void solve(const InputViews& /*in*/, Results& /*out*/) override {}
};

void algorithm(Registrar& registrar, const char* name, AlgorithmFactory factory) {
  Entry& e = registrar.add(Kind::algorithm, test::named(name));
  e.problem = test::Doubling<double>::problem;
  e.algorithm[ScalarTraits<double>::index] = std::move(factory);
}

}  // namespace

ESPALIER_PLUGIN("failing-factories", "1.0") {
  algorithm(registrar, "returns-null", [](const Setup&) { return nullptr; });
  algorithm(registrar, "throws", [](const Setup&) -> std::unique_ptr<Algorithm> {
    throw std::runtime_error("out of gears");
  });
  algorithm(registrar, "throws-int", [](const Setup&) -> std::unique_ptr<Algorithm> { throw 7; });
  algorithm(registrar, "refuses", [](const Setup&) -> std::unique_ptr<Algorithm> {
    throw InvalidModel("refuses: number of wheels is 0, expected at least 3");
  });
  algorithm(registrar, "impostor", [](const Setup& setup) -> std::unique_ptr<Algorithm> {
    return std::make_unique<Impostor>(setup.model);
  });
}
