#pragma once

#include <string>
#include <vector>

#include "benchmarks/report.hpp"

namespace espalier::bench {

/// Links of the chains whose times show how cost grows.
inline constexpr int growth_lengths[] = {2, 5, 10, 20, 50, 100, 200};

/// Best time of one of our algorithms [ns], NaN if it was not measured.
double best_ns(const std::vector<Row>& rows, const std::string& robot, Work work,
               const std::string& algorithm, const std::string& library = "Espalier");

/// All tables of docs/performance.md about robots with loops, from measured rows, as Markdown. What
/// was not measured is a dash.
std::string loop_tables(const std::vector<Row>& rows);
/// Tables II to IV of Chignoli et al. (2023), what exactness costs, and growth of what is in them.
std::string paper_tables(const std::vector<Row>& rows);
/// Whether an algorithm is in these tables.
bool in_paper_tables(const std::string& algorithm);

}  // namespace espalier::bench
