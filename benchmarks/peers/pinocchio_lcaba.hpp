#pragma once

#include <Eigen/Core>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>
#include <stdexcept>

/// What Pinocchio 4 has and 3 has not: lcaba, forward dynamics with loops that iterates. Under both
/// the same class, which says whether it is there.

using Contacts = PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pinocchio::RigidConstraintModel);
using ContactData = PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pinocchio::RigidConstraintData);

#if __has_include(<pinocchio/algorithm/loop-constrained-aba.hpp>)
#include <pinocchio/algorithm/loop-constrained-aba.hpp>

class Lcaba {
 public:
  static constexpr bool exists = true;

  /// Its data are eliminated in an order of their own.
  Lcaba(const pinocchio::Model& model, const Contacts& contacts)
      : model_(model), contacts_(contacts), data_(model) {
    pinocchio::computeJointMinimalOrdering(model_, data_, contacts_);
    for (const auto& contact : contacts_) contact_data_.emplace_back(contact);
  }
  /// 1e-6 is the penalty that its documentation calls typical.
  const Eigen::VectorXd& accelerations(const Eigen::VectorXd& q, const Eigen::VectorXd& v,
                                       const Eigen::VectorXd& tau, int iterations) {
    pinocchio::ProximalSettings settings(1e-9, 1e-6, iterations);
    return pinocchio::lcaba(model_, data_, q, v, tau, contacts_, contact_data_, settings);
  }
  /// What constraintDynamics() needs beforehand, which takes the contacts' data here alone.
  static void start_contact_dynamics(const pinocchio::Model& model, pinocchio::Data& data,
                                     const Contacts& contacts, ContactData& contact_data) {
    pinocchio::initConstraintDynamics(model, data, contacts, contact_data);
  }

 private:
  const pinocchio::Model& model_;
  const Contacts& contacts_;
  pinocchio::Data data_;
  ContactData contact_data_;
};

#else

class Lcaba {
 public:
  static constexpr bool exists = false;

  Lcaba(const pinocchio::Model&, const Contacts&) {}
  const Eigen::VectorXd& accelerations(const Eigen::VectorXd&, const Eigen::VectorXd&,
                                       const Eigen::VectorXd&, int) {
    throw std::logic_error("lcaba: version of Pinocchio is " PINOCCHIO_VERSION ", expected 4");
  }
  static void start_contact_dynamics(const pinocchio::Model& model, pinocchio::Data& data,
                                     const Contacts& contacts, ContactData&) {
    pinocchio::initConstraintDynamics(model, data, contacts);
  }
};

#endif
