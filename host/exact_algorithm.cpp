#include "espalier/host/exact_algorithm.hpp"

namespace espalier {

const Entry* exact_algorithm(const Registry& registry, std::string_view problem, const Model& model,
                             int scalar) {
  for (const Entry* entry : registry.algorithms(problem)) {
    if (!entry->algorithm[scalar]) continue;
    const Verdict verdict = registry.can(*entry, model);
    if (verdict.ok && verdict.exact) return entry;
  }
  return nullptr;
}

}  // namespace espalier
