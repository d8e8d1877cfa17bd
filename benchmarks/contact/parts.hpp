#pragma once

#include <string>
#include <vector>

#include "benchmarks/contact/robots.hpp"

namespace espalier::bench {

/// What the parts of a step take, of eight robots that are kicked, and how much faster two threads
/// move many robots than one does.
/// @param robots  of a batch
/// @return a table in Markdown, a row for each of the named robots
std::string parts_of_steps(const Host& host,
                           const std::vector<std::pair<std::string, StandingRobot>>& all,
                           int robots);

}  // namespace espalier::bench
