#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace espalier::bench {

/// Something that Espalier wants of itself, and what was measured of it.
struct Demand {
  std::string work;
  bool at_most = false;  ///< wanted at most, otherwise at least
  double wanted = 0.0;
  std::optional<double> stretch = {};
  const char* pattern = "%.1f";                               ///< of the numbers, printf
  std::vector<std::pair<std::string, double>> measured = {};  ///< of what, how much
  std::string note = {};

  /// Adds a number, unless it is none.
  void add(const std::string& what, double number);
  /// "met" if all numbers are as wanted, "stretch" if all are as hoped, "missed", or "not
  /// measured".
  std::string verdict() const;
};

}  // namespace espalier::bench
