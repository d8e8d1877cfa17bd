#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "espalier/kernel/model/closure.hpp"
#include "tests/support/big_clusters.hpp"
#include "tests/support/host.hpp"

/// Ways along which independent joints of large clusters cannot go to the end.

namespace espalier::test::closure_folds_test {
namespace {

/// A start and a step of all independent rates whose end is out of reach.
struct Way {
  std::vector<double> start, step;
  Closure closure;
};

/// The position a part of the way on, closed from the start.
Closure closed(const Model& model, const Way& way, double part, std::vector<double>& q) {
  std::vector<double> step = way.step;
  for (double& x : step) x *= part;
  q.resize(model.nq());
  model.integrate(way.start.data(), step.data(), q.data());
  return close(model, way.start.data(), q.data());
}

std::vector<Way> ways_that_end(const Model& model, int states, double size) {
  std::vector<Way> out;
  for (int k = 1; k <= states; ++k) {
    Way way;
    way.start = big_cluster_state(model, k).q;
    way.step.assign(model.spanning_nv(), 0.0);
    Rng rng(k);
    for (const int rate : model.independent_rates()) way.step[rate] = size * rng.uniform();
    std::vector<double> q;
    way.closure = closed(model, way, 1.0, q);
    if (way.closure.verdict == Closure::Verdict::out_of_reach) out.push_back(way);
  }
  return out;
}

/// Of the clusters with loops, as better_independents() names them.
std::vector<std::string> independent_names(const Model& model) {
  std::vector<std::string> names;
  for (const Cluster& c : model.clusters()) {
    for (int i = c.v; c.constraint != nullptr && i < c.v + c.nv; ++i) {
      const int rate = model.independent_rates()[i];
      const Joint& joint = model.joint_of_rate(rate);
      const std::string component = "[" + std::to_string(rate - joint.v) + "]";
      names.push_back(joint.nv == 1 ? joint.name : joint.name + component);
    }
  }
  return names;
}

/// Near a fold the branch and its mirror image beyond it meet, as two roots of a quadratic equation
/// do: the margin falls as the square root of what is left of the way. A solver that gives up too
/// early leaves a margin that does not vanish.
void expect_folds(const Description& robot, int states, double size) {
  SCOPED_TRACE(robot.name);
  const ModelPtr model = host().compile(robot);
  const std::vector<Way> ways = ways_that_end(*model, states, size);
  EXPECT_FALSE(ways.empty());
  for (const Way& way : ways) {
    const double end = way.closure.reached;
    ASSERT_GT(end, 0.0);
    std::vector<double> q, constant;
    for (const double left : {1e-3, 1e-4, 1e-5}) {
      const Closure here = closed(*model, way, end * (1.0 - left), q);
      ASSERT_EQ(here.verdict, Closure::Verdict::closed) << left;
      constant.push_back(here.margin * here.margin / left);
    }
    const auto [least, most] = std::minmax_element(constant.begin(), constant.end());
    EXPECT_LT(*most, 1.2 * *least);  // what comes next is of the order of the square root
    // Beyond, by as little as that, it is out of reach as well.
    EXPECT_EQ(closed(*model, way, end * (1.0 + 1e-4), q).verdict, Closure::Verdict::out_of_reach);
    // The mechanism itself is regular there: other joints determine all positions.
    const std::vector<std::string> better = better_independents(*model, q.data());
    const std::vector<std::string> present = independent_names(*model);
    EXPECT_EQ(better.size(), present.size());
    EXPECT_NE(std::set(better.begin(), better.end()), std::set(present.begin(), present.end()));
  }
}

TEST(ClosureFoldsTest, RandomLoopsEndAtFolds) { expect_folds(random_loops(60, 6, 5), 40, 0.02); }
TEST(ClosureFoldsTest, NetsEndAtFolds) { expect_folds(net(6, 6), 8, 0.1); }

}  // namespace
}  // namespace espalier::test::closure_folds_test
