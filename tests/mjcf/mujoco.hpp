#pragma once

#include <gtest/gtest.h>
#include <mujoco/mujoco.h>

#include <Eigen/Dense>
#include <memory>
#include <string>

#include "espalier/espalier.hpp"

/// MuJoCo as an oracle: the same state in its coordinates, its answers in Espalier's.

namespace espalier::test {

class Mujoco {
 public:
  explicit Mujoco(const std::string& file) {
    char message[1000] = "";
    model_.reset(mj_loadXML(file.c_str(), nullptr, message, sizeof message));
    if (model_ == nullptr) throw std::runtime_error(message);
    // Contacts and limits are not asked for.
    model_->opt.disableflags |= mjDSBL_CONTACT | mjDSBL_LIMIT;
    data_.reset(mj_makeData(model_.get()));
  }

  mjModel& model() { return *model_; }
  mjData& data() { return *data_; }

  /// A state of Espalier, joint by joint by name.
  void set(const Model& robot, const double* q, const double* qd) {
    A_ = Eigen::MatrixXd::Zero(model_->nv, robot.spanning_nv());
    rate_ = Eigen::VectorXd::Zero(model_->nv);
    for (const Joint& joint : robot.joints()) {
      const int id = mj_name2id(model_.get(), mjOBJ_JOINT, joint.name.c_str());
      if (id < 0) throw std::runtime_error("MuJoCo has no joint " + joint.name);
      double* at = data_->qpos + model_->jnt_qposadr[id];
      const int v = model_->jnt_dofadr[id];
      const double *from = q + joint.q, *rate = qd + joint.v;
      const auto quaternion = [](const double* xyzw, double* wxyz) {
        wxyz[0] = xyzw[3], wxyz[1] = xyzw[0], wxyz[2] = xyzw[1], wxyz[3] = xyzw[2];
      };
      switch (model_->jnt_type[id]) {
        case mjJNT_FREE: {
          std::copy(from, from + 3, at);
          quaternion(from + 3, at + 3);
          // MuJoCo's linear rates are of the world, Espalier's of the body.
          const Mat3<double> E = quaternion_to_E(from + 3);
          const Vec3<double> w{rate[0], rate[1], rate[2]}, u{rate[3], rate[4], rate[5]};
          const Vec3<double> turning = transpose_times(E, cross(w, u));
          for (int i = 0; i < 3; ++i) {
            A_(v + 3 + i, joint.v + i) = 1.0;
            rate_[v + i] = turning[i];
            for (int k = 0; k < 3; ++k) A_(v + i, joint.v + 3 + k) = E(k, i);
          }
          break;
        }
        case mjJNT_BALL:
          quaternion(from, at);
          A_.block(v, joint.v, 3, 3).setIdentity();
          break;
        default:
          *at = *from;
          A_(v, joint.v) = 1.0;
      }
    }
    Eigen::Map<Eigen::VectorXd>(data_->qvel, model_->nv) =
        A_ * Eigen::Map<const Eigen::VectorXd>(qd, robot.spanning_nv());
    mj_forward(model_.get(), data_.get());
  }

  Eigen::MatrixXd mass_matrix() const {
    Eigen::Matrix<double, -1, -1, Eigen::RowMajor> M(model_->nv, model_->nv);
    mj_fullM(model_.get(), M.data(), data_->qM);
    return A_.transpose() * M * A_;
  }
  /// Forces that keep the rates constant in Espalier's coordinates.
  Eigen::VectorXd bias() const {
    Eigen::Matrix<double, -1, -1, Eigen::RowMajor> M(model_->nv, model_->nv);
    mj_fullM(model_.get(), M.data(), data_->qM);
    return A_.transpose() * (vector(data_->qfrc_bias) + M * rate_);
  }
  Eigen::VectorXd passive() const { return A_.transpose() * vector(data_->qfrc_passive); }
  Eigen::VectorXd vector(const double* x) const {
    return Eigen::Map<const Eigen::VectorXd>(x, model_->nv);
  }

 private:
  struct Delete {
    void operator()(mjModel* m) const { mj_deleteModel(m); }
    void operator()(mjData* d) const { mj_deleteData(d); }
  };
  std::unique_ptr<mjModel, Delete> model_;
  std::unique_ptr<mjData, Delete> data_;
  Eigen::MatrixXd A_;     ///< MuJoCo's rates of Espalier's
  Eigen::VectorXd rate_;  ///< dA/dt times Espalier's rates
};

}  // namespace espalier::test
