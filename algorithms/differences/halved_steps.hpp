#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

namespace espalier {

/// A derivative by differences, and the largest difference of an entry from that of twice the step.
struct BestDifference {
  std::vector<double> derivative;
  double uncertainty = HUGE_VAL;
};

/// Derivative of f(t), a vector, by t at 0: central differences of order eight at steps that halve,
/// from 1.6e-2 to 6e-5. Truncation h^8 D9 / 630 and rounding 2e-16 D / h are both about 1e-13 of
/// derivatives of size D at h = 1e-2; where the ninth derivative is large, near dead points, a
/// smaller step is better. The one is taken that agrees best with the one before it. From there on
/// rounding doubles with each step: the search ends where two steps in a row agree less.
/// Not a template: it is called from dozens of places, which would compile it again.
inline BestDifference best_difference(const std::function<std::vector<double>(double)>& f) {
  static constexpr double weight[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
  const auto apart = [&](double t) {
    std::vector<double> a = f(t);
    const std::vector<double> b = f(-t);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
    return a;
  };
  constexpr double first = 1.6e-2;
  constexpr int patience = 2;
  BestDifference best;
  std::vector<double> last;
  int since = 0;
  // f(t) - f(-t) at one to four steps. Steps halve: two and four are one and two of those before.
  std::vector<double> at[4];
  at[0] = apart(2 * first), at[1] = apart(4 * first);
  for (double h = first; h > 6e-5 && since < patience; h *= 0.5) {
    at[3] = std::move(at[1]), at[1] = std::move(at[0]);
    at[0] = apart(h), at[2] = apart(3 * h);
    std::vector<double> now(at[0].size(), 0.0);
    for (int k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < now.size(); ++i) now[i] += weight[k] * at[k][i] / h;
    }
    double change = 0.0;
    for (std::size_t i = 0; i < last.size(); ++i) {
      change = std::max(change, std::abs(now[i] - last[i]));
    }
    if (last.empty()) {
      best.derivative = now;
    } else if (change <= best.uncertainty) {
      best = {now, change}, since = 0;
    } else {
      ++since;
    }
    last = std::move(now);
  }
  return best;
}

}  // namespace espalier
