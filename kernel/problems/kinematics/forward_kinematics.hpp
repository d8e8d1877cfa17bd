#pragma once

#include "espalier/kernel/problems/algorithm.hpp"

namespace espalier {

/// Where the links are and how they move.
template <class T>
class ESPALIER_API Kinematics : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "forward-kinematics";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Placements, velocities and spatial accelerations of all bodies; the accessors below speak of
  /// the last call. Gravity is not included.
  /// @param q  spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v  independent rates, size nv [rad/s, m/s]
  /// @param vdot  accelerations, size nv: derivatives of v's components [rad/s², m/s²]
  /// @throws SizeMismatch
  void evaluate(In<T> q, In<T> v, In<T> vdot) {
    const Model& m = model();
    expect_size("kinematics", "q", q.size(), m.nq());
    expect_size("kinematics", "v", v.size(), m.nv());
    expect_size("kinematics", "vdot", vdot.size(), m.nv());
    this->expect_closed_in_debug(problem, q.data());
    compute(q.data(), v.data(), vdot.data());
  }
  ESPALIER_CALLS_AT_STATES

  /// World to link frame: E takes world to link coordinates, r is the link's origin in the world.
  virtual Transform<T> placement(const Link& link) const = 0;
  /// Twist of the link, link frame, at its origin [rad/s, m/s].
  virtual Motion<T> velocity(const Link& link) const = 0;
  /// Spatial acceleration: derivative of the components of velocity() [rad/s², m/s²].
  virtual Motion<T> acceleration(const Link& link) const = 0;

 protected:
  /// Per link: x y z, qx qy qz qw, twist (6), spatial acceleration (6).
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* vdot) = 0;
};

#define ESPALIER_EXTERN(T) extern template class Kinematics<T>;  // one copy, in the kernel
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
