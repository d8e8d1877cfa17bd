#pragma once

#include <string>
#include <utility>
#include <vector>

#include "benchmarks/report.hpp"

namespace espalier::bench {

/// Figures 9 to 13 of Chignoli et al. (2023) from measured rows, as SVG by file name; those of
/// which nothing was measured are left out.
std::vector<std::pair<std::string, std::string>> paper_charts(const std::vector<Row>& rows);

}  // namespace espalier::bench
