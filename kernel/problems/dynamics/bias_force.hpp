#pragma once

#include "espalier/kernel/problems/algorithm.hpp"

namespace espalier {

/// Forces that hold a moving robot at vdot = 0: Coriolis, centrifugal, gravity, external.
template <class T>
class ESPALIER_API BiasForce : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "bias-force";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes the forces.
  /// @param q  spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v  independent rates, size nv [rad/s, m/s]
  /// @param[out] bias  generalized forces, size nv [N·m, N]
  /// @param wrenches  external wrenches on bodies, or nullptr
  /// @throws SizeMismatch; at double SingularMechanism where a loop is at a dead point. Inputs
  ///         that are not finite give NaN
  [[gnu::always_inline]] void evaluate(In<T> q, In<T> v, Out<T> bias,
                                       const Wrenches<T>* wrenches = nullptr) {
    expect_size("bias force", "q", q.size(), this->nq());
    expect_size("bias force", "v", v.size(), this->nv());
    expect_size("bias force", "bias", bias.size(), this->nv());
    detail::expect_wrenches("bias force", wrenches, model());
    this->expect_closed_in_debug(problem, q.data());
    compute(q.data(), v.data(), bias.data(), wrenches);
    // Nothing else is divided by.
    if (this->has_loops()) {
      this->expect_answer(problem, wrenches, bias, T(0.0), q, v);
    }
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  /// solve() at this scalar: named inputs in, named results out.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, T* bias, const Wrenches<T>* wrenches) = 0;
};

#define ESPALIER_EXTERN(T) extern template class BiasForce<T>;  // one copy, in the kernel
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
