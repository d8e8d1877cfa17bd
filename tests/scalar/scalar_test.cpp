#include "espalier/kernel/scalar/scalar.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <thread>
#include <type_traits>
#include <vector>

namespace espalier::scalar_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Four numbers, again and again in all lanes.
template <class P>
P lanes_of(double a, double b, double c, double d) {
  const double four[4] = {a, b, c, d};
  P p;
  for (int k = 0; k < P::size; ++k) p.set(k, four[k % 4]);
  return p;
}
template <class P>
void expect_lanes(const P& p, double a, double b, double c, double d) {
  const double four[4] = {a, b, c, d};
  for (int k = 0; k < P::size; ++k) {
    const double expected = four[k % 4];
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(p[k])) << "lane " << k << " is " << p[k];
    } else {
      EXPECT_EQ(p[k], expected) << "lane " << k;
    }
  }
}

template <class P>
class PackTest : public ::testing::Test {};
using PacksOfDoubles = ::testing::Types<Pack, Quad>;
TYPED_TEST_SUITE(PackTest, PacksOfDoubles);

TYPED_TEST(PackTest, ArithmeticIsExactlyThatOfDoublesInEachLane) {
  const auto a = lanes_of<TypeParam>(1.5, -2.0, 0.0, 1e300);
  const auto b = lanes_of<TypeParam>(0.1, 4.0, -0.0, 1e10);
  expect_lanes(a + b, 1.5 + 0.1, 2.0, 0.0, 1e300 + 1e10);
  expect_lanes(a - b, 1.5 - 0.1, -6.0, 0.0, 1e300 - 1e10);
  expect_lanes(a * b, 1.5 * 0.1, -8.0, -0.0, infinity);
  expect_lanes(a / b, 1.5 / 0.1, -0.5, nan, 1e290);
  expect_lanes(-a, -1.5, 2.0, -0.0, -1e300);
  TypeParam c = a;
  c += b;
  expect_lanes(c, 1.5 + 0.1, 2.0, 0.0, 1e300 + 1e10);
  c = a, c -= b;
  expect_lanes(c, 1.5 - 0.1, -6.0, 0.0, 1e300 - 1e10);
  c = a, c *= b;
  expect_lanes(c, 1.5 * 0.1, -8.0, -0.0, infinity);
  c = a, c /= b;
  expect_lanes(c, 1.5 / 0.1, -0.5, nan, 1e290);
}

TYPED_TEST(PackTest, ADoubleFillsAllLanes) {
  expect_lanes(TypeParam(2.5), 2.5, 2.5, 2.5, 2.5);
  expect_lanes(2.0 * lanes_of<TypeParam>(1, 2, 3, 4), 2, 4, 6, 8);
  static_assert(std::is_same_v<Product<double, TypeParam>, TypeParam>);
}

TYPED_TEST(PackTest, LanesAreLoadedStoredAndSet) {
  constexpr int n = TypeParam::size;
  double from[n + 1], to[n + 1] = {};  // from + 1 is not aligned as a pack is if from is
  for (int k = 0; k <= n; ++k) from[k] = k;
  TypeParam p = TypeParam::load(from + 1);
  for (int k = 0; k < n; ++k) EXPECT_EQ(p[k], k + 1.0);
  p.set(2, 7.0);
  p.store(to + 1);
  EXPECT_EQ(to[0], 0.0);
  for (int k = 0; k < n; ++k) EXPECT_EQ(to[k + 1], k == 2 ? 7.0 : k + 1.0);
  EXPECT_EQ(lane(p, 2), 7.0);
  EXPECT_EQ(alignof(TypeParam), n * sizeof(double));
  EXPECT_EQ(sizeof(TypeParam), n * sizeof(double));
}

TYPED_TEST(PackTest, SineAndCosineAreThoseOfTheCLibraryToTwoUnitsInTheLastPlace) {
  const double ulp = std::numeric_limits<double>::epsilon();
  const auto check = [&](double x) {
    const auto angles = lanes_of<TypeParam>(x, -x, 0.5 * x, 3.0 * x);
    TypeParam s, c;
    sincos(angles, s, c);
    for (int k = 0; k < TypeParam::size; ++k) {
      EXPECT_NEAR(s[k], std::sin(angles[k]), 2 * ulp * std::abs(std::sin(angles[k]))) << angles[k];
      EXPECT_NEAR(c[k], std::cos(angles[k]), 2 * ulp) << angles[k];
    }
  };
  for (double x = 0.0; x < 50.0; x += 0.0137) check(x);
  for (const double x : {1e-310, 1e-200, 1e-8, 1e3, 1e5, 1e8, 1e12, 1e100}) check(x);
}

TYPED_TEST(PackTest, SineOfWhatHasNoneIsNoNumber) {
  TypeParam s, c;
  sincos(lanes_of<TypeParam>(infinity, 0.0, nan, -infinity), s, c);
  expect_lanes(s, nan, 0.0, nan, nan);
  expect_lanes(c, nan, 1.0, nan, nan);
}

TYPED_TEST(PackTest, RootsArcTangentsAndMagnitudesAreExactlyTheCLibrarys) {
  const auto x = lanes_of<TypeParam>(2.0, 0.0, 1e-310, -1.0);
  const auto y = lanes_of<TypeParam>(-0.5, 0.0, 3.0, infinity);
  const TypeParam root = sqrt(x), angle = atan2(y, x), size = abs(-x);
  for (int k = 0; k < TypeParam::size; ++k) {
    EXPECT_EQ(angle[k], std::atan2(y[k], x[k]));
    EXPECT_EQ(size[k], std::abs(x[k]));
    if (x[k] < 0.0) {
      EXPECT_TRUE(std::isnan(root[k]));
    } else {
      EXPECT_EQ(root[k], std::sqrt(x[k]));
    }
  }
}

void expect_floats(const FloatPack& p, const std::vector<float>& expected) {
  for (int k = 0; k < FloatPack::size; ++k) {
    if (std::isnan(expected[k])) {
      EXPECT_TRUE(std::isnan(p[k])) << "lane " << k << " is " << p[k];
    } else {
      EXPECT_EQ(p[k], expected[k]) << "lane " << k;
    }
  }
}

TEST(FloatPackTest, ArithmeticIsExactlyThatOfFloatsInEachLane) {
  std::vector<float> x{1.5f, -2.0f, 0.0f, 1e30f, 3.0f, -0.1f, 7.0f, 1e-30f};
  std::vector<float> y{0.1f, 4.0f, -0.0f, 1e10f, -7.0f, 0.3f, 7.0f, 1e20f};
  for (int k = 8; k < FloatPack::size; ++k) x.push_back(y[k - 8]), y.push_back(x[k - 5]);
  const FloatPack a = FloatPack::load(x.data()), b = FloatPack::load(y.data());
  std::vector<float> sum, difference, product, ratio, root, size, angle, less;
  for (std::size_t k = 0; k < x.size(); ++k) {
    sum.push_back(x[k] + y[k]), difference.push_back(x[k] - y[k]);
    product.push_back(x[k] * y[k]), ratio.push_back(x[k] / y[k]);
    root.push_back(std::sqrt(x[k])), size.push_back(std::abs(x[k]));
    angle.push_back(std::atan2(y[k], x[k])), less.push_back(x[k] < y[k] ? x[k] : -y[k]);
  }
  expect_floats(a + b, sum);
  expect_floats(a - b, difference);
  expect_floats(a * b, product);
  expect_floats(a / b, ratio);
  expect_floats(sqrt(a), root);
  expect_floats(abs(a), size);
  expect_floats(atan2(b, a), angle);
  expect_floats(select_less(a, b, a, -b), less);
  FloatPack c = a;
  expect_floats(c += b, sum);
  expect_floats((c = a) -= b, difference);
  expect_floats((c = a) *= b, product);
  expect_floats((c = a) /= b, ratio);
}

// A parameter of a model is rounded first: the product is not one of doubles.
TEST(FloatPackTest, ADoubleIsRoundedAndFillsAllLanes) {
  static_assert(std::is_same_v<Product<double, FloatPack>, FloatPack>);
  static_assert(is_single<FloatPack> && !is_single<Pack> && !is_single<double>);
  expect_floats(FloatPack(0.1), std::vector<float>(FloatPack::size, 0.1f));
  FloatPack x;
  for (int k = 0; k < FloatPack::size; ++k) x.set(k, static_cast<float>(k) + 0.3f);
  const FloatPack y = 0.1 * x;
  for (int k = 0; k < FloatPack::size; ++k) EXPECT_EQ(y[k], 0.1f * x[k]);
  EXPECT_EQ(lane(x, 7), 7.3f);
  EXPECT_EQ(sizeof(FloatPack), sizeof(Pack));
}

TYPED_TEST(PackTest, EachLaneChoosesForItself) {
  expect_lanes(select_less(lanes_of<TypeParam>(1, 2, 3, nan), TypeParam(2.0),
                           lanes_of<TypeParam>(10, 20, 30, 40), TypeParam(-1.0)),
               10, -1, -1, -1);
}

TYPED_TEST(PackTest, WhatIsNotChosenDoesNotSpoilTheResult) {
  expect_lanes(
      select_less(lanes_of<TypeParam>(1, 3, 1, 3), TypeParam(2.0), TypeParam(5.0), TypeParam(nan)),
      5, nan, 5, nan);
}

TEST(SelectTest, ADoubleChooses) {
  EXPECT_EQ(select_less(1.0, 2.0, 10.0, -1.0), 10.0);
  EXPECT_EQ(select_less(2.0, 2.0, 10.0, -1.0), -1.0);
  EXPECT_EQ(select_less(nan, 2.0, 10.0, -1.0), -1.0);
}

class CountTest : public ::testing::Test {
 protected:
  CountTest() { operation_counts() = {}; }
  ~CountTest() override { fold_constants() = false; }

  void expect_counts(int additions, int multiplications, int divisions = 0, int roots = 0,
                     int trigonometry = 0) {
    const OperationCounts& n = operation_counts();
    EXPECT_EQ(n.additions, additions);
    EXPECT_EQ(n.multiplications, multiplications);
    EXPECT_EQ(n.divisions, divisions);
    EXPECT_EQ(n.square_roots, roots);
    EXPECT_EQ(n.trigonometry, trigonometry);
  }

  const Count x_ = Count::variable(3.0), y_ = Count::variable(-0.5);
};

TEST_F(CountTest, ValuesAreThoseOfDoublesAndEveryOperationCounts) {
  EXPECT_EQ((x_ + y_).value(), 2.5);
  EXPECT_EQ((x_ - y_).value(), 3.5);
  EXPECT_EQ((x_ * y_).value(), -1.5);
  EXPECT_EQ((x_ / y_).value(), -6.0);
  expect_counts(2, 1, 1);
  Count z = x_;
  z += y_;
  z -= y_;
  z *= y_;
  z /= y_;
  EXPECT_EQ(z.value(), 3.0);
  expect_counts(4, 2, 2);
  Count s, c;
  sincos(x_, s, c);
  EXPECT_EQ(s.value(), std::sin(3.0));
  EXPECT_EQ(c.value(), std::cos(3.0));
  EXPECT_EQ(atan2(y_, x_).value(), std::atan2(-0.5, 3.0));
  EXPECT_EQ(sqrt(x_).value(), std::sqrt(3.0));
  expect_counts(4, 2, 2, 1, 3);
}

TEST_F(CountTest, SignsMagnitudesAndChoicesAreFree) {
  EXPECT_EQ((-x_).value(), -3.0);
  EXPECT_EQ(abs(y_).value(), 0.5);
  EXPECT_EQ(select_less(y_, x_, x_, y_).value(), 3.0);
  EXPECT_EQ(select_less(x_, y_, x_, y_).value(), -0.5);
  expect_counts(0, 0);
}

TEST_F(CountTest, WithoutFoldingConstantsCountLikeAnyNumber) {
  const Count zero(0.0), one(1.0);
  x_ + zero;
  zero - x_;
  x_* one;
  zero* x_;
  one / x_;
  sqrt(one);
  expect_counts(2, 2, 1, 1);
}

TEST_F(CountTest, FoldingTakesAwayZerosOnesAndConstants) {
  fold_constants() = true;
  const Count zero(0.0), one(1.0), two(2.0);
  EXPECT_EQ((x_ + zero).value(), 3.0);
  EXPECT_EQ((zero - x_).value(), -3.0);
  EXPECT_EQ((x_ * one).value(), 3.0);
  EXPECT_EQ((-one * x_).value(), -3.0);
  EXPECT_EQ((x_ * zero).value(), 0.0);
  EXPECT_EQ((zero / x_).value(), 0.0);
  EXPECT_EQ((x_ / one).value(), 3.0);
  EXPECT_EQ((two * two + two / two - sqrt(two * two)).value(), 3.0);
  Count s, c;
  sincos(two, s, c);
  atan2(one, two);
  expect_counts(0, 0);
  two* x_;
  x_ + two;
  x_ / two;
  two / x_;
  expect_counts(1, 1, 2);
}

TEST_F(CountTest, FoldingKnowsWhatIsConstant) {
  fold_constants() = true;
  const Count zero(0.0), one(1.0), two(2.0);
  EXPECT_TRUE((two * two).constant());
  EXPECT_TRUE((x_ * zero).constant());
  EXPECT_TRUE((zero / x_).constant());
  EXPECT_TRUE((-two).constant());
  EXPECT_TRUE(abs(-two).constant());
  EXPECT_TRUE(sqrt(two).constant());
  EXPECT_FALSE((x_ * one).constant());
  EXPECT_FALSE((x_ + zero).constant());
  EXPECT_FALSE((zero - x_).constant());
  EXPECT_FALSE((-x_).constant());
  // A variable that happens to be zero or one is no constant.
  const Count lucky = Count::variable(0.0);
  lucky* x_;
  lucky + x_;
  expect_counts(1, 1);
  EXPECT_FALSE((lucky * x_).constant());
  // A choice depends on what is compared.
  EXPECT_TRUE(select_less(one, two, one, x_).constant());
  EXPECT_FALSE(select_less(x_, two, one, two).constant());
}

TEST_F(CountTest, EveryThreadCountsForItself) {
  std::thread([this] {
    x_* y_;
    fold_constants() = true;
    EXPECT_EQ(operation_counts().multiplications, 1);
  }).join();
  expect_counts(0, 0);
  EXPECT_FALSE(fold_constants());
}

TEST(ScalarTest, IndicesAndNamesFollowTheClosedList) {
  int next = 0;
#define X(T) EXPECT_EQ(ScalarTraits<T>::index, next++);
  ESPALIER_SCALARS(X)
#undef X
  EXPECT_EQ(next, scalar_count);
  EXPECT_EQ(std::size(scalar_names), static_cast<std::size_t>(scalar_count));
}

}  // namespace
}  // namespace espalier::scalar_test
