#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/output/row_blocks.hpp"
#include "espalier/host/output_file.hpp"

namespace espalier::cli {

/// A zip archive without compression of one .npy for each column of doubles, which is what
/// numpy.load() reads. Columns stand one after the other in the file and are written side by side
/// as rows come, each in the room that the expected number of rows takes; where it is another in
/// the end, columns move together. Formats: NumPy's NEP 1, PKWARE's APPNOTE 4.3.
class NpzFile {
 public:
  /// @param names     of the columns, at least one
  /// @param inputs    as those of OutputFile
  /// @param expected  rows; any number is right, this one is fast
  /// @param threads   as those of RowBlocks
  /// @param complete  computes what the numbers of a block lack; empty: nothing
  /// @throws OutputError
  NpzFile(const std::string& path, std::vector<std::string> names,
          const std::vector<std::string>& inputs, std::size_t expected, int threads = -1,
          RowBlocks::Format complete = {});

  /// Where the next row's numbers go, as many as columns; end_row() takes them.
  double* begin_row() { return rows_.begin_row(); }
  /// @throws OutputError  also for an earlier row, and where the file would be larger than 4 GiB
  void end_row() { rows_.end_row(); }
  /// Gives the file its name. @throws OutputError
  void close();

 private:
  /// Where the numbers of each column begin if all have room for so many.
  std::vector<std::uint64_t> places(std::size_t capacity) const;
  std::size_t most_rows() const;
  void write(const RowBlocks::Block& block);
  /// Gives each column room for so many rows.
  void set_capacity(std::size_t capacity);
  /// What stands around the numbers, when their room is as large as they are.
  void write_heads();

  std::string path_;
  OutputFile file_;
  std::vector<std::string> names_;  ///< with their ending
  std::vector<std::uint32_t> checksums_;
  std::vector<std::uint64_t> places_;
  std::size_t block_rows_, written_ = 0, capacity_;
  RowBlocks rows_;  ///< whose threads end before the rest is gone
};

}  // namespace espalier::cli
