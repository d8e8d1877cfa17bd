#include <mujoco/mujoco.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "peer.hpp"

/// MuJoCo: floating root x y z, qw qx qy qz; twists linear first, the linear part in world axes.

namespace {

/// Its reader turns inertias onto principal axes and stops within 1e-6 rad of them: entries of
/// general inertias change by some 1e-7, accelerations by 2e-7 on our chains. Robots with diagonal
/// inertias agree to 1e-12, so it is not our mapping.
constexpr double inertias_as_read = 1e-6;

class Mujoco {
 public:
  explicit Mujoco(const espalier_peer_robot& robot) : model_(read(robot)) {
    model_->opt.disableflags |= mjDSBL_CONSTRAINT | mjDSBL_CONTACT | mjDSBL_PASSIVE |
                                mjDSBL_ACTUATION | mjDSBL_SENSOR | mjDSBL_WARMSTART;
    data_.reset(mj_makeData(model_.get()));
    coordinates_.root = peers::Coordinates::Root::linear_first_world;
    coordinates_.floating = robot.floating;
    for (int j = 0; j < robot.joint_count; ++j) {
      const int index = mj_name2id(model_.get(), mjOBJ_JOINT, robot.joints[j]);
      if (index < 0) throw std::runtime_error(std::string("no joint '") + robot.joints[j] + "'");
      coordinates_.joint.push_back(model_->jnt_dofadr[index]);
      position_.push_back(model_->jnt_qposadr[index]);
    }
    if (coordinates_.nv() != model_->nv) throw std::runtime_error("degrees of freedom differ");
  }

  void set(int k, const double* q, const double* v, const double* tau, const double* vdot) {
    given_[k] = {{q, q + coordinates_.nq()}, {v, v + coordinates_.nv()}};
    q_[k].assign(model_->nq, 0.0);
    if (coordinates_.floating) {
      std::copy(q, q + 3, q_[k].begin());
      q_[k][3] = q[6];
      std::copy(q + 3, q + 6, q_[k].begin() + 4);
    }
    for (std::size_t j = 0; j < position_.size(); ++j) {
      q_[k][position_[j]] = q[coordinates_.position(static_cast<int>(j))];
    }
    v_[k] = coordinates_.rates(q, v);
    tau_[k] = coordinates_.forces(q, tau);
    vdot_[k] = coordinates_.accelerations(q, v, vdot);
  }

  void forward(int k) {
    std::copy(q_[k].begin(), q_[k].end(), data_->qpos);
    std::copy(v_[k].begin(), v_[k].end(), data_->qvel);
    std::copy(tau_[k].begin(), tau_[k].end(), data_->qfrc_applied);
    mj_forward(model_.get(), data_.get());
  }
  void inverse(int k) {
    std::copy(q_[k].begin(), q_[k].end(), data_->qpos);
    std::copy(v_[k].begin(), v_[k].end(), data_->qvel);
    std::copy(vdot_[k].begin(), vdot_[k].end(), data_->qacc);
    mj_inverse(model_.get(), data_.get());
  }
  void mass_matrix(int k) {
    std::copy(q_[k].begin(), q_[k].end(), data_->qpos);
    mj_kinematics(model_.get(), data_.get());
    mj_comPos(model_.get(), data_.get());
    mj_crb(model_.get(), data_.get());
  }

  void read_forward(int k, double* vdot) const {
    coordinates_.accelerations_from(given_[k].q.data(), given_[k].v.data(), data_->qacc, vdot);
  }
  void read_inverse(int k, double* tau) const {
    coordinates_.forces_from(given_[k].q.data(), data_->qfrc_inverse, tau);
  }
  void read_mass_matrix(int k, double* M) const {
    const int n = model_->nv;
    peers::Vector full(static_cast<std::size_t>(n) * n);
    mj_fullM(model_.get(), full.data(), data_->qM);
    coordinates_.mass_matrix_from(
        given_[k].q.data(), [&](int r, int c) { return full[r * n + c]; }, M);
  }

 private:
  struct Delete {
    void operator()(mjModel* m) const { mj_deleteModel(m); }
    void operator()(mjData* d) const { mj_deleteData(d); }
  };
  using Model = std::unique_ptr<mjModel, Delete>;

  /// Its reader welds the root link to the ground: for a floating root it needs a world link.
  static Model read(const espalier_peer_robot& robot) {
    std::string urdf = robot.urdf;
    if (robot.floating) {
      const std::size_t end = urdf.rfind("</robot>");
      if (end == std::string::npos) throw std::runtime_error("no </robot> in the file");
      urdf.insert(end, std::string("<link name=\"espalier_world\"/>"
                                   "<joint name=\"espalier_root\" type=\"floating\">"
                                   "<parent link=\"espalier_world\"/><child link=\"") +
                           robot.root + "\"/></joint>");
    }
    const auto files = std::make_unique<mjVFS>();
    mj_defaultVFS(files.get());
    mj_makeEmptyFileVFS(files.get(), "robot.urdf", static_cast<int>(urdf.size()));
    std::memcpy(files->filedata[0], urdf.data(), urdf.size());
    char message[500] = "";
    Model model(mj_loadXML("robot.urdf", files.get(), message, sizeof message));
    mj_deleteVFS(files.get());
    if (!model) throw std::runtime_error(message);
    return model;
  }

  Model model_;
  std::unique_ptr<mjData, Delete> data_;
  peers::Coordinates coordinates_;
  std::vector<int> position_;
  std::array<peers::Given, espalier_peer_state_count> given_;
  std::array<peers::Vector, espalier_peer_state_count> q_, v_, tau_, vdot_;
};

}  // namespace

ESPALIER_PEER(Mujoco, "MuJoCo " ESPALIER_PEER_VERSION, "mj_forward", "mj_inverse", "mj_crb",
              "mj_forward and mj_inverse do more: centres of mass, the mass matrix and its factor, "
              "stages of constraints (none here), actuators and sensors; mj_crb is timed with the "
              "kinematics that it needs",
              inertias_as_read)
