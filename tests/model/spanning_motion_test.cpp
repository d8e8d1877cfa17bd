#include "espalier/kernel/model/motion/spanning_motion.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/host.hpp"
#include "tests/support/random_robot.hpp"

namespace espalier::test::spanning_motion_test {
namespace {

/// An arm of a revolute, two prismatic and a revolute joint: three runs.
ModelPtr arm() {
  RobotOptions options;
  options.bodies = 4;
  options.shape = RobotOptions::Shape::chain;
  options.types = {"revolute"};
  Description robot = random_robot(host().registry(), options);
  for (const std::size_t k : {1, 2}) robot.joints[k].type = "prismatic";
  return host().compile(robot);
}

TEST(SpanningMotionTest, EvaluatesTheJointsThatAreNotLeftOut) {
  const ModelPtr model = arm();
  ASSERT_EQ(model->runs().size(), 3u);
  const std::vector<bool> clusters(model->clusters().size(), true);
  const std::vector<double> q{0.4, 0.3, -0.2, 1.1}, v{1.0, 2.0, 3.0, 4.0};
  const double mark = 77.0;
  for (const std::vector<bool>& left_out :
       {std::vector<bool>{false, false, false}, {true, false, true}, {true, true, true}}) {
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
