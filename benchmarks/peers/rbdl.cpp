#include <rbdl/addons/urdfreader/urdfreader.h>
#include <rbdl/rbdl.h>

#include "peer.hpp"

/// RBDL: floating root x y z and a quaternion whose w stands at the end of q; twists linear first,
/// the linear part in world axes.

namespace {

namespace rbd = RigidBodyDynamics;

class Rbdl {
 public:
  explicit Rbdl(const espalier_peer_robot& robot) {
    if (!rbd::Addons::URDFReadFromString(robot.urdf, &model_, robot.floating != 0)) {
      throw std::runtime_error("the URDF reader refuses the robot");
    }
    model_.gravity.set(0, 0, -9.81);
    coordinates_.root = peers::Coordinates::Root::linear_first_world;
    coordinates_.floating = robot.floating;
    root_ = model_.GetBodyId(robot.root);
    for (int j = 0; j < robot.joint_count; ++j) {
      const unsigned body = model_.GetBodyId(robot.links[j]);
      if (body >= model_.mJoints.size()) {  // unknown, or welded to another body
        throw std::runtime_error(std::string("link '") + robot.links[j] + "' does not move");
      }
      coordinates_.joint.push_back(static_cast<int>(model_.mJoints[body].q_index));
    }
    if (coordinates_.nv() != static_cast<int>(model_.qdot_size)) {
      throw std::runtime_error("degrees of freedom differ");
    }
    result_.setZero(model_.qdot_size);
    M_.setZero(model_.qdot_size, model_.qdot_size);
  }

  void set(int k, const double* q, const double* v, const double* tau, const double* vdot) {
    const int nv = coordinates_.nv();
    given_[k] = {{q, q + coordinates_.nq()}, {v, v + nv}};
    q_[k].setZero(model_.q_size);
    for (std::size_t j = 0; j < coordinates_.joint.size(); ++j) {
      q_[k][coordinates_.joint[j]] = q[coordinates_.position(static_cast<int>(j))];
    }
    if (coordinates_.floating) {
      std::copy(q, q + 3, q_[k].data());
      model_.SetQuaternion(root_, rbd::Math::Quaternion(q[3], q[4], q[5], q[6]), q_[k]);
    }
    const auto copy = [nv](const peers::Vector& x) {
      return rbd::Math::VectorNd(Eigen::Map<const Eigen::VectorXd>(x.data(), nv));
    };
    v_[k] = copy(coordinates_.rates(q, v));
    tau_[k] = copy(coordinates_.forces(q, tau));
    vdot_[k] = copy(coordinates_.accelerations(q, v, vdot));
  }

  void forward(int k) { rbd::ForwardDynamics(model_, q_[k], v_[k], tau_[k], result_); }
  void inverse(int k) { rbd::InverseDynamics(model_, q_[k], v_[k], vdot_[k], result_); }
  void mass_matrix(int k) { rbd::CompositeRigidBodyAlgorithm(model_, q_[k], M_); }

  void read_forward(int k, double* vdot) const {
    coordinates_.accelerations_from(given_[k].q.data(), given_[k].v.data(), result_.data(), vdot);
  }
  void read_inverse(int k, double* tau) const {
    coordinates_.forces_from(given_[k].q.data(), result_.data(), tau);
  }
  void read_mass_matrix(int k, double* M) const {
    coordinates_.mass_matrix_from(given_[k].q.data(), M_, M);
  }

 private:
  rbd::Model model_;
  unsigned root_ = 0;
  peers::Coordinates coordinates_;
  rbd::Math::VectorNd result_;
  rbd::Math::MatrixNd M_;
  std::array<peers::Given, espalier_peer_state_count> given_;
  std::array<rbd::Math::VectorNd, espalier_peer_state_count> q_, v_, tau_, vdot_;
};

}  // namespace

ESPALIER_PEER(Rbdl, "RBDL " ESPALIER_PEER_VERSION, "ForwardDynamics", "InverseDynamics",
              "CompositeRigidBodyAlgorithm", "", 1e-8)
