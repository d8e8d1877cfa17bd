#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace espalier::bench {

/// Writes a file. @throws std::runtime_error if it cannot be written
void save(const std::string& path, const std::string& text);

/// Robots that somebody names instead of the usual ones.
struct OwnRobots {
  std::vector<std::string> fixed, floating;  ///< files, by the root

  bool none() const { return fixed.empty() && floating.empty(); }
  /// @param files  what kind of files, for the help
  void add_to(CLI::App& app, const std::string& files);
};

/// Parses the words that Google Benchmark has left.
/// @returns  the exit code where the program is to end at once: after --help or a mistake
std::optional<int> parse(CLI::App& app, const std::vector<char*>& words);

/// What main() of every program here does: runs it; an exception is a message and exit code 1.
int run_guarded(const char* name, int (*run)(int, char**), int count, char** words);

}  // namespace espalier::bench
