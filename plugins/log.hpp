#pragma once

#include <spdlog/logger.h>

namespace espalier::detail {

/// The logger named "espalier": what a program registered with spdlog under this name, else one
/// that writes to stderr.
std::shared_ptr<spdlog::logger> logger();

}  // namespace espalier::detail
