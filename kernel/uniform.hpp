#pragma once

#include <random>

namespace espalier {

/// Evenly spread random numbers, the same on every machine and with every standard library, which
/// std::uniform_real_distribution does not promise.
class UniformNumbers {
 public:
  explicit UniformNumbers(unsigned long long seed) : generator_(seed) {}

  /// low <= x < high.
  double between(double low, double high) {
    return low + (high - low) * (static_cast<double>(generator_() >> 11) * 0x1.0p-53);
  }
  /// -1 <= x < 1.
  double operator()() { return between(-1.0, 1.0); }

 private:
  std::mt19937_64 generator_;
};

}  // namespace espalier
