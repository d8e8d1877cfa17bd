// What the benchmarks say of a wanted ratio.

#include "benchmarks/suite/demand.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace espalier::bench::demand_test {
namespace {

TEST(DemandTest, IsMetIfEveryNumberIsAsWanted) {
  Demand d{.work = "ABA", .wanted = 3, .stretch = 4.5};
  d.add("humanoid", 3.0);
  d.add("atlas", 5.0);
  EXPECT_EQ(d.verdict(), "met");
  d.add("ur5", 2.99);
  EXPECT_EQ(d.verdict(), "missed");
}

TEST(DemandTest, IsStretchIfEveryNumberIsAsHoped) {
  Demand d{.work = "ABA", .wanted = 3, .stretch = 4.5};
  d.add("humanoid", 4.5);
  EXPECT_EQ(d.verdict(), "stretch");
  d.add("atlas", 4.4);
  EXPECT_EQ(d.verdict(), "met");
}

TEST(DemandTest, AtMostTurnsTheBoundAround) {
  Demand d{.work = "bytes", .at_most = true, .wanted = 2000};
  d.add("humanoid", 2000.0);
  EXPECT_EQ(d.verdict(), "met");
  d.add("tello", 2001.0);
  EXPECT_EQ(d.verdict(), "missed");
}

TEST(DemandTest, WhatWasNotMeasuredIsNeitherMetNorMissed) {
  Demand d{.work = "float", .wanted = 20};
  EXPECT_EQ(d.verdict(), "not measured");
  d.add("humanoid", std::nan(""));  // one of two times is missing
  EXPECT_EQ(d.verdict(), "not measured");
}

}  // namespace
}  // namespace espalier::bench::demand_test
