#pragma once

#include <functional>
#include <string_view>

#include "cli/output/row_blocks.hpp"

namespace espalier::cli {

/// Turns rows of numbers into lines of CSV on the cores that are free: the digits of a number take
/// 11 ns, those of a row two thirds of a step of a simulation or more.
class CsvRows {
 public:
  /// @param columns  numbers of a row, at least 1
  /// @param write    takes lines, in the order of the rows, one call at a time, on any thread
  /// @param threads  besides the caller's; -1: as many as cores are free, at most 3
  /// @param complete  computes what the numbers of a block lack; empty: nothing
  CsvRows(std::size_t columns, std::function<void(std::string_view)> write, int threads = -1,
          RowBlocks::Format complete = {});

  /// Where the next row's numbers go, as many as columns; end_row() takes them.
  double* begin_row() { return rows_.begin_row(); }
  /// Takes the row. @throws what `write` threw for an earlier one
  void end_row() { rows_.end_row(); }
  /// Returns when all lines are written. @throws what `write` threw
  void finish() { rows_.finish(); }

 private:
  RowBlocks rows_;
};

}  // namespace espalier::cli
