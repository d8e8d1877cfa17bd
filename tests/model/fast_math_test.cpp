#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

#include "espalier/kernel/problems/algorithm.hpp"

// Calls look at their answers in code that is compiled into the program; this file is compiled with
// -ffast-math (tests/CMakeLists.txt), for which every number is finite.

namespace espalier::test::fast_math_test {
namespace {

#ifndef __FAST_MATH__
#error "expected -ffast-math"
#endif

double of_bits(std::uint64_t bits) { return std::bit_cast<double>(bits); }
const double nan = of_bits(0x7ff8000000000000), infinity = of_bits(0x7ff0000000000000),
             largest = of_bits(0x7fefffffffffffff), smallest = of_bits(1);

TEST(FastMathTest, NumbersThatAreNotFiniteAreSeen) {
  for (const double x : {0.0, -1.0, largest, -largest, smallest}) {
    EXPECT_TRUE(detail::is_finite(x)) << std::bit_cast<std::uint64_t>(x);
  }
  for (const double x : {nan, -nan, infinity, -infinity}) EXPECT_FALSE(detail::is_finite(x));
}

TEST(FastMathTest, OneOfThemAnywhereIsSeenInASum) {
  for (std::size_t n = 1; n < 14; ++n) {
    std::vector<double> x(n, 0.5);
    EXPECT_TRUE(detail::is_finite_sum(x.data(), static_cast<long>(n)));
    for (std::size_t at = 0; at < n; ++at) {
      for (const double bad : {nan, infinity}) {
        x.assign(n, 0.5);
        x[at] = bad;
        EXPECT_FALSE(detail::is_finite_sum(x.data(), static_cast<long>(n))) << n << ' ' << at;
      }
    }
  }
}

}  // namespace
}  // namespace espalier::test::fast_math_test
