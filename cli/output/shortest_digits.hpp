#pragma once

#include <array>
#include <bit>
#include <cstdint>

/// The shortest decimal digits of doubles. Internal to shortest_text.cpp.

namespace espalier::cli::detail {

__extension__ typedef unsigned __int128 Wide;

/// (sixteen + last / 10) 10^(power - 15), unless it is not sure that these are the shortest digits.
struct Digits {
  std::uint64_t sixteen;  ///< the first one is not zero
  std::uint64_t last;
  int power;  ///< of ten, of the first digit
  bool sure;
};

/// Biased exponents whose numbers have digits here: those of 2^-1022 up to 2^52.
inline constexpr int least_exponent = 1, exponents = 1023 + 52;

/// Units 10^k between one step and ten steps from a double to the next one, by the biased exponent.
struct Units {
  std::array<std::uint64_t, exponents> high, low;  ///< 2^117 steps over units
  std::array<std::int16_t, exponents> power;       ///< k + 15
};

/// Each exponent's from that above it; 11 bits more than are kept bear what rounding adds up to.
inline constexpr Units units = [] {
  Units table{};
  const Wide tenth = ~Wide(0) / 10;
  Wide step = Wide(1) << 127;  // of the numbers below 2^52: 1 / 2, in units 10^0
  int power = 15;
  for (int e = exponents - 1; e >= least_exponent; --e) {
    table.high[e] = static_cast<std::uint64_t>(step >> 75);
    table.low[e] = static_cast<std::uint64_t>(step >> 11);
    table.power[e] = static_cast<std::int16_t>(power);
    const bool is_small = step / 2 <= tenth;
    step = is_small ? 5 * step : step / 2;
    power -= is_small ? 1 : 0;
  }
  return table;
}();

/// Digits of the number of these bits, which has no sign and an exponent from least_exponent up to
/// below `exponents`; without a branch that depends on them. What is within half a step of the
/// number reads back as it: that is a multiple of the unit, if one is so near, or else the nearest
/// tenth of it. Source: Giulietti (2020), whose proof for comparisons that are close is replaced by
/// not being sure.
inline Digits shortest_digits(std::uint64_t bits) {
  const std::uint64_t exponent = bits >> 52;
  const std::uint64_t steps = bits << 11 | std::uint64_t(1) << 63;
  const std::uint64_t high = units.high[exponent];
  // In units: whole ones, and their fraction and half a step in 2^-64, less than 2^11 from exact.
  const Wide product =
      Wide(high) * steps + static_cast<std::uint64_t>(Wide(units.low[exponent]) * steps >> 64);
  const auto whole = static_cast<std::uint64_t>(product >> 64);
  const auto fraction = static_cast<std::uint64_t>(product);
  const std::uint64_t half = high << 10, above = fraction + half;
  const bool is_multiple = above <= 2 * half;
  const Wide tenths = Wide(fraction) * 10;
  const auto rest = static_cast<std::uint64_t>(tenths);
  const std::uint64_t last =
      is_multiple ? 0 : static_cast<std::uint64_t>(tenths >> 64) + (rest >> 63);
  const std::uint64_t first = whole + (static_cast<std::uint64_t>(is_multiple) & fraction >> 63);

  constexpr std::uint64_t error = 1 << 12, middle = std::uint64_t(1) << 63;
  const auto is_near = [](std::uint64_t difference) { return difference + error < 2 * error; };
  // Below a power of two the next double is half as far, unless it is that multiple itself.
  const bool is_power_of_two = steps == middle;
  const bool sure = !is_near(above) && !is_near(above - 2 * half) && !is_near(rest - middle) &&
                    !(is_power_of_two && !is_near(fraction));

  const bool has_fifteen = first < 1000000000000000U;
  return {.sixteen = has_fifteen ? 10 * first + last : first,
          .last = has_fifteen ? 0 : last,
          .power = units.power[exponent] - (has_fifteen ? 1 : 0),
          .sure = sure};
}

}  // namespace espalier::cli::detail
