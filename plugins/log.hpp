#pragma once

#include <string>

#include "espalier/kernel/export.hpp"

namespace espalier::detail {

/// Writes to the logger named "espalier": what a program registered with spdlog under this name,
/// else one that writes to stderr. Loading spdlog and binding its symbols takes a tenth of a
/// program's start, so that a library of its own does it (espalier/libespalier_log.so) when there
/// is something to say. Debug messages are nobody's as long as the program itself has no spdlog.
ESPALIER_API void log_warning(const std::string& text);
ESPALIER_API void log_debug(const std::string& text);

}  // namespace espalier::detail
