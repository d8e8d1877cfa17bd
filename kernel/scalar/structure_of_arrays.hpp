#pragma once

#include <cstring>
#include <span>

#include "espalier/kernel/scalar/pack.hpp"

/// Packs out of arrays of doubles of many states, which floats are rounded from. Not for plugins.

namespace espalier::detail {

/// Eight numbers side by side. In a class, since g++ ignores the attribute in an alias template.
template <class E>
struct EightOf {
  using type [[gnu::vector_size(8 * sizeof(E))]] = E;
};
template <class E>
using Eight = typename EightOf<E>::type;

// By vectors of eight: compilers move packs out of whole arrays of packs number by number else.
template <class P>
inline P load(const double* row) {
  using E = typename P::Element;
  P x;
  for (int l = 0; l < P::size; l += 8) {
    Eight<double> from;
    std::memcpy(&from, row + l, sizeof from);
    const Eight<E> to = __builtin_convertvector(from, Eight<E>);
    std::memcpy(reinterpret_cast<char*>(&x.lanes) + l * sizeof(E), &to, sizeof to);
  }
  return x;
}
template <class P>
inline void store(const P& x, double* row) {
  using E = typename P::Element;
  for (int l = 0; l < P::size; l += 8) {
    Eight<E> from;
    std::memcpy(&from, reinterpret_cast<const char*>(&x.lanes) + l * sizeof(E), sizeof from);
    const Eight<double> to = __builtin_convertvector(from, Eight<double>);
    std::memcpy(row + l, &to, sizeof to);
  }
}

/// Neighbours of a row of N numbers; beyond the end, the last one.
template <class P>
inline P gather(const double* row, int first, int N) {
  if (first + P::size <= N) return load<P>(row + first);
  P x(row[N - 1]);
  for (int k = first; k < N; ++k) x.set(k - first, static_cast<typename P::Element>(row[k]));
  return x;
}

template <class P>
inline void scatter(const P& x, double* row, int first, int N) {
  if (first + P::size <= N) return store(x, row + first);
  for (int k = first; k < N; ++k) row[k] = x[k - first];
}

/// Where numbers of states stand: number i of state k at first + k * state + i * number. Structures
/// of arrays have {1, N}, states one after the other {numbers, 1}.
struct Strides {
  long state = 1, number = 1;
};

/// The same from any places; beyond the end, the last state.
template <class P>
inline P gather(const double* row, const Strides& at, int first, int N) {
  if (at.state == 1) return gather<P>(row, first, N);
  P x;
  for (int k = 0; k < P::size; ++k) {
    x.lanes[k] =
        static_cast<typename P::Element>(row[at.state * (first + k < N ? first + k : N - 1)]);
  }
  return x;
}
template <class P>
inline void scatter(const P& x, double* row, const Strides& at, int first, int N) {
  if (at.state == 1) return scatter(x, row, first, N);
  for (int k = first; k < N && k < first + P::size; ++k) row[at.state * k] = x[k - first];
}

/// Rows of structures of arrays lie far apart, and for N like 4096 in few sets of the caches: they
/// are asked for so many rows ahead.
constexpr int rows_ahead = 3;
inline void prefetch(const double* row, int count) {
  for (int k = 0; k < count; k += 8) __builtin_prefetch(row + k);
}

/// Rows of an 8 x 8 matrix become its columns, by 24 shuffles.
template <class V>
inline void transpose(V (&row)[8]) {
  V pair[8], four[8];
  for (int i = 0; i < 8; i += 2) {  // neighbours of two rows
    pair[i] = __builtin_shufflevector(row[i], row[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
    pair[i + 1] = __builtin_shufflevector(row[i], row[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
  }
  for (int i = 0; i < 8; i += 4) {  // of four
    for (int k = 0; k < 2; ++k) {
      const V &a = pair[i + k], &b = pair[i + k + 2];
      four[i + k] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13);
      four[i + k + 2] = __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  }
  for (int k = 0; k < 4; ++k) {  // of eight
    row[k] = __builtin_shufflevector(four[k], four[k + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    row[k + 4] = __builtin_shufflevector(four[k], four[k + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// Numbers [r, r + 8) of a pack's states that stand one after the other, and back.
template <class P>
inline void load_eight(const double* first, long numbers, int r, P* pack) {
  using E = typename P::Element;
  for (int l = 0; l < P::size; l += 8) {
    Eight<E> column[8];
    for (int k = 0; k < 8; ++k) {
      Eight<double> x;
      std::memcpy(&x, first + (l + k) * numbers + r, sizeof x);
      column[k] = __builtin_convertvector(x, Eight<E>);
    }
    transpose(column);
    for (int k = 0; k < 8; ++k) {
      std::memcpy(reinterpret_cast<char*>(&pack[r + k].lanes) + l * sizeof(E), &column[k],
                  sizeof column[k]);
    }
  }
}
template <class P>
inline void store_eight(const P* pack, int r, double* first, long numbers) {
  using E = typename P::Element;
  for (int l = 0; l < P::size; l += 8) {
    Eight<E> column[8];
    for (int k = 0; k < 8; ++k) {
      std::memcpy(&column[k], reinterpret_cast<const char*>(&pack[r + k].lanes) + l * sizeof(E),
                  sizeof column[k]);
    }
    transpose(column);
    for (int k = 0; k < 8; ++k) {
      const Eight<double> x = __builtin_convertvector(column[k], Eight<double>);
      std::memcpy(first + (l + k) * numbers + r, &x, sizeof x);
    }
  }
}

/// The same of states of four to seven numbers: eight reach into the next state, and those of the
/// last state begin in the one before.
template <int numbers, class P>
inline void load_few(const double* first, P* pack) {
  static_assert(numbers >= 4 && numbers < 8);  // the last but one state ends with the pack
  using E = typename P::Element;
  constexpr int n = numbers, before = 8 - numbers;
  for (int l = 0; l < P::size; l += 8) {
    Eight<E> column[8];
    for (int k = 0; k < 8; ++k) {
      const bool last = l + k + 1 == P::size;
      Eight<double> x;
      std::memcpy(&x, first + (l + k) * n - (last ? before : 0), sizeof x);
      if (last) {
        x = __builtin_shufflevector(x, x, before, before + 1, before + 2, before + 3, before + 4,
                                    before + 5, before + 6, before + 7);
      }
      column[k] = __builtin_convertvector(x, Eight<E>);
    }
    transpose(column);
    for (int r = 0; r < n; ++r) {
      std::memcpy(reinterpret_cast<char*>(&pack[r].lanes) + l * sizeof(E), &column[r],
                  sizeof column[r]);
    }
  }
}
/// What is written beyond a state is written over with the next one.
template <int numbers, class P>
inline void store_few(const P* pack, double* first) {
  static_assert(numbers >= 4 && numbers < 8);
  using E = typename P::Element;
  constexpr int n = numbers;
  for (int l = 0; l < P::size; l += 8) {
    Eight<E> column[8] = {};
    for (int r = 0; r < n; ++r) {
      std::memcpy(&column[r], reinterpret_cast<const char*>(&pack[r].lanes) + l * sizeof(E),
                  sizeof column[r]);
    }
    transpose(column);
    for (int k = 0; k < 8; ++k) {
      const bool last = l + k + 1 == P::size;
      const Eight<double> x = __builtin_convertvector(column[k], Eight<double>);
      std::memcpy(first + (l + k) * n, &x, (last ? n : 8) * sizeof(double));
    }
  }
}

/// One pack of states that stand one after the other; the last eight numbers overlap the ones
/// before.
template <class P>
inline void load_pack(const double* first, int numbers, P* pack) {
  switch (numbers) {
    case 4:
      return load_few<4>(first, pack);
    case 5:
      return load_few<5>(first, pack);
    case 6:
      return load_few<6>(first, pack);
    case 7:
      return load_few<7>(first, pack);
    default:
      break;
  }
  if (numbers < 8) {
    for (int r = 0; r < numbers; ++r) pack[r] = gather<P>(first + r, {numbers, 1}, 0, P::size);
    return;
  }
  for (int r = 0; r + 8 < numbers; r += 8) load_eight(first, numbers, r, pack);
  load_eight(first, numbers, numbers - 8, pack);
}
template <class P>
inline void store_pack(const P* pack, int numbers, double* first) {
  switch (numbers) {
    case 4:
      return store_few<4>(pack, first);
    case 5:
      return store_few<5>(pack, first);
    case 6:
      return store_few<6>(pack, first);
    case 7:
      return store_few<7>(pack, first);
    default:
      break;
  }
  if (numbers < 8) {
    for (int r = 0; r < numbers; ++r) scatter(pack[r], first + r, {numbers, 1}, 0, P::size);
    return;
  }
  for (int r = 0; r + 8 < numbers; r += 8) store_eight(pack, r, first, numbers);
  store_eight(pack, numbers - 8, first, numbers);
}

/// Packs of states that stand one after the other.
template <class P>
void load_states(const double* first, int numbers, std::span<P* const> packs) {
  for (P* const pack : packs) {
    prefetch(first + static_cast<long>(P::size) * numbers, P::size * numbers);  // the next pack's
    load_pack(first, numbers, pack);
    first += static_cast<long>(P::size) * numbers;
  }
}
template <class P>
void store_states(std::span<const P* const> packs, int numbers, double* first) {
  for (const P* const pack : packs) {
    store_pack(pack, numbers, first);
    first += static_cast<long>(P::size) * numbers;
  }
}

/// Whole packs of neighbours, number r of pack k in packs[k][r].
/// @param first  number 0 of the first state
template <class P>
void load_rows(const double* first, const Strides& at, int rows, std::span<P* const> packs) {
  if (at.state != 1) return load_states(first, rows, packs);
  const int count = static_cast<int>(packs.size());
  for (int r = 0; r < rows; ++r, first += at.number) {
    if (r + rows_ahead < rows) prefetch(first + rows_ahead * at.number, count * P::size);
    for (int k = 0; k < count; ++k) packs[k][r] = load<P>(first + k * P::size);
  }
}
/// @param count  of packs
template <class P>
[[gnu::always_inline]] inline void store_some_rows(const P* const* packs, int count, int rows,
                                                   double* first, long number) {
  for (int r = 0; r < rows; ++r, first += number) {
    if (r + rows_ahead < rows) prefetch(first + rows_ahead * number, count * P::size);
    for (int k = 0; k < count; ++k) store(packs[k][r], first + k * P::size);
  }
}
template <class P>
void store_rows(std::span<const P* const> packs, int rows, double* first, const Strides& at) {
  if (at.state != 1) return store_states(packs, rows, first);
  if (packs.size() != 2) {
    store_some_rows(packs.data(), static_cast<int>(packs.size()), rows, first, at.number);
  } else {  // results of so many numbers that only two fit the cache: loops are unrolled
    const P* const two[2] = {packs[0], packs[1]};
    store_some_rows(two, 2, rows, first, at.number);
  }
}

}  // namespace espalier::detail
