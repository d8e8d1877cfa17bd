#pragma once

#include <vector>

namespace espalier::bench {

/// The p-quantile of some numbers, 0 <= p <= 1: the smallest of them that at least the part p of
/// all does not exceed, so that it is one of the numbers. @param x  at least one, in any order
double quantile(std::vector<double> x, double p);

/// A line y = start + slope x through measured points.
struct LineFit {
  double start = 0.0, slope = 0.0;
  double deviation = 0.0;  ///< the largest |y of the line / y of a point - 1|
};

/// Least squares of relative deviations, so that short robots count as much as long ones.
/// @param x  at least two different numbers
/// @param y  as many, none of them zero
LineFit fit_line(const std::vector<double>& x, const std::vector<double>& y);

/// The power of x with which y grows: the slope of a line through the logarithms, least squares.
/// @param x  at least two different positive numbers
/// @param y  as many, positive
double growth_exponent(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace espalier::bench
