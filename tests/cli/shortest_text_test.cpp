#include "cli/output/shortest_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "cli/output/shortest_digits.hpp"

namespace espalier::cli::shortest_text_test {
namespace {

std::string text_of(double x) {
  std::array<char, longest_text> text;
  return {text.data(), write_shortest(x, text.data())};
}
std::string by_the_library(double x) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), x).ptr};
}

TEST(ShortestTextTest, IsThatOfTheStandardLibraryForAllKindsOfNumbers) {
  std::mt19937_64 generator(3);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 300000; ++k) {
    const double any = std::bit_cast<double>(generator());  // also those that are none
    const double near_one = normal(generator), spread = near_one * std::exp(5 * normal(generator));
    const double rounded = std::round(1e3 * spread) / 1e3;
    for (const double x : {any, near_one, spread, rounded, std::round(spread)}) {
      ASSERT_EQ(text_of(x), by_the_library(x));
    }
  }
}

void expect_as_the_library(double x) {
  for (const double y : {x, std::nextafter(x, HUGE_VAL), std::nextafter(x, -HUGE_VAL)}) {
    ASSERT_EQ(text_of(y), by_the_library(y));
    ASSERT_EQ(text_of(-y), by_the_library(-y));
  }
}

// Where neighbours are not alike, and where numbers stop having an exponent of their own.
TEST(ShortestTextTest, IsThatOfTheStandardLibraryBesidePowers) {
  for (int power = -1074; power < 1024; ++power) expect_as_the_library(std::ldexp(1.0, power));
  for (int power = -323; power <= 308; ++power) {
    const double ten = std::strtod(("1e" + std::to_string(power)).c_str(), nullptr);
    for (int factor = 1; factor < 10; ++factor) expect_as_the_library(factor * ten);
  }
}

// Their digits end in the middle between two of the last place, or a decimal of fewer digits is
// exactly half a step away.
TEST(ShortestTextTest, IsThatOfTheStandardLibraryWhereDigitsAreAsFarAsOthers) {
  for (int shift = 0; shift <= 80; ++shift) {
    for (int k = 0; k < 300; ++k) {
      expect_as_the_library(std::ldexp(0x1p52 + k, -shift));
      expect_as_the_library(std::ldexp(0x1p53 - k, -shift));
      expect_as_the_library(std::ldexp(2 * k + 1, -shift));
    }
  }
}

TEST(ShortestTextTest, DigitsAreSureButForAFew) {
  const auto is_sure = [](double x) {
    return detail::shortest_digits(std::bit_cast<std::uint64_t>(x)).sure;
  };
  std::mt19937_64 generator(5);
  std::normal_distribution<double> normal;
  for (int k = 0; k < 100000; ++k) ASSERT_TRUE(is_sure(std::abs(normal(generator))));
  for (const double x : {1.0, 0.5, 4.0, 0.125, 3.0, 0.1, 1e-3}) EXPECT_TRUE(is_sure(x)) << x;
  // A tie, and a power of two whose digits do not end.
  for (const double x : {0x1p50 + 0.25, 0x1p-60}) EXPECT_FALSE(is_sure(x)) << x;
}

TEST(ShortestTextTest, ARowHasCommasAndAnEnd) {
  const std::vector<double> row{0.0, -0.0, -1.5, 1e300, 2e-9, 12345.678, 1.0};
  std::string text(row.size() * longest_text, ' ');
  text.resize(static_cast<std::size_t>(write_row(row, text.data()) - text.data()));
  EXPECT_EQ(text, "0,-0,-1.5,1e+300,2e-09,12345.678,1\n");
}

TEST(ShortestTextTest, IsThatOfTheStandardLibraryForFewDigits) {
  for (int power = -25; power <= 25; ++power) {
    for (int digits = -1200; digits <= 1200; ++digits) {
      const double x = digits * std::pow(10.0, power);
      for (const double y : {x, std::nextafter(x, HUGE_VAL), std::nextafter(x, -HUGE_VAL)}) {
        ASSERT_EQ(text_of(y), by_the_library(y));
      }
    }
  }
  using Limits = std::numeric_limits<double>;
  for (const double x : {0.0, -0.0, Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(),
                         -Limits::quiet_NaN(), Limits::max(), Limits::min(), Limits::denorm_min(),
                         -Limits::max(), -Limits::denorm_min()}) {
    EXPECT_EQ(text_of(x), by_the_library(x));
  }
}

}  // namespace
}  // namespace espalier::cli::shortest_text_test
