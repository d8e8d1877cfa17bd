#include "benchmarks/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace espalier::bench {

double quantile(std::vector<double> x, double p) {
  const double below = std::ceil(p * static_cast<double>(x.size()));
  const std::size_t at = below < 1.0 ? 0 : static_cast<std::size_t>(below) - 1;
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(at), x.end());
  return x[at];
}

LineFit fit_line(const std::vector<double>& x, const std::vector<double>& y) {
  double s = 0, sx = 0, sxx = 0, sy = 0, sxy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double w = 1 / (y[i] * y[i]);
    s += w, sx += w * x[i], sxx += w * x[i] * x[i], sy += w * y[i], sxy += w * x[i] * y[i];
  }
  LineFit fit;
  fit.slope = (s * sxy - sx * sy) / (s * sxx - sx * sx);
  fit.start = (sy - fit.slope * sx) / s;
  for (std::size_t i = 0; i < x.size(); ++i) {
    fit.deviation = std::max(fit.deviation, std::abs((fit.start + fit.slope * x[i]) / y[i] - 1));
  }
  return fit;
}

double growth_exponent(const std::vector<double>& x, const std::vector<double>& y) {
  double mean_x = 0.0, mean_y = 0.0, sxx = 0.0, sxy = 0.0;
  const double n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    mean_x += std::log(x[i]) / n, mean_y += std::log(y[i]) / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double from_mean = std::log(x[i]) - mean_x;
    sxx += from_mean * from_mean, sxy += from_mean * (std::log(y[i]) - mean_y);
  }
  return sxy / sxx;
}

}  // namespace espalier::bench
