#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "benchmarks/suite/measured.hpp"

namespace espalier::bench {

/// Everything that was measured, as tables for docs/performance.md, what is wanted first.
std::string page(const Measured& measured);
/// The table of what is wanted alone.
std::string wanted_table(const Measured& measured);

/// Time of the fastest peer over Espalier's by robot and work; "" if no peer was timed.
std::string ratio_chart(const Measured& measured);
/// Time a body of chains against their length; "" if a chain was not timed.
std::string chain_chart(const Measured& measured);

nlohmann::json to_json(const Measured& measured);

}  // namespace espalier::bench
