#pragma once

#include <cmath>
#include <random>
#include <vector>

#include "espalier/kernel/spatial/transform.hpp"

namespace espalier::test {

/// Random numbers that are the same with every standard library.
class Rng {
 public:
  explicit Rng(unsigned long long seed) : generator_(seed) {}

  double uniform(double low = -1.0, double high = 1.0) {
    return low + (high - low) * (static_cast<double>(generator_() >> 11) * 0x1.0p-53);
  }
  /// From 0 to n - 1.
  int below(int n) { return static_cast<int>(generator_() % static_cast<unsigned>(n)); }
  bool chance(double p) { return uniform(0.0, 1.0) < p; }
  std::vector<double> vector(int n, double size = 1.0) {
    std::vector<double> v(n);
    for (double& x : v) x = uniform(-size, size);
    return v;
  }
  Vec3<double> vec3(double size = 1.0) {
    const double x = uniform(-size, size), y = uniform(-size, size);
    return {x, y, uniform(-size, size)};
  }
  Vec3<double> direction() {
    for (;;) {
      const Vec3<double> d = vec3();
      const double length = std::sqrt(dot(d, d));
      if (length > 0.1 && length < 1.0) return scale(1.0 / length, d);
    }
  }
  template <class Things>
  void shuffle(Things& things) {
    for (int i = static_cast<int>(things.size()) - 1; i > 0; --i) {
      std::swap(things[i], things[below(i + 1)]);
    }
  }

 private:
  std::mt19937_64 generator_;
};

}  // namespace espalier::test
