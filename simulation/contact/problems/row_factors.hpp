#pragma once

#include <cstddef>
#include <vector>

namespace espalier::contact {

/// G = Y Y^T + R by the rows of Y, which have entries at a few rates alone: two products with Y are
/// cheaper than one with G, and G need not be written.
///
/// Views of what a step owns. The three rows of a contact have one support.
template <class T>
struct RowFactors {
  const T* Y = nullptr;    ///< entries of a row, one after the other; null: there are no factors
  std::size_t stride = 0;  ///< from row to row
  const std::vector<int>* const* support = nullptr;  ///< of each row: the rates of its entries
  const T* compliance = nullptr;                     ///< R: of the contacts' normals
  T* z = nullptr;                                    ///< workspace: one number for each rate
  int rates = 0;

  explicit operator bool() const { return Y != nullptr; }
};

}  // namespace espalier::contact
