#include "cli/output/shortest_text.hpp"

#include <emmintrin.h>
#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "cli/output/shortest_digits.hpp"

namespace espalier::cli {

namespace {

using detail::Digits;

/// Powers of ten of numbers that may be in fixed notation: beyond, the other one is shorter, or
/// std::to_chars writes all digits of a whole number, not the shortest ones.
constexpr int least_fixed = -4, most_fixed = 15, fixed_powers = most_fixed + 1 - least_fixed;
constexpr int zero_power = -least_fixed;  ///< place in tables of these powers

/// Where in a text things stand, by the power of the first digit.
struct Places {
  std::uint8_t least;  ///< digits that make the fixed notation as short as the other one
  std::uint8_t first, last, point;
  std::uint8_t more;   ///< characters beside digits, behind a point
  std::uint8_t whole;  ///< characters without a point
};
constexpr std::array<Places, fixed_powers> places = [] {
  std::array<Places, fixed_powers> table{};
  for (int power = least_fixed; power <= most_fixed; ++power) {
    Places& at = table[power + zero_power];
    const bool is_below_one = power < 0;
    const int zeros = is_below_one ? -power : 0;
    at.least = power == least_fixed ? 2 : power > 4 ? std::max(2, power - 4) : 1;
    at.more = 1 + zeros;
    at.whole = is_below_one ? 0 : 1 + power;
    at.first = is_below_one ? at.more : 0;
    at.last = at.first + (is_below_one ? 16 : 17);
    at.point = is_below_one ? at.last + 1 : 1 + power;  // that of "0." is there: one behind all
  }
  return table;
}();

/// Which of the first sixteen digits stand before the point, or behind "0.".
struct alignas(16) Bytes {
  std::array<std::uint8_t, 16> bytes;
};
constexpr std::array<Bytes, fixed_powers> unmoved = [] {
  std::array<Bytes, fixed_powers> table{};
  for (int power = least_fixed; power <= most_fixed; ++power) {
    for (int k = 0; k < 16; ++k) {
      table[power + zero_power].bytes[k] = power < 0 || k <= power ? 0xff : 0;
    }
  }
  return table;
}();

/// Sixteen digits, each in a byte, the first one in the lowest: halves, then pairs and so on,
/// beside one another in one register.
__m128i split(std::uint64_t sixteen) {
  constexpr std::uint64_t eight = 100000000;
  const std::uint64_t high = sixteen / eight;
  const __m128i eights =
      _mm_set_epi64x(static_cast<long long>(sixteen - eight * high), static_cast<long long>(high));
  const __m128i fours = _mm_srli_epi64(_mm_mul_epu32(eights, _mm_set1_epi64x(3518437209)), 45);
  const __m128i tens_of_fours = _mm_mul_epu32(fours, _mm_set1_epi64x(10000));
  const __m128i four =
      _mm_or_si128(fours, _mm_slli_epi64(_mm_sub_epi64(eights, tens_of_fours), 32));
  const __m128i hundreds = _mm_srli_epi16(_mm_mulhi_epu16(four, _mm_set1_epi16(5243)), 3);
  const __m128i couples = _mm_sub_epi16(four, _mm_mullo_epi16(hundreds, _mm_set1_epi16(100)));
  const __m128i two = _mm_or_si128(hundreds, _mm_slli_epi32(couples, 16));
  const __m128i tens = _mm_mulhi_epu16(two, _mm_set1_epi16(6554));
  const __m128i ones = _mm_sub_epi16(two, _mm_mullo_epi16(tens, _mm_set1_epi16(10)));
  return _mm_or_si128(tens, _mm_slli_epi16(ones, 8));
}

void store(__m128i bytes, char* to) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes); }

/// The exponent of a number in scientific notation.
char* write_exponent(int x, char* to) {
  *to++ = 'e';
  *to++ = x < 0 ? '-' : '+';
  const int size = std::abs(x);
  if (size >= 100) *to++ = static_cast<char>('0' + size / 100);
  *to++ = static_cast<char>('0' + size / 10 % 10);
  *to++ = static_cast<char>('0' + size % 10);
  return to;
}

/// Fixed notation unless the other one is shorter, whose digits are those of a number below ten.
/// All digits are written and the end is that of those without zeros behind them: no branch depends
/// on how many there are, or on where the point is.
char* write(const Digits& digits, char* to) {
  const __m128i sixteen = split(digits.sixteen);
  const auto marks =
      static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpgt_epi8(sixteen, _mm_setzero_si128())));
  const unsigned count =
      32 - static_cast<unsigned>(std::countl_zero(1U | marks | (digits.last != 0 ? 1U << 16 : 0)));
  auto power = static_cast<unsigned>(digits.power + zero_power);
  const bool is_scientific = power >= fixed_powers || count < places[power].least;
  if (is_scientific) [[unlikely]]
    power = zero_power;
  const Places& at = places[power];

  const __m128i characters = _mm_or_si128(sixteen, _mm_set1_epi8('0'));
  const __m128i mask = _mm_load_si128(reinterpret_cast<const __m128i*>(&unmoved[power]));
  const __m128i moved = _mm_slli_si128(characters, 1);
  constexpr std::array<char, 8> zeros{'0', '.', '0', '0', '0', '0', '0', '0'};
  std::memcpy(to, zeros.data(), zeros.size());
  store(characters, to + at.first + 1);
  store(_mm_or_si128(_mm_and_si128(mask, characters), _mm_andnot_si128(mask, moved)),
        to + at.first);
  to[at.last] = static_cast<char>('0' + digits.last);
  to[at.point] = '.';
  char* const end = to + (count > at.whole ? count + at.more : at.whole);
  return is_scientific ? write_exponent(digits.power, end) : end;
}

[[gnu::always_inline]] inline char* write_number(double x, char* to) {
  constexpr std::uint64_t sign = std::uint64_t(1) << 63;
  constexpr std::uint64_t least = std::uint64_t(detail::least_exponent) << 52;
  constexpr std::uint64_t most = std::uint64_t(detail::exponents) << 52;
  const auto all = std::bit_cast<std::uint64_t>(x);
  const std::uint64_t bits = all & ~sign;
  if (bits - least < most - least) [[likely]] {
    const Digits digits = detail::shortest_digits(bits);
    if (digits.sure) [[likely]] {
      *to = '-';
      return write(digits, to + (all >> 63));
    }
  } else if (all == 0) {
    *to = '0';
    return to + 1;
  }
  return std::to_chars(to, to + longest_text, x).ptr;
}

}  // namespace

char* write_shortest(double x, char* to) { return write_number(x, to); }

char* write_row(std::span<const double> row, char* to) {
  for (const double x : row) {
    to = write_number(x, to);
    *to++ = ',';
  }
  to[-1] = '\n';
  return to;
}

}  // namespace espalier::cli
