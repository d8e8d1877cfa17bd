#pragma once

#include <algorithm>
#include <type_traits>

#include "espalier/kernel/scalar/pack.hpp"

namespace espalier {

/// Zeros, by registers: the C library's memset takes twice as many instructions for some hundreds
/// of numbers, and from 2 KiB on twice as long where all of it is in the nearest cache (it changes
/// to rep stosb there).
template <class T>
inline void write_zeros(T* x, long count) {
  if constexpr (std::is_same_v<T, double>) {
    const volatile double unknown = 0.0;  // else the compiler makes it a memset again
    const double one = unknown;
    const Quad zero(one);
    constexpr long block = 8 * Quad::size;
    for (; count >= block; x += block, count -= block) {
      for (long k = 0; k < block; k += Quad::size) zero.store(x + k);
    }
    for (; count >= Quad::size; x += Quad::size, count -= Quad::size) zero.store(x);
    for (; count > 0; ++x, --count) *x = one;
  } else {
    std::fill_n(x, count, T(0.0));
  }
}

}  // namespace espalier
