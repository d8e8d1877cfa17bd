#include "algorithms/input_matrix/contact_points.hpp"

#include <gtest/gtest.h>

#include "tests/support/random_robot.hpp"

// Columns of point contacts are velocities of the points, written x, y, z of one after the other;
// rows that are not unit forces along x, y and z at one point are left to the general way.

namespace espalier::test::contact_points_test {
namespace {

using Rows = std::vector<ActingColumns::Row>;

/// Unit forces at `arm` from `point`, of so many points, side by side from column 5 on.
Rows rows_of(const std::vector<Vec3<double>>& arms, const Vec3<double>& point) {
  Rows rows;
  for (const Vec3<double>& arm : arms) {
    for (int i = 0; i < 3; ++i) {
      Vec3<double> unit = Vec3<double>::zero();
      unit[i] = 1.0;
      const int column = 5 + static_cast<int>(rows.size());
      rows.push_back({column, {cross(arm, unit), unit}, point});
    }
  }
  return rows;
}
std::vector<Vec3<double>> some_points(Rng& rng, int count) {
  std::vector<Vec3<double>> points;
  for (int k = 0; k < count; ++k) points.push_back(rng.vec3(0.3));
  return points;
}

template <class T>
class ContactPointsTest : public testing::Test {};
using Scalars = testing::Types<double, Pack, FloatPack>;
TYPED_TEST_SUITE(ContactPointsTest, Scalars);

double first_lane(double x) { return x; }
template <class P>
double first_lane(const P& x) {
  return x[0];
}

TYPED_TEST(ContactPointsTest, ColumnsAreVelocitiesOfThePoints) {
  using T = TypeParam;
  using Points = ContactPoints<T>;
  Rng rng(3);
  const std::vector<Vec3<double>> arms = some_points(rng, Points::lanes);
  const Rows rows = rows_of(arms, {0, 0, 0});
  const auto points = Points::at(rows, 0);
  ASSERT_TRUE(points.has_value());
  EXPECT_EQ(points->column, 5);

  constexpr int count = 3, stride = 8, width = 5 + Points::columns + 2;
  std::vector<T> units(count * stride, T(0.0)), out(count * width, T(7.0));
  for (T& x : units) x = T(rng.uniform(-1, 1));
  points->combine(units.data(), stride, count, width, out.data());
  // Numbers are of order one, sums of three products: some units in the last place.
  const double tolerance = std::is_same_v<T, FloatPack> ? 1e-6 : 1e-15;
  for (int r = 0; r < count; ++r) {
    double m[6];
    for (int i = 0; i < 6; ++i) m[i] = first_lane(units[r * stride + i]);
    for (std::size_t k = 0; k < rows.size(); ++k) {
      double expected = 0.0;
      for (int i = 0; i < 6; ++i) expected += m[i] * rows[k].wrench[i];
      EXPECT_NEAR(first_lane(out[r * width + rows[k].column]), expected, tolerance);
    }
    for (const int beside : {0, 4, width - 2, width - 1}) {
      EXPECT_EQ(first_lane(out[r * width + beside]), 7.0);
    }
  }
}

TEST(ContactPointsAtTest, KeepsPlacesInLinkAxesForRowsInWorldAxes) {
  Rng rng(4);
  const Vec3<double> point = rng.vec3(0.3);
  const auto points = ContactPoints<double>::at(rows_of(some_points(rng, 4), point), 0);
  ASSERT_TRUE(points.has_value());
  for (int lane = 0; lane < 4; ++lane) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(points->point[i][lane], point[i]);
  }
}

TEST(ContactPointsAtTest, RefusesWhatIsNotUnitForcesSideBySide) {
  Rng rng(5);
  const Rows good = rows_of(some_points(rng, 4), {0, 0, 0});
  const auto is_refused = [&](auto&& change) {
    Rows rows = good;
    change(rows);
    return !ContactPoints<double>::at(rows, 0).has_value();
  };
  EXPECT_FALSE(is_refused([](Rows&) {}));
  EXPECT_TRUE(is_refused([](Rows& rows) { rows.pop_back(); }));
  EXPECT_TRUE(is_refused([](Rows& rows) { rows[7].column = 40; }));
  EXPECT_TRUE(is_refused([](Rows& rows) { rows[2].wrench.f.z = 0.5; }));
  EXPECT_TRUE(is_refused([](Rows& rows) { rows[4].wrench.n.y += 0.1; }));
  EXPECT_TRUE(is_refused([](Rows& rows) { std::swap(rows[0].wrench, rows[1].wrench); }));
  EXPECT_TRUE(is_refused([](Rows& rows) { rows[9].point.x = 0.1; }));
  EXPECT_FALSE(ContactPoints<double>::at(good, 0) && ContactPoints<double>::at(good, 3));
}

}  // namespace
}  // namespace espalier::test::contact_points_test
