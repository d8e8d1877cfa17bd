#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "cli/output/row_blocks.hpp"

namespace espalier::cli {

/// Turns rows of numbers into lines of CSV on the cores that are free: the digits of a number take
/// 30 ns, those of a row as long as a step of a simulation or two.
class CsvRows {
 public:
  /// @param columns  numbers of a row, at least 1
  /// @param write    takes lines, in the order of the rows, one call at a time, on any thread
  /// @param threads  besides the caller's; -1: as many as cores are free, at most 3
  CsvRows(std::size_t columns, std::function<void(std::string_view)> write, int threads = -1);

  /// Takes a row. @throws what `write` threw for an earlier one
  void add(const std::vector<double>& row) { rows_.add(row.data()); }
  /// Returns when all lines are written. @throws what `write` threw
  void finish() { rows_.finish(); }

 private:
  RowBlocks rows_;
};

}  // namespace espalier::cli
