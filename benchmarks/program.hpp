#pragma once

#include <string>

namespace espalier::bench {

/// Writes a file. @throws std::runtime_error if it cannot be written
void save(const std::string& path, const std::string& text);

/// What main() of every program here does: runs it; an exception is a message and exit code 1.
int run_guarded(const char* name, int (*run)(int, char**), int count, char** words);

}  // namespace espalier::bench
