#pragma once

#include <string>
#include <utility>
#include <vector>

#include "benchmarks/sensors/counting.hpp"

/// Operations of figures 1 and 2 of Nori (2017), as Markdown and as a drawing.

namespace espalier::bench {

struct SensorCounts {
  std::vector<ChainCounts> dh, general;  ///< figure 1, by the frames
  std::vector<StandingCounts> feet;      ///< figure 2
};
SensorCounts sensor_counts(const Host& host);

/// Tables by the sections of docs/sensors.md, and the command that writes them there.
std::vector<std::pair<std::string, std::string>> count_sections(const SensorCounts& counts);
inline constexpr const char* sensors_command =
    "./espalier bench-suite sensors --markdown docs/sensors.md";

std::string counts_svg(const SensorCounts& counts);

}  // namespace espalier::bench
