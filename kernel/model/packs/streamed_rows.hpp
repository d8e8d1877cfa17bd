#pragma once

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <cstdint>

#include "espalier/kernel/scalar/structure_of_arrays.hpp"

/// Rows of large structures of arrays, written past the caches: whole lines need not be read before
/// they are written, and drive nothing else out of the caches.

namespace espalier::detail {

/// States from which rows are streamed. Batches write two packs at a time where a state has more
/// than a thousand numbers: these are arrays of four megabytes and more.
inline constexpr long streamed_from = 512;

/// Whether two packs of each row are whole cache lines of such arrays.
inline bool is_streamed([[maybe_unused]] const double* first, [[maybe_unused]] const Strides& at,
                        [[maybe_unused]] std::size_t packs) {
#if defined(__x86_64__)
  constexpr long line = 64 / sizeof(double);
  return packs == 2 && at.state == 1 && at.number >= streamed_from && at.number % line == 0 &&
         reinterpret_cast<std::uintptr_t>(first) % (line * sizeof(double)) == 0;
#else
  return false;
#endif
}

/// Eight numbers into a line of the cache.
inline void stream_eight(const Eight<double>& from, double* to) {
  const double* x = reinterpret_cast<const double*>(&from);
#if defined(__AVX512F__)
  _mm512_stream_pd(to, _mm512_loadu_pd(x));
#elif defined(__AVX__)
  for (int k = 0; k < 8; k += 4) _mm256_stream_pd(to + k, _mm256_loadu_pd(x + k));
#elif defined(__x86_64__)
  for (int k = 0; k < 8; k += 2) _mm_stream_pd(to + k, _mm_loadu_pd(x + k));
#else
  std::memcpy(to, x, sizeof from);
#endif
}

/// Two packs where is_streamed(). Other threads see them before what this one writes next.
template <class P>
void stream_rows(std::span<const P* const> packs, int rows, double* first, const Strides& at) {
  using E = typename P::Element;
  const P *one = packs[0], *other = packs[1];
  for (int r = 0; r < rows; ++r, first += at.number) {
    double* to = first;
    for (const P* pack : {one + r, other + r}) {
      for (int l = 0; l < P::size; l += 8, to += 8) {
        Eight<E> from;
        std::memcpy(&from, reinterpret_cast<const char*>(&pack->lanes) + l * sizeof(E),
                    sizeof from);
        stream_eight(__builtin_convertvector(from, Eight<double>), to);
      }
    }
  }
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace espalier::detail
