#pragma once

#include "espalier/kernel/problems/algorithm.hpp"

namespace espalier::test {

/// A problem that the kernel does not know: twice a vector.
template <class T>
class ESPALIER_API Doubling : public Algorithm {
 public:
  static constexpr std::string_view problem = "test-doubling";
  using Algorithm::Algorithm;

  virtual void evaluate(In<T> x, Out<T> twice) = 0;
  void solve(const InputViews& /*in*/, Results& /*out*/) override {}
};

}  // namespace espalier::test
