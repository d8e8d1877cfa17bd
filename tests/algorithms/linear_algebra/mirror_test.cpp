#include "algorithms/linear_algebra/mirror.hpp"

#include <gtest/gtest.h>

#include "tests/support/random.hpp"

// A triangle's mirror image, by blocks, against one entry after the other.

namespace espalier::test::mirror_test {
namespace {

/// Per row: from where on it is zero.
std::vector<int> random_ends(Rng& rng, int n) {
  std::vector<int> end;
  for (int i = 0; i < n; ++i) end.push_back(rng.chance(0.3) ? n : i + 1 + rng.below(n - i));
  return end;
}

TEST(MirrorTest, FourRowsAreTransposed) {
  const std::array<Quad, 4> columns =
      transposed({Quad(1, 2, 3, 4), Quad(5, 6, 7, 8), Quad(9, 10, 11, 12), Quad(13, 14, 15, 16)});
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) EXPECT_EQ(columns[i][j], 1.0 + i + 4 * j);
  }
}

TEST(MirrorTest, LowerTriangleBecomesTheUpperOne) {
  Rng rng(7);
  for (int n = 1; n <= 21; ++n) {
    for (int k = 0; k < 8; ++k) {
      const std::vector<int> end = random_ends(rng, n);
      const MirroredBlocks blocks(end);
      std::vector<double> M(n * n), expected(n * n, 0.0);
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) {
          double& x = M[i * n + j];
          x = j < i ? 1e300 : j < end[i] ? rng.uniform() : 0.0;  // below: what was there before
          if (j >= i) expected[i * n + j] = expected[j * n + i] = x;
        }
      }
      blocks.apply(M.data(), true);
      EXPECT_EQ(M, expected) << n;
    }
  }
}

TEST(MirrorTest, ZerosAreLeftOutWhereNobodyReadsThem) {
  Rng rng(8);
  for (int n = 1; n <= 21; ++n) {
    const std::vector<int> end = random_ends(rng, n);
    const std::vector<double> before = rng.vector(n * n);
    std::vector<double> M = before;
    MirroredBlocks(end).apply(M.data(), false);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < i; ++j) {
        if (i < end[j]) EXPECT_EQ(M[i * n + j], before[j * n + i]) << n << ", " << i << ", " << j;
      }
    }
  }
  std::vector<int> own;  // a diagonal matrix
  for (int i = 0; i < 8; ++i) own.push_back(i + 1);
  std::vector<double> M(64, 7.0), expected = M;
  MirroredBlocks(own).apply(M.data(), false);
  EXPECT_EQ(M, expected);
  MirroredBlocks(own).apply(M.data(), true);
  for (int i = 4; i < 8; ++i) std::fill_n(expected.begin() + 8 * i, 4, 0.0);
  EXPECT_EQ(M, expected);
}

}  // namespace
}  // namespace espalier::test::mirror_test
