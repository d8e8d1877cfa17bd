#pragma once

#include "benchmarks/clusters/mechanisms.hpp"
#include "benchmarks/contestant.hpp"
#include "benchmarks/report.hpp"

namespace espalier::bench {

/// Names of calls in the tables.
inline constexpr const char* call_close = "close";
inline constexpr const char* call_assemble = "assemble";
inline constexpr const char* call_compile = "compile";
inline constexpr const char* call_load = "load";
/// States of a batch: few enough for the largest net.
inline constexpr int cluster_batch = 64;

/// c-aba with `kkt`, which is compared alone, `projection` and a batch; c-rnea and projected-rnea;
/// c-crba with `dense`; c-pv-osimr and projected-efpa of a weld on the last link.
Contestants cluster_contestants(const Host& host, const LoopRobot& robot);

/// Enters what has no result to compare: `close` after the independent joints have moved by 0.01,
/// `assemble` from positions that are off by up to 0.01, `compile`, and `load`, which is reading
/// the mechanism from its text in Espalier YAML and compiling it.
/// What does not close at all states is refused, with the reason.
void add_calls_for_positions(const Host& host, const Mechanism& mechanism, const LoopRobot& robot,
                             Contest& contest);

}  // namespace espalier::bench
