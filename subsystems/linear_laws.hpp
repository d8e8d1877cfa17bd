#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// A polynomial: q - at[1] = sum of coefficients[k] (y - at[0])^k.
///
/// `coefficients`: from the constant one on, at most 8. `at`: the positions of both joints that the
/// polynomial is written about, default zero. Positions (y, q).
/// Source: equality constraints between joints of MuJoCo's MJCF.
class Polynomial {
 public:
  static constexpr int independent = 1, dependent = 1;
  static constexpr std::array<std::string_view, 2> parameters{"coefficients", "at"};
  static constexpr std::size_t most = 8;
  static Parameters sample() {
    return {{"coefficients", {0.1, 0.8, -0.3, 0.2}}, {"at", {0.1, 0.2}}};
  }

  explicit Polynomial(const PartSpec& spec) {
    const auto given = spec.parameters.find("coefficients");
    if (given == spec.parameters.end() || given->second.size() > most) {
      spec.refuse("coefficients", given == spec.parameters.end() ? "missing" : "too long",
                  "1 to 8 numbers");
    }
    std::copy(given->second.begin(), given->second.end(), a_.begin());
    const auto at = spec.numbers("at", 2, std::vector<double>{0.0, 0.0});
    y0_ = at[0], q0_ = at[1];
  }

  template <class T>
  void gamma(const T* y, T* q) const {
    const T x = y[0] - y0_;
    T sum = x * 0.0 + a_[most - 1];
    for (std::size_t k = most - 1; k-- > 0;) sum = sum * x + a_[k];
    q[0] = sum + q0_;
  }

 private:
  std::array<double, most> a_{};
  double y0_ = 0.0, q0_ = 0.0;
};

/// A sum of joint positions: weights · q = sum.
///
/// `weights`: one number other than zero for each joint. `sum`: default zero.
/// Source: fixed tendons of MuJoCo's MJCF; gear trains with several members (Willis, 1841).
template <int n>
class WeightedSum {
 public:
  static constexpr int positions = n, equations = 1;
  static constexpr std::array<std::string_view, 2> parameters{"weights", "sum"};
  static Parameters sample() {
    Parameters sample{{"weights", {}}, {"sum", {0.1}}};
    for (int i = 0; i < n; ++i) sample["weights"].push_back(i % 2 == 0 ? 1.0 + i : -0.5 * i);
    return sample;
  }

  explicit WeightedSum(const PartSpec& spec) : sum_(spec.number("sum", 0.0)) {
    const auto weights = spec.numbers("weights", n);
    for (int i = 0; i < n; ++i) {
      if (weights[i] == 0.0) spec.refuse("weights", 0.0, "numbers other than zero");
      weights_[i] = weights[i];
    }
  }

  template <class T>
  void phi(const T* q, T* phi) const {
    phi[0] = weights_[0] * q[0] - sum_;
    for (int i = 1; i < n; ++i) phi[0] = phi[0] + weights_[i] * q[i];
  }
  template <class T>
  void K(const T* /*q*/, T* K) const {
    for (int i = 0; i < n; ++i) K[i] = T(weights_[i]);
  }
  template <class T>
  void k(const T* /*q*/, const T* /*qd*/, T* k) const {
    k[0] = T(0.0);
  }
  static constexpr int branches = 1;
  bool solve(double* q, int /*branch*/) const {
    double rest = sum_;
    for (int i = 0; i + 1 < n; ++i) rest -= weights_[i] * q[i];
    q[n - 1] = rest / weights_[n - 1];
    return true;
  }

 private:
  std::array<double, n> weights_{};
  double sum_;
};

}  // namespace espalier
