#pragma once

#include <algorithm>
#include <vector>

namespace espalier::test {

/// Gives a row to what takes rows in place.
template <class Rows>
void add(Rows& rows, const std::vector<double>& row) {
  std::copy(row.begin(), row.end(), rows.begin_row());
  rows.end_row();
}

}  // namespace espalier::test
