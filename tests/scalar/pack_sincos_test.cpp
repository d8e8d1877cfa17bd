#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "espalier/kernel/scalar/scalar.hpp"
#include "tests/support/random.hpp"

// Sine and cosine of packs: right, and of each lane alone.

namespace espalier::test::pack_sincos_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

bool same_bits(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0; }

template <class P>
struct SinCos {
  P s, c;
};
template <class P>
SinCos<P> sin_cos(P x) {
  SinCos<P> out;
  sincos(x, out.s, out.c);
  return out;
}

TEST(PackSinCosTest, AgreesWithTheStandardLibraryInEveryOctantAndFarFromZero) {
  Rng rng(1);
  for (const double size :
       {1e-300, 1e-12, 1e-3, 0.7, 0.8, 1.5, 1.6, 3.0, 7.0, 100.0, 1e5, 5e5, 6e5, 1e7, 1e15}) {
    for (int k = 0; k < 10000; ++k) {
      Pack x;
      for (int l = 0; l < Pack::size; ++l) x.set(l, rng.uniform(-size, size));
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
    const double above = std::nextafter(x, infinity), below = std::nextafter(x, 0.0);
    const double at[] = {x, -x, above, -above, below, -below, 0.0, 1.0};
    const auto [s, c] = sin_cos(Pack::load(at));
    for (int l = 0; l < Pack::size; ++l) {
      ASSERT_NEAR(s[l], std::sin(at[l]), 2.3e-16) << at[l];
      ASSERT_NEAR(c[l], std::cos(at[l]), 2.3e-16) << at[l];
    }
  }
}

TEST(PackSinCosTest, KeepsTheSignOfZero) {
  const auto [s, c] = sin_cos(Pack(0.0, -0.0, 1.0, -1.0, 0.0, -0.0, 2.0, -2.0));
  EXPECT_TRUE(same_bits(s[0], 0.0));
  EXPECT_TRUE(same_bits(s[1], -0.0));
  EXPECT_EQ(c[0], 1.0);
  EXPECT_EQ(c[1], 1.0);
  EXPECT_TRUE(same_bits(s[2], -s[3]));
  EXPECT_TRUE(same_bits(c[2], c[3]));
}

/// Bit by bit, a lane has what it has where all lanes are alike, whatever stands in the others.
template <class P, int n>
void expect_lanes_alone(const double (&lanes)[n]) {
  for (const double x : lanes) {
    const auto [alone_s, alone_c] = sin_cos(P(x));
    for (const double beside : lanes) {
      for (int l = 0; l < P::size; ++l) {
        P mixed(beside);
        mixed.set(l, static_cast<typename P::Element>(x));
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

TEST(PackSinCosTest, ALaneDependsOnItselfAlone) {
  const double lanes[] = {0.0,      0.3,          0.785398163397449,
                          1.5,      -2.5,         20.0,
                          63.0,     1e4,          5e5,
                          1e6,      1e9,          1e300,
                          infinity, -infinity,    1e-9,
                          3.2,      not_a_number, -1e-320,
                          786432.0, -524288.0};
  expect_lanes_alone<Pack>(lanes);
  expect_lanes_alone<Quad>(lanes);
}

TEST(FloatPackSinCosTest, AgreesWithTheStandardLibraryInEveryOctantAndFarFromZero) {
  Rng rng(1);
  for (const double size :
       {1e-30, 1e-12, 1e-3, 0.7, 0.8, 1.5, 1.6, 3.0, 7.0, 100.0, 1e3, 8e3, 9e3, 1e5, 1e7, 1e30}) {
    for (int k = 0; k < 5000; ++k) {
      FloatPack x;
      for (int l = 0; l < FloatPack::size; ++l) {
        x.set(l, static_cast<float>(rng.uniform(-size, size)));
      }
      const auto [s, c] = sin_cos(x);
      for (int l = 0; l < FloatPack::size; ++l) {
        // Of that float as a double. Half a unit in the last place of numbers up to one is 3e-8,
        // and the polynomials and the rounding of what remains of the angle add as much.
        ASSERT_NEAR(s[l], std::sin(static_cast<double>(x[l])), 1.2e-7) << x[l];
        ASSERT_NEAR(c[l], std::cos(static_cast<double>(x[l])), 1.2e-7) << x[l];
        // Where nothing is taken off the angle, digits of a small sine are as good.
        if (std::abs(x[l]) < 0.78f) {
          ASSERT_NEAR(s[l], std::sin(static_cast<double>(x[l])), 1.2e-7 * std::abs(s[l])) << x[l];
        }
      }
    }
  }
}

TEST(FloatPackSinCosTest, AgreesNextToMultiplesOfARightAngle) {
  for (int n = 1; n < 20000; ++n) {
    const auto x = static_cast<float>(n * 1.5707963267948966);
    const float above = std::nextafter(x, HUGE_VALF), below = std::nextafter(x, 0.0f);
    const float at[] = {x,     -x,     above,    -above,    below,        -below,
                        0.0f,  1.0f,   0.5f * x, -0.5f * x, 0.5f * above, -0.5f * above,
                        2 * x, -2 * x, -0.0f,    -1.0f};
    const auto [s, c] = sin_cos(FloatPack::load(at));
    for (int l = 0; l < FloatPack::size; ++l) {
      // Of what remains of the angle, 1e-10 is lost besides, in products with the third part of
      // pi/2 and beyond it.
      const double sine = std::sin(static_cast<double>(at[l]));
      const double cosine = std::cos(static_cast<double>(at[l]));
      ASSERT_NEAR(s[l], sine, 1e-10 + 1.5e-7 * std::abs(sine)) << at[l];
      ASSERT_NEAR(c[l], cosine, 1e-10 + 1.5e-7 * std::abs(cosine)) << at[l];
    }
  }
}

TEST(FloatPackSinCosTest, ALaneDependsOnItselfAlone) {
  const double lanes[] = {
      0.0,  -0.0,        0.3,    0.785398163397449, 0.7854, 1.5,  -2.5,     20.0,
      63.0, 8191.9,      8192.5, -9000.0,           1e9,    3e38, infinity, -infinity,
      1e-9, not_a_number};
  expect_lanes_alone<FloatPack>(lanes);
}

}  // namespace
}  // namespace espalier::test::pack_sincos_test
