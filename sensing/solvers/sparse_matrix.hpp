#pragma once

#include <vector>

namespace espalier {

/// A square sparse matrix in compressed columns whose pattern does not change.
struct SparsePattern {
  std::vector<int> column_start, row_index;

  int size() const { return static_cast<int>(column_start.size()) - 1; }
  int entries() const { return static_cast<int>(row_index.size()); }
};

}  // namespace espalier
