#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "espalier/kernel/scalar/pack.hpp"

namespace espalier {

/// Zeros, by registers: the C library's memset takes twice as many instructions for some hundreds
/// of numbers, and from 2 KiB on twice as long where all of it is in the nearest cache (it changes
/// to rep stosb there).
template <class T>
inline void write_zeros(T* x, long count) {
  if constexpr (std::is_same_v<T, double>) {
    if (count >= Quad::size) {
      const volatile double unknown = 0.0;  // else the compiler makes it a memset again
      const double one = unknown;
      const Quad zero(one);
      double* const end = x + count;
      // The first and the last ones, then what is aligned between: a register that crosses lines of
      // the cache takes two stores.
      zero.store(x), zero.store(end - Quad::size);
      x += Quad::size - reinterpret_cast<std::uintptr_t>(x) % sizeof(Quad) / sizeof(double);
      constexpr long block = 8 * Quad::size;
      for (; end - x >= block; x += block) {
        for (long k = 0; k < block; k += Quad::size) zero.store(x + k);
      }
      for (; end - x >= Quad::size; x += Quad::size) zero.store(x);
      return;
    }
  }
  std::fill_n(x, count, T(0.0));
}

}  // namespace espalier
