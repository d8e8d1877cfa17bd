#pragma once

#include "espalier/kernel/problems/algorithm.hpp"

namespace espalier {

/// vdot of a robot under given forces.
template <class T>
class ESPALIER_API ForwardDynamics : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "forward-dynamics";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes generalized accelerations.
  /// @param q          spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v          independent rates, size nv [rad/s, m/s]
  /// @param tau        generalized forces, size nv [N·m, N]
  /// @param[out] vdot  accelerations, size nv: derivatives of v's components [rad/s², m/s²]; the
  ///                   array of v or tau may take them
  /// @param wrenches   external wrenches on bodies, or nullptr
  /// @throws SizeMismatch; at double SingularMechanism where some motion has no inertia or a loop
  ///         is at a dead point (in lanes of packs: NaN). Inputs that are not finite give NaN
  [[gnu::always_inline]] void evaluate(In<T> q, In<T> v, In<T> tau, Out<T> vdot,
                                       const Wrenches<T>* wrenches = nullptr) {
    expect_size("forward dynamics", "q", q.size(), this->nq());
    expect_size("forward dynamics", "v", v.size(), this->nv());
    expect_size("forward dynamics", "tau", tau.size(), this->nv());
    expect_size("forward dynamics", "vdot", vdot.size(), this->nv());
    detail::expect_wrenches("forward dynamics", wrenches, model());
    const T doubt = this->expect_inertia(problem, q.data());
    compute(q.data(), v.data(), tau.data(), vdot.data(), wrenches);
    this->expect_answer(problem, wrenches, vdot, doubt, q, v, tau);
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  /// solve() at this scalar: named inputs in, named results out.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* tau, T* vdot,
                       const Wrenches<T>* wrenches) = 0;
};

#define ESPALIER_EXTERN(T) extern template class ForwardDynamics<T>;  // one copy, in the kernel
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
