#pragma once

#include <string>
#include <vector>

#include "benchmarks/robot.hpp"

namespace espalier::bench {

/// Memory of a compiled model and of an algorithm bound to it, and allocations of its calls.
struct Footprint {
  std::string robot, algorithm;
  int bodies = 0;
  double model_bytes = 0.0, workspace_bytes = 0.0;  ///< a body
  long allocations = 0;                             ///< in 16 calls
};

/// c-aba or aba, and c-rnea or rnea, on the humanoid, Tello and chains of 10 to 500 bodies: what
/// remains on the heap of a second compilation and of a second object. Empty where the C library
/// gives no way to count.
std::vector<Footprint> footprints(const Host& host);

}  // namespace espalier::bench
