#include <mujoco/mujoco.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "benchmarks/contact/rollout.hpp"
#include "benchmarks/program.hpp"

namespace espalier::bench {

namespace {

class Mujoco final : public Rollout {
 public:
  Mujoco(const Host& host, const StandingRobot& robot, bool elliptic)
      : robot_(robot), elliptic_(elliptic) {
    if (robot.own) {
      load(robot.file);
    } else {
      const std::string file = (std::filesystem::temp_directory_path() /
                                ("espalier_bench_" + robot.model->name() + ".xml"))
                                   .string();
      save(file, mjcf_of(host, robot));
      load(file);
      std::filesystem::remove(file);
    }
    set_options();
    data_.reset(mj_makeData(model_.get()));
  }

  std::string name() const override {
    return std::string("MuJoCo ") + mj_versionString() + (elliptic_ ? ", elliptic" : ", pyramidal");
  }
  bool exact() const override { return false; }
  int robots() const override { return 1; }

  void start() override {
    mj_resetData(model_.get(), data_.get());
    for (const Joint& joint : robot_.model->joints()) {
      const int id = mj_name2id(model_.get(), mjOBJ_JOINT, joint.name.c_str());
      if (id < 0) throw std::runtime_error("MuJoCo has no joint " + joint.name);
      double* at = data_->qpos + model_->jnt_qposadr[id];
      const double* from = robot_.q.data() + joint.q;
      if (model_->jnt_type[id] == mjJNT_FREE) {
        std::copy(from, from + 3, at);
        at[3] = from[6], at[4] = from[3], at[5] = from[4], at[6] = from[5];
        root_ = model_->jnt_dofadr[id];
      } else {
        at[0] = from[0];
      }
    }
    for (Drive& drive : drives_) drive.target = data_->qpos[drive.position];
  }
  void step() override {
    for (const Drive& drive : drives_) {
      data_->qfrc_applied[drive.rate] = robot_.kp * (drive.target - data_->qpos[drive.position]);
    }
    mj_step(model_.get(), data_.get());
  }
  void kick(const Vec3<double>& change) override {
    for (int i = 0; i < 3; ++i) data_->qvel[root_ + i] += change[i];
  }
  Rest rest() override {
    Rest rest;
    mj_forward(model_.get(), data_.get());
    rest.height = data_->qpos[root_ + 2];
    for (int c = 0; c < data_->ncon; ++c) {
      const mjContact& contact = data_->contact[c];
      if (model_->geom_bodyid[contact.geom1] != 0 && model_->geom_bodyid[contact.geom2] != 0)
        continue;
      mjtNum force[6];
      mj_contactForce(model_.get(), data_.get(), c, force);
      rest.normal_force += force[0] / (9.81 * robot_.mass);
    }
    for (int row = 0; row < data_->nefc; ++row) {
      if (data_->efc_type[row] != mjCNSTR_EQUALITY) continue;
      rest.opening = std::max(rest.opening, std::abs(data_->efc_pos[row]));
    }
    return rest;
  }
  double unsolved() const override { return 0.0; }

 private:
  struct Drive {
    int position = 0, rate = 0;
    double target = 0.0;
  };

  void load(const std::string& file) {
    char message[1000] = "";
    model_.reset(mj_loadXML(file.c_str(), nullptr, message, sizeof message));
    if (model_ == nullptr) throw std::runtime_error(file + ": " + message);
  }
  void set_options() {
    mjModel& m = *model_;
    for (int g = 0; g < m.ngeom && robot_.own; ++g) {  // all of them rub, as they do here
      m.geom_condim[g] = 3, m.geom_friction[3 * g] = friction_on_ground;
    }
    m.opt.timestep = step_length;
    m.opt.cone = elliptic_ ? mjCONE_ELLIPTIC : mjCONE_PYRAMIDAL;
    if (!robot_.own) m.opt.disableflags |= mjDSBL_LIMIT;
    // Feet touch the ground alone, as they do here.
    for (int g = 0; g < m.ngeom && !robot_.own; ++g) {
      const bool ground = m.geom_type[g] == mjGEOM_PLANE;
      m.geom_contype[g] = ground ? 0 : 1, m.geom_conaffinity[g] = ground ? 1 : 0;
    }
    // A planar loop needs one point; the file has the second one of a hinge.
    const std::string second = " (2)";
    for (int e = 0; e < m.neq; ++e) {
      const char* given = mj_id2name(&m, mjOBJ_EQUALITY, e);
      const std::string name = given != nullptr ? given : "";
      const bool again = name.size() > second.size() &&
                         name.compare(name.size() - second.size(), second.size(), second) == 0;
      if (m.eq_type[e] != mjEQ_CONNECT) continue;
      if (again) m.eq_active[e] = 0;
      // As hard as it may be: softness is in proportion to the inverse inertia of what is tied, and
      // light rods give way until the robot lies on the ground.
      m.eq_solref[mjNREF * e] = 2.0 * step_length;
      m.eq_solimp[mjNIMP * e] = 0.99, m.eq_solimp[mjNIMP * e + 1] = 0.999;
    }
    // Damping is implicit in MuJoCo's Euler step, too.
    for (const std::string& joint : robot_.drives) {
      const int id = mj_name2id(&m, mjOBJ_JOINT, joint.c_str());
      if (id < 0) throw std::runtime_error("MuJoCo has no joint " + joint);
      drives_.push_back({m.jnt_qposadr[id], m.jnt_dofadr[id], 0.0});
      m.dof_damping[m.jnt_dofadr[id]] += robot_.kd;
    }
  }

  const StandingRobot& robot_;
  bool elliptic_;
  std::unique_ptr<mjModel, void (*)(mjModel*)> model_{nullptr, mj_deleteModel};
  std::unique_ptr<mjData, void (*)(mjData*)> data_{nullptr, mj_deleteData};
  std::vector<Drive> drives_;
  int root_ = 0;
};

}  // namespace

std::unique_ptr<Rollout> mujoco_rollout(const Host& host, const StandingRobot& robot,
                                        bool elliptic) {
  return std::make_unique<Mujoco>(host, robot, elliptic);
}

}  // namespace espalier::bench
