#pragma once

#include <spdlog/logger.h>

#include "espalier/kernel/export.hpp"

namespace espalier::detail {

/// The logger named "espalier": what a program registered with spdlog under this name, else one
/// that writes to stderr.
ESPALIER_API std::shared_ptr<spdlog::logger> logger();

}  // namespace espalier::detail
