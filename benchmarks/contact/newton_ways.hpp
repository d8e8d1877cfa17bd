#pragma once

#include <string>

#include "espalier/espalier.hpp"

namespace espalier::bench {

/// Steps of a humanoid on soles of more and more points, by each way to solve Newton's systems.
/// @param robots  of a batch, on one thread
/// @return a table in Markdown
std::string newton_ways(const Host& host, int robots);

}  // namespace espalier::bench
