#include "espalier/kernel/scalar/structure_of_arrays.hpp"

#include "espalier/kernel/model/packs/streamed_rows.hpp"

#include <gtest/gtest.h>

#include <cstdint>
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

TYPED_TEST(StructureOfArraysTest, StreamedRowsAreThoseThatAreStored) {
  using P = TypeParam;
  constexpr int rows = 5;
  constexpr long N = detail::streamed_from, before = P::size;
  typename TestFixture::Packs from(rows);
  for (int k = 0; k < 2; ++k) {
    for (int r = 0; r < rows; ++r) {
      for (int l = 0; l < P::size; ++l) {
        const double x = TestFixture::number(k * P::size + l, r);
        from.at[k][r].set(l, static_cast<typename P::Element>(x));
      }
    }
  }
  const std::vector<const P*> two(from.at.begin(), from.at.begin() + 2);
  std::vector<double> memory(rows * N + 8, -1.0), wanted(rows * N, -1.0);
  double* const got = memory.data() + (8 - reinterpret_cast<std::uintptr_t>(memory.data()) / 8 % 8);
  ASSERT_TRUE(detail::is_streamed(got + before, {1, N}, 2));
  detail::stream_rows<P>(std::span<const P* const>(two), rows, got + before, {1, N});
  detail::store_rows<P>(std::span<const P* const>(two), rows, wanted.data() + before, {1, N});
  EXPECT_EQ(std::vector<double>(got, got + rows * N), wanted);
}

TEST(StreamedRowsTest, OnlyTwoPacksOfWholeLinesInLargeArraysAreStreamed) {
  constexpr long N = detail::streamed_from;
  alignas(64) double line[16];
  EXPECT_TRUE(detail::is_streamed(line, {1, N}, 2));
  EXPECT_FALSE(detail::is_streamed(line + 2, {1, N}, 2)) << "they begin inside of a line";
  EXPECT_FALSE(detail::is_streamed(line, {1, N + 4}, 2)) << "the next row does";
  EXPECT_FALSE(detail::is_streamed(line, {1, N - 8}, 2)) << "small arrays are read soon";
  EXPECT_FALSE(detail::is_streamed(line, {1, N}, 1));
  EXPECT_FALSE(detail::is_streamed(line, {1, N}, 3));
  EXPECT_FALSE(detail::is_streamed(line, {N, 1}, 2)) << "states stand one after the other";
}

}  // namespace
}  // namespace espalier::structure_of_arrays_test
