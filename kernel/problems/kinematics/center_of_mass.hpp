#pragma once

#include "espalier/kernel/problems/algorithm.hpp"
#include "espalier/kernel/scalar/scalar.hpp"

namespace espalier {

/// Centre of mass of all that moves, and its motion, world axes.
template <class T>
class ESPALIER_API CenterOfMass : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "center-of-mass";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// World axes.
  struct Answer {
    Vec3<T> position;      ///< [m]
    Vec3<T> velocity;      ///< [m/s]
    Vec3<T> acceleration;  ///< without gravity [m/s²]
  };
  /// Computes the centre of mass and its motion.
  /// @param q  spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v  independent rates, size nv [rad/s, m/s]
  /// @param vdot  accelerations, size nv: derivatives of v's components [rad/s², m/s²]
  /// @returns position, velocity and acceleration in world axes
  /// @throws SizeMismatch
  Answer evaluate(In<T> q, In<T> v, In<T> vdot) {
    const Model& m = model();
    expect_size("center of mass", "q", q.size(), m.nq());
    expect_size("center of mass", "v", v.size(), m.nv());
    expect_size("center of mass", "vdot", vdot.size(), m.nv());
    this->expect_closed_in_debug(problem, q.data());
    return compute(q.data(), v.data(), vdot.data());
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  /// solve() at this scalar: named inputs in, named results out.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual Answer compute(const T* q, const T* v, const T* vdot) = 0;
};

#define ESPALIER_EXTERN(T) extern template class CenterOfMass<T>;  // one copy, in the kernel
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
