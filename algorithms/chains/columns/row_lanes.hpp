#pragma once

#include "espalier/kernel/scalar/scalar.hpp"

namespace espalier {

/// Number of right-hand sides (rows of a task, columns of an input matrix, chains) that recursions
/// carry at once, in the lanes of a V: four for double, in a Quad; one for packs, whose lanes are
/// robots already, and for the counting scalar.
template <class T>
struct RowLanes {
  using V = T;
  static constexpr int size = 1;
};
template <>
struct RowLanes<double> {
  using V = Quad;
  static constexpr int size = Quad::size;
};

/// Number of V that hold so many rows.
template <class T>
constexpr int blocks_of(int rows) {
  return (rows + RowLanes<T>::size - 1) / RowLanes<T>::size;
}
/// number(0), number(1), ... as the lanes of a V, or number(0) itself for one lane.
template <class T, int lanes = RowLanes<T>::size, class F>
inline auto side_by_side(F&& number) {
  if constexpr (lanes == 1) {
    return number(0);
  } else {
    static_assert(lanes == 4);
    return typename RowLanes<T>::V(number(0), number(1), number(2), number(3));
  }
}
/// Row i of an array of V.
template <class T>
inline const T& row_of(const typename RowLanes<T>::V* rows, int i) {
  if constexpr (RowLanes<T>::size == 1) {
    return rows[i];
  } else {
    return reinterpret_cast<const T*>(rows)[i];
  }
}
template <class T>
inline T& row_of(typename RowLanes<T>::V* rows, int i) {
  return const_cast<T&>(row_of<T>(static_cast<const typename RowLanes<T>::V*>(rows), i));
}

}  // namespace espalier
