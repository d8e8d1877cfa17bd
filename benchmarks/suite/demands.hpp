#pragma once

#include <vector>

#include "benchmarks/suite/demand.hpp"
#include "benchmarks/suite/measured.hpp"

namespace espalier::bench {

/// Ratios of times, each time the best of all repetitions, and properties.
std::vector<Demand> demands(const Measured& measured);

}  // namespace espalier::bench
