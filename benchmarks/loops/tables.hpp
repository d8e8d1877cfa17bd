#pragma once

#include <string>
#include <vector>

#include "benchmarks/report.hpp"

namespace espalier::bench {

/// Links of the chains whose times show how cost grows.
inline constexpr int growth_lengths[] = {2, 5, 10, 20, 50, 100, 200};

/// All tables of docs/performance.md about robots with loops, from measured rows, as Markdown. What
/// was not measured is a dash.
std::string loop_tables(const std::vector<Row>& rows);

}  // namespace espalier::bench
