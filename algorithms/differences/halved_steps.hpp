#pragma once

#include <utility>
#include <vector>

namespace espalier {

/// Derivatives of f(t), a vector, by t at 0: central differences of order eight at steps that
/// halve, from 1.6e-2 on. Which of them is best is the caller's choice.
/// @param visit  is called with the derivative at each step, the largest one first
template <class F, class Visit>
void differences_at_halved_steps(F&& f, Visit&& visit) {
  static constexpr double weight[4] = {4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280};
  const auto apart = [&](double t) {
    std::vector<double> a = f(t);
    const std::vector<double> b = f(-t);
    for (std::size_t i = 0; i < a.size(); ++i) a[i] -= b[i];
    return a;
  };
  constexpr double first = 1.6e-2;
  // f(t) - f(-t) at one to four steps. Steps halve: two and four are one and two of those before.
  std::vector<double> at[4];
  at[0] = apart(2 * first), at[1] = apart(4 * first);
  for (double h = first; h > 6e-5; h *= 0.5) {
    at[3] = std::move(at[1]), at[1] = std::move(at[0]);
    at[0] = apart(h), at[2] = apart(3 * h);
    std::vector<double> now(at[0].size(), 0.0);
    for (int k = 0; k < 4; ++k) {
      for (std::size_t i = 0; i < now.size(); ++i) now[i] += weight[k] * at[k][i] / h;
    }
    visit(std::move(now));
  }
}

}  // namespace espalier
