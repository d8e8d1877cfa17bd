#include <dart/dynamics/BodyNode.hpp>
#include <dart/dynamics/FreeJoint.hpp>
#include <dart/dynamics/Inertia.hpp>
#include <dart/dynamics/Skeleton.hpp>
#include <dart/utils/urdf/DartLoader.hpp>

#include "peer.hpp"

/// DART: floating root by the logarithm of its rotation and its place; twists angular first, in the
/// body.

namespace {

class Dart {
 public:
  explicit Dart(const espalier_peer_robot& robot) {
    using Loader = dart::utils::DartLoader;
    // Links without inertial are massless, not of one kilogram.
    const dart::dynamics::Inertia massless(1e-300, Eigen::Vector3d::Zero(),
                                           1e-300 * Eigen::Matrix3d::Identity());
    Loader loader(Loader::Options(
        nullptr, robot.floating ? Loader::RootJointType::FLOATING : Loader::RootJointType::FIXED,
        massless));
    skeleton_ = loader.parseSkeletonString(robot.urdf, "");
    if (!skeleton_) throw std::runtime_error("the URDF reader refuses the robot");
    coordinates_.floating = robot.floating;
    for (int j = 0; j < robot.joint_count; ++j) {
      dart::dynamics::Joint* joint = skeleton_->getJoint(robot.joints[j]);
      if (!joint) throw std::runtime_error(std::string("no joint '") + robot.joints[j] + "'");
      // No passive forces, no limits, no followers: the robot as such.
      joint->setActuatorType(dart::dynamics::Joint::FORCE);
      joint->setLimitEnforcement(false);
      joint->setDampingCoefficient(0, 0.0);
      joint->setCoulombFriction(0, 0.0);
      joint->setSpringStiffness(0, 0.0);
      coordinates_.joint.push_back(static_cast<int>(joint->getIndexInSkeleton(0)));
    }
    if (coordinates_.nv() != static_cast<int>(skeleton_->getNumDofs())) {
      throw std::runtime_error("degrees of freedom differ");
    }
  }

  void set(int k, const double* q, const double* v, const double* tau, const double* vdot) {
    const int nv = coordinates_.nv();
    given_[k] = {{q, q + coordinates_.nq()}, {v, v + nv}};
    q_[k].setZero(nv);
    for (std::size_t j = 0; j < coordinates_.joint.size(); ++j) {
      q_[k][coordinates_.joint[j]] = q[coordinates_.position(static_cast<int>(j))];
    }
    if (coordinates_.floating) {
      Eigen::Isometry3d placement = Eigen::Isometry3d::Identity();
      placement.linear() = Eigen::Quaterniond(q[6], q[3], q[4], q[5]).toRotationMatrix();
      placement.translation() = Eigen::Vector3d(q[0], q[1], q[2]);
      q_[k].head<6>() = dart::dynamics::FreeJoint::convertToPositions(placement);
    }
    const auto copy = [nv](const peers::Vector& x) {
      return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(x.data(), nv));
    };
    v_[k] = copy(coordinates_.rates(q, v));
    tau_[k] = copy(coordinates_.forces(q, tau));
    vdot_[k] = copy(coordinates_.accelerations(q, v, vdot));
  }

  void forward(int k) {
    skeleton_->setPositions(q_[k]);
    skeleton_->setVelocities(v_[k]);
    skeleton_->setForces(tau_[k]);
    skeleton_->computeForwardDynamics();
  }
  void inverse(int k) {
    skeleton_->setPositions(q_[k]);
    skeleton_->setVelocities(v_[k]);
    skeleton_->setAccelerations(vdot_[k]);
    skeleton_->computeInverseDynamics();
  }
  void mass_matrix(int k) {
    skeleton_->setPositions(q_[k]);
    skeleton_->getMassMatrix();
  }

  void read_forward(int k, double* vdot) const {
    const Eigen::VectorXd result = skeleton_->getAccelerations();
    coordinates_.accelerations_from(given_[k].q.data(), given_[k].v.data(), result.data(), vdot);
  }
  void read_inverse(int k, double* tau) const {
    const Eigen::VectorXd result = skeleton_->getForces();
    coordinates_.forces_from(given_[k].q.data(), result.data(), tau);
  }
  void read_mass_matrix(int k, double* M) const {
    coordinates_.mass_matrix_from(given_[k].q.data(), skeleton_->getMassMatrix(), M);
  }

 private:
  dart::dynamics::SkeletonPtr skeleton_;
  peers::Coordinates coordinates_;
  std::array<peers::Given, espalier_peer_state_count> given_;
  std::array<Eigen::VectorXd, espalier_peer_state_count> q_, v_, tau_, vdot_;
};

}  // namespace

ESPALIER_PEER(Dart, "DART " DART_VERSION, "computeForwardDynamics", "computeInverseDynamics",
              "getMassMatrix", "calls include handing over the state", 1e-8)
