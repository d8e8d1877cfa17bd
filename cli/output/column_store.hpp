#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace espalier::cli {

/// Rows of doubles as columns, for files that want these one after the other: in blocks, so that
/// nothing is copied as they grow.
class ColumnStore {
 public:
  explicit ColumnStore(std::size_t columns) : columns_(columns) {}

  std::size_t columns() const { return columns_; }
  std::size_t rows() const { return rows_; }

  /// Takes a row. @param row  as many numbers as columns
  void add(const double* row) {
    const std::size_t at = rows_++ % block_rows;
    if (at == 0) blocks_.push_back(std::make_unique_for_overwrite<double[]>(columns_ * block_rows));
    double* to = blocks_.back().get() + at;
    for (std::size_t c = 0; c < columns_; ++c) to[c * block_rows] = row[c];
  }
  /// Appends the bytes of a column.
  void append_column(std::size_t column, std::string& out) const {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const std::size_t rows = std::min(block_rows, rows_ - b * block_rows);
      const double* from = blocks_[b].get() + column * block_rows;
      out.append(reinterpret_cast<const char*>(from), rows * sizeof(double));
    }
  }

 private:
  /// An odd number of cache lines: where columns were powers of two apart, the ends of all of them
  /// would have the same few places in the first cache.
  static constexpr std::size_t block_rows = 1000;

  std::size_t columns_, rows_ = 0;
  std::vector<std::unique_ptr<double[]>> blocks_;
};

}  // namespace espalier::cli
