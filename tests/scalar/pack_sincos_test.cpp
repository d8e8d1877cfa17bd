#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "espalier/kernel/scalar/scalar.hpp"
#include "tests/support/random.hpp"

// Sine and cosine of packs: right, and of each lane alone.

namespace espalier::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

struct SinCos {
  Pack s, c;
};
SinCos sin_cos(Pack x) {
  SinCos out;
  sincos(x, out.s, out.c);
  return out;
}

TEST(PackSinCosTest, AgreesWithTheStandardLibraryInEveryOctantAndFarFromZero) {
  Rng rng(1);
  for (const double size : {1e-300, 1e-12, 1e-3, 0.7, 0.8, 1.5, 1.6, 3.0, 7.0, 100.0, 1e5, 5e5, 6e5,
                            1e7, 1e15}) {
    for (int k = 0; k < 20000; ++k) {
      const Pack x(rng.uniform(-size, size), rng.uniform(-size, size), rng.uniform(-size, size),
                   rng.uniform(-size, size));
      const auto [s, c] = sin_cos(x);
      for (int l = 0; l < Pack::size; ++l) {
        // Both round correctly to about half a unit in the last place of numbers up to one.
        ASSERT_NEAR(s[l], std::sin(x[l]), 2.3e-16) << x[l];
        ASSERT_NEAR(c[l], std::cos(x[l]), 2.3e-16) << x[l];
      }
    }
  }
}

// There, a whole multiple of pi/2 cancels nearly all of the angle.
TEST(PackSinCosTest, AgreesNextToMultiplesOfARightAngle) {
  for (int n = 1; n < 300000; n = n + 1 + n / 7) {
    const double x = n * 1.5707963267948966;
    const auto [s, c] = sin_cos(Pack(x, -x, std::nextafter(x, 0.0), std::nextafter(x, infinity)));
    const double at[] = {x, -x, std::nextafter(x, 0.0), std::nextafter(x, infinity)};
    for (int l = 0; l < Pack::size; ++l) {
      ASSERT_NEAR(s[l], std::sin(at[l]), 2.3e-16) << at[l];
      ASSERT_NEAR(c[l], std::cos(at[l]), 2.3e-16) << at[l];
    }
  }
}

TEST(PackSinCosTest, KeepsTheSignOfZero) {
  const auto [s, c] = sin_cos(Pack(0.0, -0.0, 1.0, -1.0));
  EXPECT_TRUE(same_bits(s[0], 0.0));
  EXPECT_TRUE(same_bits(s[1], -0.0));
  EXPECT_EQ(c[0], 1.0);
  EXPECT_EQ(c[1], 1.0);
  EXPECT_TRUE(same_bits(s[2], -s[3]));
  EXPECT_TRUE(same_bits(c[2], c[3]));
}

TEST(PackSinCosTest, ALaneDependsOnItselfAlone) {
  const double lanes[] = {0.0,  0.3, 0.785398163397449, 1.5,     -2.5,     20.0,        63.0,
                          1e4,  5e5, 1e6,               1e9,     1e300,    infinity,    -infinity,
                          1e-9, 3.2, not_a_number,      -1e-320, 786432.0, -524288.0};
  for (const double x : lanes) {
    const auto [alone_s, alone_c] = sin_cos(Pack(x));
    for (const double beside : lanes) {
      for (int l = 0; l < Pack::size; ++l) {
        Pack mixed(beside);
        mixed.set(l, x);
        const auto [s, c] = sin_cos(mixed);
        if (std::isnan(alone_s[l])) {
          EXPECT_TRUE(std::isnan(s[l]) && std::isnan(c[l])) << x << " beside " << beside;
        } else {
          EXPECT_TRUE(same_bits(s[l], alone_s[l])) << x << " beside " << beside;
          EXPECT_TRUE(same_bits(c[l], alone_c[l])) << x << " beside " << beside;
        }
      }
    }
  }
}

}  // namespace
}  // namespace espalier::test
