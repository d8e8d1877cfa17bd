#pragma once

#include <string>

namespace espalier::detail {

/// Looks at a file before the dynamic linker does: that maps whatever the headers promise, and a
/// library that was cut short kills the process with a bus error instead of an error code.
/// @throws PluginError if the file is missing, not a regular file, unreadable, not a shared library
///         of this machine's architecture, or shorter than its headers say
void check_library_file(const std::string& file);

}  // namespace espalier::detail
