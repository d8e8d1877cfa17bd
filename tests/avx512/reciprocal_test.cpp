#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "espalier/kernel/scalar/reciprocal.hpp"
#include "tests/support/random.hpp"

// Reciprocals and reciprocal roots, compiled for AVX-512 where the processor has it.

namespace espalier::test::reciprocal_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(ReciprocalTest, PacksAreRightToTheLastBitButOneFromTheSmallestNumbersToTheLargest) {
  Rng rng(1);
  constexpr double unit = std::numeric_limits<double>::epsilon();
  for (int k = 0; k < 100000; ++k) {
    Pack x;
    for (int l = 0; l < Pack::size; ++l) x.set(l, std::pow(10.0, rng.uniform(-300.0, 300.0)));
    const Pack one_over = reciprocal(x), minus = reciprocal(-x), root = reciprocal_root(x);
    for (int l = 0; l < Pack::size; ++l) {
      EXPECT_NEAR(one_over[l] * x[l], 1.0, 2 * unit) << x[l];
      EXPECT_EQ(minus[l], -one_over[l]) << x[l];
      EXPECT_NEAR(root[l] * std::sqrt(x[l]), 1.0, 3 * unit) << x[l];
    }
  }
}

TEST(ReciprocalTest, WhatHasNoNumberIsThatOfADivision) {
  const Pack x(0.0, -0.0, infinity, -infinity, not_a_number, 5e-324, 1e308, 1.0);
  const Pack y = reciprocal(x);
  EXPECT_EQ(y[0], infinity);
  EXPECT_EQ(y[1], -infinity);
  EXPECT_EQ(y[2], 0.0);
  EXPECT_EQ(y[3], 0.0);
  EXPECT_TRUE(std::isnan(y[4]));
  EXPECT_EQ(y[5], infinity);
  EXPECT_NEAR(y[6] * 1e308, 1.0, 1e-3);  // it is so small that it has few bits
  EXPECT_EQ(y[7], 1.0);
}

TEST(ReciprocalTest, RootsOfWhatHasNoneAreNoNumber) {
  const Pack x(-1.0, -infinity, not_a_number, 1e-300, 4.0, 1e300, 0.25, 1.0);
  const Pack y = reciprocal_root(x);
  for (int l = 0; l < 3; ++l) EXPECT_TRUE(std::isnan(y[l])) << x[l];
  EXPECT_NEAR(y[3] * 1e-150, 1.0, 1e-15);
  EXPECT_EQ(y[4], 0.5);
  EXPECT_NEAR(y[5] * 1e150, 1.0, 1e-15);
  EXPECT_EQ(y[6], 2.0);
  EXPECT_EQ(y[7], 1.0);
}

TEST(ReciprocalTest, DoublesAreDividedAsTheyStand) {
  for (const double x : {3.0, -0.7, 1e-300, 0.0, infinity}) EXPECT_EQ(reciprocal(x), 1.0 / x);
  EXPECT_EQ(reciprocal_root(4.0), 0.5);
}

}  // namespace
}  // namespace espalier::test::reciprocal_test
