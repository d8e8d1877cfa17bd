#pragma once

#include "espalier/kernel/problems/derivatives/derivative_results.hpp"

namespace espalier {

/// Derivatives of the links' twists and accelerations, and the rate of their Jacobians.
template <class T>
class ESPALIER_API KinematicsDerivatives : public AlgorithmAt<T>, public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "kinematics-derivatives";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// All of the last evaluate(), of the components that Kinematics::velocity() and acceleration()
  /// have: link frame, angular rows first, each 6 x nv, row-major.
  struct Of {
    T* J;       ///< of velocity by v, and of acceleration by vdot
    T* J_rate;  ///< derivative of J by time
    T* v_by_q;  ///< of velocity by q
    T* a_by_q;  ///< of acceleration by q
    T* a_by_v;  ///< of acceleration by v
  };
  /// Differentiates the motion of all bodies; write() speaks of the last call.
  /// @param q     spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v     independent rates, size nv [rad/s, m/s]
  /// @param vdot  accelerations, size nv [rad/s², m/s²]
  /// @throws SizeMismatch
  void evaluate(In<T> q, In<T> v, In<T> vdot) {
    const Model& m = model();
    expect_size("kinematics derivatives", "q", q.size(), m.nq());
    expect_size("kinematics derivatives", "v", v.size(), m.nv());
    expect_size("kinematics derivatives", "vdot", vdot.size(), m.nv());
    this->expect_closed_in_debug(problem, q.data());
    compute(q.data(), v.data(), vdot.data());
  }
  ESPALIER_CALLS_AT_STATES
  /// Derivatives of a link's motion at the last evaluate().
  /// @param link     of this model
  /// @param[out] of  five matrices of 6 * nv numbers
  virtual void write(const Link& link, const Of& of) const = 0;

 protected:
  /// Of each link one result: 30 x nv, the five matrices one below the other.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* vdot) = 0;
};

// One copy of the interface, in the kernel.
#define ESPALIER_EXTERN(T) extern template class KinematicsDerivatives<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
