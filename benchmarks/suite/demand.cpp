#include "benchmarks/suite/demand.hpp"

#include <algorithm>
#include <cmath>

namespace espalier::bench {

void Demand::add(const std::string& what, double number) {
  if (!std::isnan(number)) measured.emplace_back(what, number);
}

std::string Demand::verdict() const {
  if (measured.empty()) return "not measured";
  const auto all = [&](double bound) {
    return std::all_of(measured.begin(), measured.end(), [&](const auto& m) {
      return at_most ? m.second <= bound : m.second >= bound;
    });
  };
  if (!all(wanted)) return "missed";
  return stretch && all(*stretch) ? "stretch" : "met";
}

}  // namespace espalier::bench
