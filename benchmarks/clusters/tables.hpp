#pragma once

#include <string>
#include <vector>

#include "benchmarks/clusters/mechanisms.hpp"
#include "benchmarks/report.hpp"

namespace espalier::bench {

/// The tables of docs/large-clusters.md, from measured rows, as Markdown; a dash is what was not
/// measured.
/// @param all  the mechanisms, in the order of the tables
std::string cluster_tables(const std::vector<Mechanism>& all, const std::vector<Row>& rows);

}  // namespace espalier::bench
