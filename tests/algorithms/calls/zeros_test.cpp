#include "algorithms/linear_algebra/zeros.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "espalier/kernel/scalar/pack.hpp"

namespace espalier::test::zeros_test {
namespace {

template <class T>
void expect_zeros(int most) {
  for (int count = 0; count < most; ++count) {
    for (int first = 1; first <= 8; ++first) {  // at any address
      std::vector<T> x(count + 9, T(7.0));
      write_zeros(x.data() + first, count);
      for (int i = 0; i < count + 9; ++i) {
        const double number = [&] {
          if constexpr (is_pack<T>)
            return static_cast<double>(x[i][0]);
          else
            return x[i];
        }();
        EXPECT_EQ(number, i < first || i >= first + count ? 7.0 : 0.0) << i << " of " << count;
      }
    }
  }
}

TEST(ZerosTest, AsManyAreWrittenAsAreAskedFor) {
  expect_zeros<double>(150);
  expect_zeros<Pack>(5);
  expect_zeros<FloatPack>(5);
}

}  // namespace
}  // namespace espalier::test::zeros_test
