#include "espalier/kernel/model/closure.hpp"

#include <gtest/gtest.h>

#include "tests/support/four_bar.hpp"
#include "tests/support/host.hpp"

// Sizes of positions are checked before anything is read.

namespace espalier::test::checked_positions_test {
namespace {

TEST(PositionsTest, LoopsCloseFromVectorsOfTheRightSize) {
  const ModelPtr bar = host().compile(four_bar());
  const std::vector<double> start = neutral_position(*bar);
  std::vector<double> q = start;
  q[bar->joint("crank").q] += 0.3;
  EXPECT_EQ(close(*bar, start, q).verdict, Closure::Verdict::closed);
  EXPECT_NE(q[bar->joint("rocker").q], start[bar->joint("rocker").q]);
  EXPECT_LT(examine(*bar, q).residual, 1e-12);  // the closing's own tolerance
  q[bar->joint("rocker").q] += 1e-4;
  EXPECT_GT(examine(*bar, q).residual, 1e-6);
  EXPECT_EQ(project(*bar, q).verdict, Closure::Verdict::closed);
}

TEST(PositionsTest, OtherSizesAreRefusedByName) {
  const ModelPtr bar = host().compile(four_bar());
  std::vector<double> q = random_position(*bar, 1), shorter(q.size() - 1);
  EXPECT_THROW(close(*bar, shorter, q), SizeMismatch);
  EXPECT_THROW(close(*bar, q, shorter), SizeMismatch);
  EXPECT_THROW(project(*bar, shorter), SizeMismatch);
  EXPECT_THROW(assemble(*bar, shorter), SizeMismatch);
  EXPECT_THROW(examine(*bar, shorter), SizeMismatch);
}

}  // namespace
}  // namespace espalier::test::checked_positions_test
