#include "cli/output/shortest_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <string>

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
