#include "espalier/host/link_frames.hpp"

#include <gtest/gtest.h>

#include "tests/support/host.hpp"

// Velocities and Jacobians in each frame are derivatives of poses.

namespace espalier::test::link_frames_test {
namespace {

class LinkFramesTest : public ::testing::Test {
 protected:
  /// Six joints, none of them in a plane with the next.
  const ModelPtr robot_ = host().load(ESPALIER_SOURCE_DIR "/robots/ur5.urdf");
  LinkFrames frames_{host(), robot_};
  const std::vector<double> q_{0.3, -0.7, 1.1, 0.4, -0.9, 0.2}, v_{1, -2, 0.5, 0.3, -1.2, 0.8};
  const Eigen::Vector3d point_{0.1, -0.2, 0.3};

  Eigen::Isometry3d pose_after(double t) {
    std::vector<double> q = q_;
    for (std::size_t i = 0; i < q.size(); ++i) q[i] += t * v_[i];
    frames_.update(q, v_);
    return frames_.pose("flange");
  }
};

/// Central differences of a step of 1e-5 leave 1e-10 of velocities of a few units.
constexpr double difference = 1e-9;
constexpr double step = 1e-5;

TEST_F(LinkFramesTest, AlignedVelocityOfAPointIsTheDerivativeOfItsPosition) {
  const Eigen::Vector3d rate =
      (pose_after(step) * point_ - pose_after(-step) * point_) / (2 * step);
  frames_.update(q_, v_);
  const auto velocity = frames_.velocity("flange", Frame::local_world_aligned, point_);
  EXPECT_LT((velocity.linear - rate).norm(), difference);
}

TEST_F(LinkFramesTest, AngularVelocityIsTheDerivativeOfTheRotation) {
  const Eigen::Matrix3d dR = (pose_after(step).linear() - pose_after(-step).linear()) / (2 * step);
  frames_.update(q_, v_);
  const Eigen::Matrix3d W = dR * frames_.pose("flange").linear().transpose();
  const Eigen::Vector3d w(W(2, 1), W(0, 2), W(1, 0));
  EXPECT_LT((frames_.velocity("flange").angular - w).norm(), difference);
  EXPECT_LT((frames_.velocity("flange", Frame::world).angular - w).norm(), difference);
}

TEST_F(LinkFramesTest, BeforeTheFirstUpdateNothingIsToldOfLinks) {
  EXPECT_THROW(frames_.pose("flange"), Unsupported);
  EXPECT_THROW(frames_.velocity("flange"), Unsupported);
  EXPECT_THROW(frames_.jacobian("flange"), Unsupported);
  EXPECT_THROW(frames_.pose("flansch"), UnknownName);
  EXPECT_THROW(LinkFrames(host(), nullptr), InvalidModel);
}

TEST_F(LinkFramesTest, AStateIsTakenWhereItsLoopsAreClosed) {
  State state(robot_);
  state.q() = q_, state.v() = v_;
  frames_.update(state);
  const auto of_state = frames_.velocity("flange", Frame::local_world_aligned, point_).linear;
  frames_.update(q_, v_);
  EXPECT_EQ(of_state, frames_.velocity("flange", Frame::local_world_aligned, point_).linear);

  const ModelPtr tello = host().load(ESPALIER_SOURCE_DIR "/robots/tello.yaml");
  State turned(tello);
  LinkFrames frames(host(), tello);
  turned["left.hip.rotor1"] = 0.4;
  EXPECT_THROW(frames.update(turned), SingularMechanism);
  ASSERT_EQ(turned.close().verdict, Closure::Verdict::closed);
  frames.update(turned);
}

TEST_F(LinkFramesTest, LocalIsAlignedInTheLinksAxes) {
  frames_.update(q_, v_);
  const Eigen::Matrix3d R = frames_.pose("flange").linear();
  const auto local = frames_.velocity("flange", Frame::local, point_);
  const auto aligned = frames_.velocity("flange", Frame::local_world_aligned, point_);
  EXPECT_LT((R * local.linear - aligned.linear).norm(), 1e-14);  // a rotation rounds
  EXPECT_LT((R * local.angular - aligned.angular).norm(), 1e-14);
}

TEST_F(LinkFramesTest, WorldIsThePointOfTheLinkThatPassesTheOrigin) {
  frames_.update(q_, v_);
  const auto world = frames_.velocity("flange", Frame::world);
  const auto aligned = frames_.velocity("flange");
  const Eigen::Vector3d p = frames_.pose("flange").translation();
  EXPECT_LT((world.linear - (aligned.linear - aligned.angular.cross(p))).norm(), 1e-14);
}

TEST_F(LinkFramesTest, JacobianTimesRatesIsTheVelocityInEveryFrame) {
  frames_.update(q_, v_);
  const Eigen::Map<const Eigen::VectorXd> v(v_.data(), 6);
  for (const Frame frame : {Frame::local, Frame::local_world_aligned, Frame::world}) {
    const Eigen::Vector3d point = frame == Frame::world ? Eigen::Vector3d::Zero() : point_;
    const Eigen::Matrix<double, 6, 1> Jv = frames_.jacobian("flange", frame, point) * v;
    const auto velocity = frames_.velocity("flange", frame, point);
    EXPECT_LT((Jv.head<3>() - velocity.angular).norm(), 1e-13);  // sums of six products
    EXPECT_LT((Jv.tail<3>() - velocity.linear).norm(), 1e-13);
  }
}

TEST_F(LinkFramesTest, WrongLinksSizesAndPointsAreRefused) {
  EXPECT_THROW(frames_.pose("tool"), UnknownName);
  EXPECT_THROW(frames_.update(std::vector<double>(5), v_), SizeMismatch);
  frames_.update(q_, v_);
  EXPECT_THROW(frames_.velocity("flange", Frame::world, point_), Unsupported);
}

}  // namespace
}  // namespace espalier::test::link_frames_test
