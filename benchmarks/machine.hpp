#pragma once

#include <string>

#include "espalier/espalier.hpp"

namespace espalier::bench {

/// What the processor calls itself, or "unknown".
std::string processor();
/// Instruction set of the plugin that an algorithm was loaded from: "baseline", "x86-64-v3", ...
std::string instruction_set(const Host& host, const std::string& problem, const std::string& name);

}  // namespace espalier::bench
