#pragma once

#include <Eigen/Dense>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/problems/algorithm.hpp"

namespace espalier::torture {

/// How large the terms are whose sum is M vdot + C in one state: the equations of Newton and Euler
/// body by body with lengths in place of vectors and without a minus sign. Rounding is a share of
/// these terms, not of what is left where they cancel: of a link of 1e20 kg on its joint's axis, of
/// a joint that is 1e9 m from its link, of a product of inertia beside which the moments are
/// nothing.
class TermSizes {
 public:
  TermSizes(const Model& model, const double* q, const double* v);

  /// Per independent rate [N·m or N].
  /// @param vdot      independent accelerations
  /// @param wrenches  external ones, or nullptr
  Eigen::VectorXd forces(const Eigen::VectorXd& vdot, const Wrenches<double>* wrenches) const;
  /// The same for M alone: column j is that of a unit acceleration of j.
  Eigen::MatrixXd inertia() const;

 private:
  Eigen::VectorXd sum(const Eigen::VectorXd& qd, const Eigen::VectorXd& qdd, double gravity,
                      const Wrenches<double>* wrenches) const;
  void add_equations(int body, const Eigen::VectorXd& qdd, const Eigen::ArrayXd& turning,
                     const Eigen::ArrayXd& moving, Eigen::VectorXd& tau, double& moment,
                     double& force) const;

  const Model& model_;
  std::vector<double> q_;
  SpanningMotion<double> motion_;
  Eigen::MatrixXd G_;  ///< absolute values
  Eigen::VectorXd qd_, g_;
};

}  // namespace espalier::torture
