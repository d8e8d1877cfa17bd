#include <Eigen/Cholesky>
#include <Eigen/SparseCore>
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <pinocchio/algorithm/constrained-dynamics-derivatives.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include "loop_peer.hpp"
#include "pinocchio_lcaba.hpp"

/// Pinocchio's ways to forward dynamics of robots with loops, and to its derivatives; since 4.0
/// also lcaba, which iterates. One source for modules of either version.

namespace {

using Rotation = Eigen::Matrix<double, 3, 3, Eigen::RowMajor>;
using State = std::array<Eigen::VectorXd, espalier_peer_state_count>;

class Robot {
 public:
  explicit Robot(const espalier_loop_robot& robot)
      : floating_(robot.floating != 0), vdot_(Eigen::VectorXd::Zero(robot.nv)) {
    model_.gravity.linear() = Eigen::Map<const Eigen::Vector3d>(robot.gravity);
    joint_.assign(robot.body_count, 0);
    for (int i = 0; i < robot.body_count; ++i) {
      if (robot.bodies[i].parent < 0) add(robot, i);
    }
    data_ = std::make_unique<pinocchio::Data>(model_);
    zero_.setZero(model_.nv);
    // Espalier's order: bodies in turn, a floating root angular first. Pinocchio's: depth first and
    // linear first.
    for (int i = 0; i < robot.body_count; ++i) {
      const int q = model_.idx_qs[joint_[i]], v = model_.idx_vs[joint_[i]];
      for (int k = 0; k < model_.nqs[joint_[i]]; ++k) position_.push_back(q + k);
      const bool root = model_.nvs[joint_[i]] == 6;
      for (int k = 0; k < model_.nvs[joint_[i]]; ++k) rate_.push_back(v + (root ? (k + 3) % 6 : k));
    }
    for (int i = 0; i < robot.nv; ++i) independent_.push_back(rate_[robot.independent[i]]);
    if (robot.G != nullptr) {
      std::vector<Eigen::Triplet<double>> entries;
      for (int r = 0; r < model_.nv; ++r) {
        for (int c = 0; c < robot.nv; ++c) {
          const double value = robot.G[r * robot.nv + c];
          if (value != 0.0) entries.emplace_back(rate_[r], c, value);
        }
      }
      G_.resize(model_.nv, robot.nv);
      G_.setFromTriplets(entries.begin(), entries.end());
      H_.setZero(model_.nv, model_.nv), HG_.setZero(model_.nv, robot.nv);
      M_.setZero(robot.nv, robot.nv);
      factor_ = Eigen::LLT<Eigen::MatrixXd>(robot.nv);
      ways_.push_back({"crba, G^T H G, dense LLT", &Robot::projection});
    }
    if (robot.pin_count > 0) {
      for (int p = 0; p < robot.pin_count; ++p) {
        const espalier_loop_pin& pin = robot.pins[p];
        pinocchio::SE3 frame[2];
        for (int s = 0; s < 2; ++s) {
          frame[s] = pinocchio::SE3(Eigen::Matrix3d::Identity(),
                                    Eigen::Map<const Eigen::Vector3d>(pin.point[s]));
        }
        // The first of its joints may not be the universe.
        const int first = pin.body[0] < 0 ? 1 : 0, second = 1 - first;
        contacts_.emplace_back(pinocchio::CONTACT_3D, model_, joint(pin.body[first]), frame[first],
                               joint(pin.body[second]), frame[second], pinocchio::LOCAL);
      }
      for (const auto& contact : contacts_) contact_data_.emplace_back(contact);
      Lcaba::start_contact_dynamics(model_, *data_, contacts_, contact_data_);
      ways_.push_back({"constraintDynamics, CONTACT_3D", &Robot::contact_dynamics});
      ways_.push_back({"computeConstraintDynamicsDerivatives, CONTACT_3D", &Robot::derivatives});
      if (Lcaba::exists) {
        lcaba_.emplace(model_, contacts_);
        ways_.push_back({"lcaba, one iteration", &Robot::lcaba_once});
        ways_.push_back({"lcaba, converged", &Robot::lcaba_converged});
      }
    }
    if (ways_.empty()) throw std::runtime_error("neither a constant G nor pins are given");
  }

  void set(int k, const double* q, const double* v, const double* tau) {
    q_[k].setZero(model_.nq), v_[k].setZero(model_.nv), spanning_tau_[k].setZero(model_.nv);
    for (int i = 0; i < model_.nq; ++i) q_[k][position_[i]] = q[i];
    for (int i = 0; i < model_.nv; ++i) v_[k][rate_[i]] = v[i];
    tau_[k] = Eigen::Map<const Eigen::VectorXd>(tau, vdot_.size());
    for (std::size_t i = 0; i < independent_.size(); ++i) {
      spanning_tau_[k][independent_[i]] = tau[i];
    }
  }
  void run(int way, int k) { (this->*ways_[way].second)(k); }
  bool iterates(int way) const {
    const auto run = ways_[way].second;
    return run == &Robot::lcaba_once || run == &Robot::lcaba_converged;
  }
  bool is_derivatives(int way) const { return ways_[way].second == &Robot::derivatives; }
  void read(int way, double* out) const {
    if (is_derivatives(way)) {
      for (const int i : independent_) {
        for (const int j : independent_) *out++ = data_->ddq_dtau(i, j);
      }
    } else {
      std::copy(vdot_.begin(), vdot_.end(), out);
    }
  }
  int way_count() const { return static_cast<int>(ways_.size()); }
  const char* way(int i) const { return ways_[i].first; }

 private:
  /// Of a body; -1: the ground.
  pinocchio::JointIndex joint(int body) const { return body < 0 ? 0 : joint_[body]; }
  /// What carries a body of the spanning tree.
  pinocchio::JointModel joint_model(const espalier_loop_body& b, bool root) const {
    if (root) return pinocchio::JointModelFreeFlyer();
    switch (b.joint) {
      case espalier_loop_revolute:
        return pinocchio::JointModelRZ();
      case espalier_loop_prismatic:
        return pinocchio::JointModelPZ();
      case espalier_loop_universal:
        return pinocchio::JointModelUniversal(Eigen::Vector3d::UnitX(), Eigen::Vector3d::UnitZ());
      case espalier_loop_spherical:
        return pinocchio::JointModelSpherical();
    }
    throw std::runtime_error("a joint is of a kind that Pinocchio is not given");
  }
  /// Depth first: Pinocchio takes the rates of a subtree to be consecutive.
  void add(const espalier_loop_robot& robot, int i) {
    const espalier_loop_body& b = robot.bodies[i];
    const pinocchio::SE3 placement(Eigen::Map<const Rotation>(b.rotation),
                                   Eigen::Map<const Eigen::Vector3d>(b.offset));
    const pinocchio::JointIndex parent = b.parent < 0 ? 0 : joint_[b.parent];
    const std::string name = std::to_string(i);
    joint_[i] = model_.addJoint(parent, joint_model(b, floating_ && i == 0), placement, name);
    const pinocchio::Inertia inertia(b.mass, Eigen::Map<const Eigen::Vector3d>(b.com),
                                     Eigen::Map<const Rotation>(b.inertia));
    model_.appendBodyToJoint(joint_[i], inertia, pinocchio::SE3::Identity());
    for (int child = i + 1; child < robot.body_count; ++child) {
      if (robot.bodies[child].parent == i) add(robot, child);
    }
  }
  /// (G^T H G) vdot = tau - G^T C, with G constant.
  void projection(int k) {
    pinocchio::crba(model_, *data_, q_[k]);
    pinocchio::rnea(model_, *data_, q_[k], v_[k], zero_);
    H_ = data_->M.selfadjointView<Eigen::Upper>();
    HG_.noalias() = H_ * G_;
    M_.noalias() = G_.transpose() * HG_;
    factor_.compute(M_);
    vdot_ = tau_[k];
    vdot_.noalias() -= G_.transpose() * data_->tau;
    factor_.solveInPlace(vdot_);
  }
  /// Planar loops leave one of a pin's three rows empty: the proximal solver's regularization.
  void contact_dynamics(int k) {
    pinocchio::ProximalSettings settings(1e-12, 1e-12, 1);
    keep(pinocchio::constraintDynamics(model_, *data_, q_[k], v_[k], spanning_tau_[k], contacts_,
                                       contact_data_, settings));
  }
  /// Its penalty alone, without a correction.
  void lcaba_once(int k) { lcaba(k, 1); }
  /// Corrected until the constraints' accelerations are met or it gets no nearer.
  void lcaba_converged(int k) { lcaba(k, 20); }
  void lcaba(int k, int iterations) {
    keep(lcaba_->accelerations(q_[k], v_[k], spanning_tau_[k], iterations));
  }
  /// The independent ones of the spanning accelerations.
  template <class Accelerations>
  void keep(const Accelerations& vdot) {
    for (std::size_t i = 0; i < independent_.size(); ++i) {
      vdot_[static_cast<int>(i)] = vdot[independent_[i]];
    }
  }

  /// They need the dynamics at the same state.
  void derivatives(int k) {
    contact_dynamics(k);
    pinocchio::computeConstraintDynamicsDerivatives(model_, *data_, contacts_, contact_data_,
                                                    pinocchio::ProximalSettings(1e-12, 1e-12, 1));
  }

  bool floating_;
  std::vector<pinocchio::JointIndex> joint_;        ///< of every body
  std::vector<int> position_, rate_, independent_;  ///< where Espalier's are in Pinocchio's
  pinocchio::Model model_;
  std::unique_ptr<pinocchio::Data> data_;
  std::vector<std::pair<const char*, void (Robot::*)(int)>> ways_;
  Eigen::SparseMatrix<double> G_;
  Eigen::MatrixXd H_, HG_, M_;
  Eigen::LLT<Eigen::MatrixXd> factor_;
  Contacts contacts_;
  ContactData contact_data_;
  std::optional<Lcaba> lcaba_;
  Eigen::VectorXd zero_, vdot_;
  State q_, v_, tau_, spanning_tau_;
};

}  // namespace

const espalier_loop_peer* espalier_loop_peer_table(void) {
  static const espalier_loop_peer table =
      peers::loop_peer_table<Robot>("Pinocchio " PINOCCHIO_VERSION);
  return &table;
}
