// Statistics of measured times.

#include "benchmarks/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace espalier::bench::statistics_test {
namespace {

// Sums of some ten products: rounding of 1e-16 each, nothing cancels.
constexpr double rounding = 1e-12;

TEST(QuantileTest, IsTheSmallestNumberThatThePartDoesNotExceed) {
  const std::vector<double> x{5, 1, 4, 2, 3};
  EXPECT_EQ(quantile(x, 0.0), 1);
  EXPECT_EQ(quantile(x, 0.2), 1);
  EXPECT_EQ(quantile(x, 0.5), 3);
  EXPECT_EQ(quantile(x, 0.8), 4);
  EXPECT_EQ(quantile(x, 0.81), 5);
  EXPECT_EQ(quantile(x, 1.0), 5);
}

TEST(QuantileTest, OneNumberIsEveryQuantile) {
  for (const double p : {0.0, 0.5, 0.999, 1.0}) EXPECT_EQ(quantile({7.0}, p), 7.0) << p;
}

TEST(QuantileTest, OneSlowCallInAThousandIsBeyondThePart999) {
  std::vector<double> ns(1000, 10.0);
  ns[17] = 5000.0;
  EXPECT_EQ(quantile(ns, 0.999), 10.0);
  ns[18] = 4000.0;
  EXPECT_EQ(quantile(ns, 0.999), 4000.0);
}

TEST(LineFitTest, PointsOnALineGiveTheLine) {
  const LineFit fit = fit_line({2, 5, 10, 500}, {24, 45, 80, 3510});
  EXPECT_NEAR(fit.start, 10.0, 10 * rounding * 500);  // what 500 slopes are off adds up
  EXPECT_NEAR(fit.slope, 7.0, 7 * rounding);
  EXPECT_LT(fit.deviation, rounding);
}

TEST(LineFitTest, ShortRobotsCountAsMuchAsLongOnes) {
  // Least squares of absolute deviations are 0.20 off at the first point.
  EXPECT_LT(fit_line({1, 2, 100}, {10, 25, 1100}).deviation, 0.15);
}

TEST(LineFitTest, DeviationIsThatOfTheWorstPointAndNoLineHasLessForASquare) {
  const std::vector<double> x{2, 5, 10, 20, 50, 100, 200, 500};
  std::vector<double> squares;
  for (const double links : x) squares.push_back(links * links);
  const LineFit fit = fit_line(x, squares);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    worst = std::max(worst, std::abs((fit.start + fit.slope * x[i]) / squares[i] - 1));
  }
  EXPECT_EQ(fit.deviation, worst);
  EXPECT_GT(fit.deviation, 0.5);  // cost that is quadratic is not taken for linear
}

TEST(GrowthExponentTest, PowersGiveTheirExponent) {
  const std::vector<double> x{11, 31, 61, 121};
  for (const double power : {1.0, 2.5, 3.0}) {
    std::vector<double> y;
    for (const double n : x) y.push_back(7.0 * std::pow(n, power));
    EXPECT_NEAR(growth_exponent(x, y), power, 100 * rounding);
  }
}

TEST(GrowthExponentTest, StartingCostHidesGrowthOfSmallOnes) {
  EXPECT_LT(growth_exponent({1, 2}, {101, 102}), 0.02);
}

}  // namespace
}  // namespace espalier::bench::statistics_test
