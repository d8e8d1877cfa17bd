#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/center-of-mass.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/contact-cholesky.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/delassus.hpp>
#include <pinocchio/algorithm/energy.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>
#include <pinocchio/parsers/urdf.hpp>

#include "peer.hpp"

/// Pinocchio: floating root x y z, qx qy qz qw; twists linear first, in the body.

namespace {

class Pinocchio {
 public:
  explicit Pinocchio(const espalier_peer_robot& robot) : model_(read(robot)), data_(model_) {
    coordinates_.root = peers::Coordinates::Root::linear_first_body;
    coordinates_.floating = robot.floating;
    for (int j = 0; j < robot.joint_count; ++j) {
      if (!model_.existJointName(robot.joints[j])) {
        throw std::runtime_error(std::string("joint '") + robot.joints[j] + "' is missing");
      }
      const pinocchio::JointIndex index = model_.getJointId(robot.joints[j]);
      coordinates_.joint.push_back(model_.idx_vs[index]);
      joints_.push_back(index);
      position_.push_back(model_.idx_qs[index]);
      unbounded_.push_back(model_.nqs[index] == 2);
    }
    if (coordinates_.nv() != model_.nv) throw std::runtime_error("degrees of freedom differ");
    for (int k = 0; k < robot.held_count; ++k) {
      if (!model_.existBodyName(robot.held[k])) {
        throw std::runtime_error(std::string("link '") + robot.held[k] + "' is missing");
      }
      const pinocchio::Frame& frame = model_.frames[model_.getBodyId(robot.held[k])];
      held_.emplace_back(pinocchio::CONTACT_6D, model_, frame.parentJoint, frame.placement,
                         pinocchio::LOCAL);
      held_data_.emplace_back(held_.back());
    }
    const int m = 6 * robot.held_count;
    osim_.setZero(m, m);
    jacobian_.setZero(6, model_.nv);
    pinocchio::initConstraintDynamics(model_, data_, held_);
    pinocchio::initPvDelassus(model_, data_, held_);
    cholesky_.allocate(model_, held_);
  }

  void set(int k, const double* q, const double* v, const double* tau, const double* vdot) {
    const int nv = coordinates_.nv();
    given_[k] = {{q, q + coordinates_.nq()}, {v, v + nv}};
    q_[k].setZero(model_.nq);
    if (coordinates_.floating) std::copy(q, q + 7, q_[k].data());
    for (std::size_t j = 0; j < position_.size(); ++j) {
      const double angle = q[coordinates_.position(static_cast<int>(j))];
      if (unbounded_[j]) {  // a continuous joint: cosine and sine
        q_[k][position_[j]] = std::cos(angle);
        q_[k][position_[j] + 1] = std::sin(angle);
      } else {
        q_[k][position_[j]] = angle;
      }
    }
    const auto copy = [nv](const peers::Vector& x) {
      return Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(x.data(), nv));
    };
    v_[k] = copy(coordinates_.rates(q, v));
    tau_[k] = copy(coordinates_.forces(q, tau));
    vdot_[k] = copy(coordinates_.accelerations(q, v, vdot));
  }

  void forward(int k) { pinocchio::aba(model_, data_, q_[k], v_[k], tau_[k]); }
  void inverse(int k) { pinocchio::rnea(model_, data_, q_[k], v_[k], vdot_[k]); }
  void mass_matrix(int k) { pinocchio::crba(model_, data_, q_[k]); }

  void jacobian(int k) {
    jacobian_.setZero();
    pinocchio::computeJointJacobian(model_, data_, q_[k], joints_.back(), jacobian_);
  }
  void jacobians(int k) {
    pinocchio::computeJointJacobians(model_, data_, q_[k]);
    for (const pinocchio::JointIndex joint : joints_) {
      jacobian_.setZero();
      pinocchio::getJointJacobian(model_, data_, joint, pinocchio::LOCAL, jacobian_);
    }
  }
  void placements(int k) { pinocchio::forwardKinematics(model_, data_, q_[k]); }

  void bias_forces(int k) { pinocchio::nonLinearEffects(model_, data_, q_[k], v_[k]); }
  void center_of_mass(int k) {
    pinocchio::centerOfMass(model_, data_, q_[k], v_[k], vdot_[k], false);
  }
  void energy(int k) { pinocchio::computeMechanicalEnergy(model_, data_, q_[k], v_[k]); }
  void read_bias_forces(int k, double* out) const {
    coordinates_.forces_from(given_[k].q.data(), data_.nle.data(), out);
  }
  void read_center_of_mass(double* out) const {
    for (const auto* x : {&data_.com[0], &data_.vcom[0], &data_.acom[0]}) {
      out = std::copy(x->data(), x->data() + 3, out);
    }
  }
  void read_energy(double* out) const {
    out[0] = data_.kinetic_energy, out[1] = data_.potential_energy;
  }

  void inverse_derivatives(int k) {
    pinocchio::computeRNEADerivatives(model_, data_, q_[k], v_[k], vdot_[k]);
  }
  void forward_derivatives(int k) {
    pinocchio::computeABADerivatives(model_, data_, q_[k], v_[k], tau_[k]);
  }
  void inverse_mass_matrix(int k) { pinocchio::computeMinverse(model_, data_, q_[k]); }
  void read_inverse_derivatives(double* out) const {
    out = write_matrix(data_.dtau_dq, out);
    out = write_matrix(data_.dtau_dv, out);
    write_matrix(Eigen::MatrixXd(data_.M.selfadjointView<Eigen::Upper>()), out);
  }
  void read_forward_derivatives(double* out) const {
    out = write_matrix(data_.ddq_dq, out);
    out = write_matrix(data_.ddq_dv, out);
    write_matrix(Eigen::MatrixXd(data_.Minv.selfadjointView<Eigen::Upper>()), out);
  }
  void read_inverse_mass_matrix(double* out) const {
    write_matrix(Eigen::MatrixXd(data_.Minv.selfadjointView<Eigen::Upper>()), out);
  }

  /// The states in turn, each in a column of its own, as are the results.
  void forward_batch() {
    lay_out();
    for (int i = 0; i < espalier_peer_batch_size; ++i) {
      many_out_.col(i) =
          pinocchio::aba(model_, data_, many_q_.col(i), many_v_.col(i), many_tau_.col(i));
    }
  }
  void inverse_batch() {
    lay_out();
    for (int i = 0; i < espalier_peer_batch_size; ++i) {
      many_out_.col(i) =
          pinocchio::rnea(model_, data_, many_q_.col(i), many_v_.col(i), many_vdot_.col(i));
    }
  }

  /// 0: EFPA; 1: PV-OSIMr; 2: sparse Cholesky factor. Upper triangles.
  template <int way>
  void inverse_osim(int k) {
    if constexpr (way == 0) {
      pinocchio::computeDelassusMatrix(model_, data_, q_[k], held_, held_data_, osim_, 0.0);
    } else if constexpr (way == 1) {
      pinocchio::computePvDelassusMatrix(model_, data_, q_[k], held_, held_data_, osim_, 0.0);
    } else {
      pinocchio::crba(model_, data_, q_[k], pinocchio::Convention::WORLD);  // places contacts, too
      cholesky_.compute(model_, data_, held_, held_data_, 1e-12);           // rows may be dependent
      cholesky_.getInverseOperationalSpaceInertiaMatrix(osim_);
    }
  }
  template <int way>
  void read_inverse_osim(double* out) const {
    const Eigen::MatrixXd theirs = osim_.selfadjointView<Eigen::Upper>();
    const auto ours = [](int i) { return i / 6 * 6 + (i + 3) % 6; };  // linear first there
    const int m = static_cast<int>(osim_.rows());
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < m; ++j) out[i * m + j] = theirs(ours(i), ours(j));
    }
  }

  void read_jacobian(int k, double* J) {
    jacobian(k);
    write_jacobian(J);
  }
  void read_jacobians(int k, double* J) {
    pinocchio::computeJointJacobians(model_, data_, q_[k]);
    for (const pinocchio::JointIndex joint : joints_) {
      jacobian_.setZero();
      pinocchio::getJointJacobian(model_, data_, joint, pinocchio::LOCAL, jacobian_);
      write_jacobian(J);
      J += jacobian_.size();
    }
  }
  void read_placements(int, double* out) const {
    for (const pinocchio::JointIndex joint : joints_) {
      const pinocchio::SE3& M = data_.oMi[joint];
      for (int i = 0; i < 3; ++i) *out++ = M.translation()[i];
      for (int i = 0; i < 9; ++i) *out++ = M.rotation()(i / 3, i % 3);
    }
  }

  void read_forward(int k, double* vdot) const {
    coordinates_.accelerations_from(given_[k].q.data(), given_[k].v.data(), data_.ddq.data(), vdot);
  }
  void read_inverse(int k, double* tau) const {
    coordinates_.forces_from(given_[k].q.data(), data_.tau.data(), tau);
  }
  void read_forward_batch(int k, double* vdot) const {
    coordinates_.accelerations_from(given_[k].q.data(), given_[k].v.data(), many_out_.col(k).data(),
                                    vdot);
  }
  void read_inverse_batch(int k, double* tau) const {
    coordinates_.forces_from(given_[k].q.data(), many_out_.col(k).data(), tau);
  }
  void read_mass_matrix(int k, double* M) const {
    const Eigen::MatrixXd full = data_.M.selfadjointView<Eigen::Upper>();
    coordinates_.mass_matrix_from(given_[k].q.data(), full, M);
  }

 private:
  static pinocchio::Model read(const espalier_peer_robot& robot) {
    pinocchio::Model model;
    if (robot.floating) {
      pinocchio::urdf::buildModelFromXML(robot.urdf, pinocchio::JointModelFreeFlyer(), model);
    } else {
      pinocchio::urdf::buildModelFromXML(robot.urdf, model);
    }
    return model;
  }

  /// In Espalier's order: angular first, of rows and of the root's columns.
  void write_jacobian(double* J) const {
    const int nv = coordinates_.nv(), root = coordinates_.root_rates();
    for (int r = 0; r < 6; ++r) {
      for (int c = 0; c < nv; ++c) {
        const int theirs = c < root ? (c + 3) % 6 : coordinates_.joint[c - root];
        J[r * nv + c] = jacobian_((r + 3) % 6, theirs);
      }
    }
  }

  /// By rows in Espalier's order of rates; both sides' tangents are those of the body.
  template <class Matrix>
  double* write_matrix(const Matrix& theirs, double* out) const {
    const int nv = coordinates_.nv(), root = coordinates_.root_rates();
    const auto at = [&](int i) { return i < root ? (i + 3) % 6 : coordinates_.joint[i - root]; };
    for (int i = 0; i < nv; ++i) {
      for (int j = 0; j < nv; ++j) *out++ = theirs(at(i), at(j));
    }
    return out;
  }

  /// Lays out the batches' columns when they are first called.
  void lay_out() {
    if (many_q_.cols() == espalier_peer_batch_size) return;
    const auto repeated = [](const std::array<Eigen::VectorXd, espalier_peer_state_count>& x) {
      Eigen::MatrixXd all(x[0].size(), espalier_peer_batch_size);
      for (int i = 0; i < all.cols(); ++i) all.col(i) = x[i % espalier_peer_state_count];
      return all;
    };
    many_q_ = repeated(q_), many_v_ = repeated(v_);
    many_tau_ = repeated(tau_), many_vdot_ = repeated(vdot_);
    many_out_.setZero(model_.nv, espalier_peer_batch_size);
  }

  pinocchio::Model model_;
  pinocchio::Data data_;
  std::vector<pinocchio::RigidConstraintModel> held_;
  std::vector<pinocchio::RigidConstraintData> held_data_;
  pinocchio::ContactCholeskyDecomposition cholesky_;
  Eigen::MatrixXd osim_;
  pinocchio::Data::Matrix6x jacobian_;
  std::vector<pinocchio::JointIndex> joints_;
  peers::Coordinates coordinates_;
  std::vector<int> position_;
  std::vector<bool> unbounded_;
  std::array<peers::Given, espalier_peer_state_count> given_;
  std::array<Eigen::VectorXd, espalier_peer_state_count> q_, v_, tau_, vdot_;
  Eigen::MatrixXd many_q_, many_v_, many_tau_, many_vdot_, many_out_;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) const espalier_peer* espalier_peer_table(void);
const espalier_peer* espalier_peer_table(void) {
  static const espalier_peer table = [] {
    espalier_peer t = peers::table<Pinocchio>(
        "Pinocchio " PINOCCHIO_VERSION, {"aba", "rnea", "crba"},
        "continuous joints are given as cosine and sine, which saves it computing them", 1e-8);
    peers::add_inverse_osim<Pinocchio, 0>(t, "computeDelassusMatrix");
    peers::add_inverse_osim<Pinocchio, 1>(t, "computePvDelassusMatrix");
    peers::add_inverse_osim<Pinocchio, 2>(t, "crba, ContactCholeskyDecomposition");
    peers::add_kinematics<Pinocchio>(t, "computeJointJacobian", "getJointJacobian, local",
                                     "forwardKinematics");
    peers::add_derivatives<Pinocchio>(t, "computeRNEADerivatives", "computeABADerivatives",
                                      "computeMinverse");
    peers::add_one_body<Pinocchio>(t, "nonLinearEffects", "centerOfMass",
                                   "computeMechanicalEnergy");
    peers::add_batches<Pinocchio>(t, "aba, loop over 4096", "rnea, loop over 4096");
    return t;
  }();
  return &table;
}
