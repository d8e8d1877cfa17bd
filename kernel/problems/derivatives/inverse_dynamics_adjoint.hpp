#pragma once

#include "espalier/kernel/problems/derivatives/derivative_results.hpp"
#include "espalier/kernel/problems/loads.hpp"

namespace espalier {

/// Gradient of lambda^T tau(q, v, vdot), lambda held, in O(n).
template <class T>
class ESPALIER_API InverseDynamicsAdjoint : public AlgorithmAt<T>, public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "inverse-dynamics-adjoint";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes lambda^T dtau/dq, lambda^T dtau/dv and lambda^T M.
  /// @param q, v, vdot      as in InverseDynamics
  /// @param lambda          multipliers, size nv
  /// @param[out] by_q       gradient by q, size nv
  /// @param[out] by_v       gradient by v, size nv
  /// @param[out] by_vdot    gradient by vdot, size nv
  /// @param loads           what acts besides tau and gravity, or nullptr
  /// Frame: see problems/derivatives/derivatives.hpp.  Cost: O(n).
  /// @throws SizeMismatch; Unsupported for a wrench on a folded rotor
  void evaluate(In<T> q, In<T> v, In<T> vdot, In<T> lambda, Out<T> by_q, Out<T> by_v,
                Out<T> by_vdot, const Loads<T>* loads = nullptr) {
    const char* who = "inverse dynamics adjoint";
    const Model& m = model();
    expect_size(who, "q", q.size(), m.nq());
    expect_size(who, "v", v.size(), m.nv());
    expect_size(who, "vdot", vdot.size(), m.nv());
    expect_size(who, "lambda", lambda.size(), m.nv());
    expect_size(who, "by_q", by_q.size(), m.nv());
    expect_size(who, "by_v", by_v.size(), m.nv());
    expect_size(who, "by_vdot", by_vdot.size(), m.nv());
    detail::expect_loads(who, loads, m);
    compute(q.data(), v.data(), vdot.data(), lambda.data(), by_q.data(), by_v.data(),
            by_vdot.data(), loads);
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  /// At the inputs' multipliers; ones where there are none.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override {
    const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
    detail::rate_results<T>(
        out, model().nv(), {{"by_q", false}, {"by_v", false}, {"by_vdot", false}},
        [&](const auto& r) {
          evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot),
                   detail::multipliers<T>(in, model().nv()), r[0], r[1], r[2], &loads);
        });
    this->add_margin(model(), out, 3);
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* vdot, const T* lambda, T* by_q, T* by_v,
                       T* by_vdot, const Loads<T>* loads) = 0;
};

// One copy of the interface, in the kernel.
#define ESPALIER_EXTERN(T) extern template class InverseDynamicsAdjoint<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
