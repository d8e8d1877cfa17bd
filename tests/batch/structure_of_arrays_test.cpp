#include "espalier/kernel/scalar/structure_of_arrays.hpp"

#include <gtest/gtest.h>

#include <span>
#include <vector>

namespace espalier::structure_of_arrays_test {
namespace {

/// States one after the other in memory that ends with the last of them, so that AddressSanitizer
/// sees whoever reads further.
template <class P>
struct StructureOfArraysTest : testing::Test {
  static constexpr int packs = 3, states = packs * P::size;

  /// Number r of state k; floats have it exactly.
  static double number(int k, int r) { return 100.0 * k + r; }

  struct Packs {
    explicit Packs(int numbers) : memory(packs * numbers) {
      for (int k = 0; k < packs; ++k) at.push_back(memory.data() + k * numbers);
    }
    std::vector<P> memory;
    std::vector<P*> at;
  };
};

using PackTypes = testing::Types<Pack, FloatPack>;
TYPED_TEST_SUITE(StructureOfArraysTest, PackTypes);

TYPED_TEST(StructureOfArraysTest, StatesOfAnySizeComeIntoLanesAndBack) {
  using P = TypeParam;
  constexpr int states = TestFixture::states;
  for (int numbers = 1; numbers <= 20; ++numbers) {
    std::vector<double> given;
    for (int k = 0; k < states; ++k) {
      for (int r = 0; r < numbers; ++r) given.push_back(TestFixture::number(k, r));
    }
    given.shrink_to_fit();
    typename TestFixture::Packs to(numbers);
    detail::load_states<P>(given.data(), numbers, std::span<P* const>(to.at));
    for (int k = 0; k < states; ++k) {
      for (int r = 0; r < numbers; ++r) {
        EXPECT_EQ(to.at[k / P::size][r][k % P::size], TestFixture::number(k, r))
            << "number " << r << " of state " << k << " of " << numbers << " numbers";
      }
    }
    const std::vector<const P*> from(to.at.begin(), to.at.end());
    std::vector<double> got(given.size() + 8, -1.0);  // and what stands behind
    detail::store_states<P>(std::span<const P* const>(from), numbers, got.data());
    std::vector<double> wanted = given;
    wanted.resize(got.size(), -1.0);
    EXPECT_EQ(got, wanted) << numbers << " numbers";
  }
}

}  // namespace
}  // namespace espalier::structure_of_arrays_test
