#pragma once

#include "espalier/kernel/problems/derivatives/derivative_results.hpp"
#include "espalier/kernel/problems/loads.hpp"

namespace espalier {

/// Gradient of nu^T vdot(q, v, tau), nu held, in O(n) after the accelerations.
template <class T>
class ESPALIER_API ForwardDynamicsAdjoint : public AlgorithmAt<T>, public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "forward-dynamics-adjoint";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes nu^T dvdot/dq, nu^T dvdot/dv and nu^T M^-1, and vdot itself.
  /// @param q, v, tau     as in ForwardDynamics
  /// @param nu            multipliers, size nv
  /// @param[out] vdot     accelerations, size nv
  /// @param[out] by_q     gradient by q, size nv
  /// @param[out] by_v     gradient by v, size nv
  /// @param[out] by_tau   gradient by tau, size nv
  /// @param loads         what acts besides tau and gravity, or nullptr
  /// Frame: see problems/derivatives/derivatives.hpp.
  /// @throws SizeMismatch; Unsupported for a wrench on a folded rotor
  void evaluate(In<T> q, In<T> v, In<T> tau, In<T> nu, Out<T> vdot, Out<T> by_q, Out<T> by_v,
                Out<T> by_tau, const Loads<T>* loads = nullptr) {
    const char* who = "forward dynamics adjoint";
    const Model& m = model();
    expect_size(who, "q", q.size(), m.nq());
    expect_size(who, "v", v.size(), m.nv());
    expect_size(who, "tau", tau.size(), m.nv());
    expect_size(who, "nu", nu.size(), m.nv());
    expect_size(who, "vdot", vdot.size(), m.nv());
    expect_size(who, "by_q", by_q.size(), m.nv());
    expect_size(who, "by_v", by_v.size(), m.nv());
    expect_size(who, "by_tau", by_tau.size(), m.nv());
    detail::expect_loads(who, loads, m);
    const T doubt = this->expect_inertia(problem, q.data());
    compute(q.data(), v.data(), tau.data(), nu.data(), vdot.data(), by_q.data(), by_v.data(),
            by_tau.data(), loads);
    this->expect_answer(problem, loads == nullptr ? nullptr : loads->wrenches, vdot, doubt, q, v,
                        tau, nu);
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  /// At the inputs' multipliers; ones where there are none.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override {
    const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
    detail::rate_results<T>(
        out, model().nv(), {{"vdot", false}, {"by_q", false}, {"by_v", false}, {"by_tau", false}},
        [&](const auto& r) {
          evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.tau),
                   detail::multipliers<T>(in, model().nv()), r[0], r[1], r[2], r[3], &loads);
        });
    this->add_margin(model(), out, 4);
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* tau, const T* nu, T* vdot, T* by_q, T* by_v,
                       T* by_tau, const Loads<T>* loads) = 0;
};

// One copy of the interface, in the kernel.
#define ESPALIER_EXTERN(T) extern template class ForwardDynamicsAdjoint<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
