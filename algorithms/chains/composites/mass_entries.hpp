#pragma once

#include <algorithm>

namespace espalier {

/// Where the entries of a mass matrix go: to both triangles, or to the lower one.
template <class T>
struct MassEntries {
  T* M;  ///< size x size
  long size;
  bool both = true;

  void put(long row, long column, const T& x) const {
    if (both) {
      M[row * size + column] = M[column * size + row] = x;
    } else {
      M[std::max(row, column) * size + std::min(row, column)] = x;
    }
  }
};

}  // namespace espalier
