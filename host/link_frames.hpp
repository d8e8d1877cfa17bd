#pragma once

#include <Eigen/Geometry>
#include <memory>
#include <string_view>

#include "espalier/host/host.hpp"
#include "espalier/kernel/model/state.hpp"
#include "espalier/kernel/problems/kinematics/forward_kinematics.hpp"
#include "espalier/kernel/problems/kinematics/jacobian.hpp"

/// Where links are and how they move, in the frame and at the point that a program works with.

namespace espalier {

/// What a link's velocity and Jacobian are told in.
enum class Frame {
  local,                ///< axes of the link, about a point of it: the algorithms' own
  local_world_aligned,  ///< axes of the world, about a point of the link
  world                 ///< axes of the world, about the world's origin
};

/// Angular velocity above the velocity of a point [rad/s, m/s].
struct AngularLinearVelocity {
  Eigen::Vector3d angular;  ///< of the link [rad/s]
  Eigen::Vector3d linear;   ///< of the point [m/s]
};

/// 6 x nv: rows 0 to 2 are the angular velocity, rows 3 to 5 that of a point.
using AngularLinearJacobian = Eigen::Matrix<double, 6, Eigen::Dynamic, Eigen::RowMajor>;

/// Links of one model at one state; belongs to one thread.
class ESPALIER_API LinkFrames {
 public:
  /// By the algorithms "forward-kinematics" and "body-jacobians".
  /// @throws InvalidModel if the model is null
  LinkFrames(const Host& host, ModelPtr model);

  /// Places all links; what follows speaks of the last call.
  /// @param q  spanning positions, size nq
  /// @param v  independent rates, size nv
  /// @throws SizeMismatch
  void update(In<double> q, In<double> v);
  /// The same at a state of the model. @throws SingularMechanism where its loops are open
  void update(const State& state);

  /// Link to world: rotation and the link's origin [m].
  /// @throws UnknownName listing the links; Unsupported before the first update(), as the following
  Eigen::Isometry3d pose(std::string_view link) const {
    double R[9], p[3];
    write_pose(link, R, p);
    Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
    pose.linear() = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(R);
    pose.translation() = Eigen::Map<const Eigen::Vector3d>(p);
    return pose;
  }
  /// Velocity of a link.
  /// @param link   by its name
  /// @param frame  axes and reference
  /// @param point  of the link, in its axes, about which it is told [m]; Frame::world has none
  /// @throws UnknownName; Unsupported for a point with Frame::world
  AngularLinearVelocity velocity(std::string_view link, Frame frame = Frame::local_world_aligned,
                                 const Eigen::Vector3d& point = Eigen::Vector3d::Zero()) const {
    double twist[6];
    write_velocity(link, frame, point.data(), twist);
    return {Eigen::Map<const Eigen::Vector3d>(twist), Eigen::Map<const Eigen::Vector3d>(twist + 3)};
  }
  /// J with J v = velocity() of the same arguments, which are those of velocity(). @throws likewise
  AngularLinearJacobian jacobian(std::string_view link, Frame frame = Frame::local_world_aligned,
                                 const Eigen::Vector3d& point = Eigen::Vector3d::Zero()) const {
    AngularLinearJacobian J(6, columns());
    write_jacobian(link, frame, point.data(), J.data());
    return J;
  }

 private:
  // Only numbers pass between the library and a program, whose Eigen may align otherwise.
  int columns() const;
  const Link& placed(std::string_view link) const;
  void write_pose(std::string_view link, double* R, double* p) const;
  void write_velocity(std::string_view link, Frame frame, const double* point, double* twist) const;
  void write_jacobian(std::string_view link, Frame frame, const double* point, double* J) const;

  ModelPtr model_;
  std::unique_ptr<Kinematics<double>> kinematics_;
  std::unique_ptr<BodyJacobians<double>> jacobians_;
  bool updated_ = false;
  std::vector<double> rest_;  ///< accelerations that nobody asks for
};

}  // namespace espalier
