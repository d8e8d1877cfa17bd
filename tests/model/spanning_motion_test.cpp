#include "espalier/kernel/model/motion/spanning_motion.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"

namespace espalier::test::spanning_motion_test {
namespace {

/// An arm of eight bodies on joints that turn or slide.
ModelPtr arm() {
  RobotOptions options;
  options.bodies = 8;
  options.shape = RobotOptions::Shape::chain;
  options.types = {"revolute", "prismatic"};
  return host().compile(random_robot(host().registry(), options));
}

TEST(SpanningMotionTest, EvaluatesTheJointsThatAreNotLeftOut) {
  const ModelPtr model = arm();
  const std::size_t runs = model->runs().size();
  ASSERT_GE(runs, 2u);
  const std::vector<bool> clusters(model->clusters().size(), true);
  const std::vector<double> q(model->nq(), 0.4), v(model->nv(), 1.0);
  std::vector<bool> all_but_one(runs, true);
  all_but_one[1] = false;
  const double mark = 77.0;
  for (const std::vector<bool>& left_out :
       {std::vector<bool>(runs, false), all_but_one, std::vector<bool>(runs, true)}) {
    SpanningMotion<double> motion(*model);
    motion.leave_out(left_out, clusters);
    for (Transform<double>& X : motion.joints.X) X.r.x = mark;
    motion.update(q.data(), v.data());
    EXPECT_EQ(motion.qd(), v.data());  // a tree's spanning rates are its own
    for (int i = 1; i <= model->body_count(); ++i) {
      EXPECT_EQ(motion.joints.X[i].r.x == mark, left_out[model->body(i).run]) << "body " << i;
    }
    motion.update(q.data(), nullptr);
    EXPECT_EQ(motion.qd(), nullptr);
  }
}

}  // namespace
}  // namespace espalier::test::spanning_motion_test
