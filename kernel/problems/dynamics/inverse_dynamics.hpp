#pragma once

#include "espalier/kernel/problems/algorithm.hpp"

namespace espalier {

/// Forces that give a robot wanted accelerations.
template <class T>
class ESPALIER_API InverseDynamics : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "inverse-dynamics";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes generalized forces for wanted accelerations.
  /// @param q  spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v  independent rates, size nv [rad/s, m/s]
  /// @param vdot  accelerations, size nv: derivatives of v's components [rad/s², m/s²]
  /// @param[out] tau  generalized forces, size nv [N·m, N]; the array of v or vdot may take them
  /// @param wrenches  external wrenches on bodies, or nullptr
  /// @throws SizeMismatch; at double SingularMechanism where a loop is at a dead point. Inputs
  ///         that are not finite give NaN
  [[gnu::always_inline]] void evaluate(In<T> q, In<T> v, In<T> vdot, Out<T> tau,
                                       const Wrenches<T>* wrenches = nullptr) {
    expect_size("inverse dynamics", "q", q.size(), this->nq());
    expect_size("inverse dynamics", "v", v.size(), this->nv());
    expect_size("inverse dynamics", "vdot", vdot.size(), this->nv());
    expect_size("inverse dynamics", "tau", tau.size(), this->nv());
    detail::expect_wrenches("inverse dynamics", wrenches, model());
    this->expect_closed_in_debug(problem, q.data());
    compute(q.data(), v.data(), vdot.data(), tau.data(), wrenches);
    // Nothing else is divided by.
    if (this->has_loops()) {
      this->expect_answer(problem, wrenches, tau, T(0.0), q, v, vdot);
    }
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  /// solve() at this scalar: named inputs in, named results out.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* vdot, T* tau,
                       const Wrenches<T>* wrenches) = 0;
};

#define ESPALIER_EXTERN(T) extern template class InverseDynamics<T>;  // one copy, in the kernel
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
