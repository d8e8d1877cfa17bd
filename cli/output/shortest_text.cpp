#include "cli/output/shortest_text.hpp"

#include <dragonbox/dragonbox.h>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace espalier::cli {

namespace {

constexpr int most_digits = 17;

constexpr std::array<std::uint64_t, most_digits + 1> powers_of_ten = [] {
  std::array<std::uint64_t, most_digits + 1> powers{1};
  for (int k = 1; k <= most_digits; ++k) powers[k] = 10 * powers[k - 1];
  return powers;
}();

/// Digits of a number above zero and below 10^17.
int count_digits(std::uint64_t x) {
  const int bits = 64 - std::countl_zero(x);
  const int least = bits * 1233 >> 12;  // log10(2), to as many digits as 60 bits ask for
  return least + (x >= powers_of_ten[least] ? 1 : 0);
}

/// Eight digits, with zeros before them: halves, then pairs, then digits beside one another in one
/// register, the first one in its lowest byte.
void write_eight(std::uint64_t x, char* to) {
  const std::uint64_t high = x / 10000;
  const std::uint64_t halves = high | (x - 10000 * high) << 32;
  const std::uint64_t hundreds = (halves * 10486 >> 20) & 0x0000007f0000007fULL;
  const std::uint64_t couples = hundreds | (halves - 100 * hundreds) << 16;
  const std::uint64_t tens = (couples * 103 >> 10) & 0x000f000f000f000fULL;
  const std::uint64_t digits = (tens | (couples - 10 * tens) << 8) + 0x3030303030303030ULL;
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(to, &digits, 8);
}

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

}  // namespace

char* write_shortest(double x, char* to) {
  // Beyond, std::to_chars writes all digits of a whole number, not the shortest ones.
  constexpr double largest = 0x1p53;
  const double size = std::abs(x);
  if (!(size > 0.0 && size < largest)) return std::to_chars(to, to + longest_text, x).ptr;
  *to = '-';
  to += std::signbit(x) ? 1 : 0;
  const auto decimal = jkj::dragonbox::to_decimal(size, jkj::dragonbox::policy::sign::ignore);

  // As many digits as the longest have, zeros at the end: first, middle and last ones.
  const int n = count_digits(decimal.significand);
  const int power = decimal.exponent + n - 1;  // of the first digit
  const std::uint64_t all = decimal.significand * powers_of_ten[most_digits - n];
  constexpr std::uint64_t eight = powers_of_ten[8];
  const std::uint64_t above = all / eight;
  const char first = static_cast<char>('0' + above / eight);
  const auto write_others = [&](char* at) {
    write_eight(above % eight, at);
    write_eight(all % eight, at + 8);
  };

  // Fixed notation unless the other one is shorter: of numbers below ten, which most are, up to
  // four zeros before the digits, without a branch that depends on how many.
  const int scientific = n + (n > 1 ? 1 : 0) + (std::abs(power) >= 100 ? 5 : 4);
  if (power <= 0 && n + 1 - power <= scientific) {
    std::memcpy(to, "0.0000", 6);
    to[power < 0 ? 1 - power : 0] = first;
    write_others(to + 2 - power);
    return to + (n - power > 1 ? n + 1 - power : 1);
  }
  const int fixed = decimal.exponent < 0 ? n + 1 : power + 1;
  if (power < 0 || fixed > scientific) {
    to[0] = first, to[1] = '.';
    write_others(to + 2);
    return write_exponent(power, to + (n > 1 ? n + 1 : 1));
  }
  to[0] = first;
  write_others(to + 1);
  if (decimal.exponent < 0) {
    std::memmove(to + power + 2, to + power + 1, n - power - 1);
    to[power + 1] = '.';
  }
  return to + fixed;
}

}  // namespace espalier::cli
