#pragma once

#include "espalier/kernel/problems/derivatives/derivative_results.hpp"
#include "espalier/kernel/problems/loads.hpp"

namespace espalier {

/// vdot(q, v, tau) with its derivatives.
template <class T>
class ESPALIER_API ForwardDynamicsDerivatives : public AlgorithmAt<T>,
                                                public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "forward-dynamics-derivatives";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes generalized accelerations and their derivatives.
  /// @param q, v, tau        as in ForwardDynamics
  /// @param[out] vdot        accelerations, size nv [rad/s², m/s²]
  /// @param[out] dvdot_dq    size nv * nv, all entries written
  /// @param[out] dvdot_dv    likewise
  /// @param[out] dvdot_dtau  the inverse of the joint-space inertia matrix, likewise
  /// @param loads            what acts besides tau and gravity, or nullptr
  /// Frame: see problems/derivatives/derivatives.hpp.  Cost: O(n^2).
  /// @throws SizeMismatch; Unsupported for a wrench on a folded rotor
  void evaluate(In<T> q, In<T> v, In<T> tau, Out<T> vdot, OutMatrix<T> dvdot_dq,
                OutMatrix<T> dvdot_dv, OutMatrix<T> dvdot_dtau, const Loads<T>* loads = nullptr) {
    const char* who = "forward dynamics derivatives";
    const Model& m = model();
    const long nv = m.nv();
    expect_size(who, "q", q.size(), m.nq());
    expect_size(who, "v", v.size(), nv);
    expect_size(who, "tau", tau.size(), nv);
    expect_size(who, "vdot", vdot.size(), nv);
    dvdot_dq.expect(who, "dvdot_dq", nv, nv);
    dvdot_dv.expect(who, "dvdot_dv", nv, nv);
    dvdot_dtau.expect(who, "dvdot_dtau", nv, nv);
    detail::expect_loads(who, loads, m);
    const T doubt = this->expect_inertia(problem, q.data());
    compute(q.data(), v.data(), tau.data(), vdot.data(), dvdot_dq.data(), dvdot_dv.data(),
            dvdot_dtau.data(), loads);
    this->expect_answer(problem, loads == nullptr ? nullptr : loads->wrenches, vdot, doubt, q, v,
                        tau);
    dvdot_dq.finish(), dvdot_dv.finish(), dvdot_dtau.finish();
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override {
    const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
    detail::rate_results<T>(
        out, model().nv(),
        {{"vdot", false}, {"dvdot_dq", true}, {"dvdot_dv", true}, {"dvdot_dtau", true}},
        [&](const auto& r) {
          evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.tau),
                   r[0], r[1], r[2], r[3], &loads);
        });
    this->add_margin(model(), out, 4);
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* tau, T* vdot, T* dvdot_dq, T* dvdot_dv,
                       T* dvdot_dtau, const Loads<T>* loads) = 0;
};

// One copy of the interface, in the kernel.
#define ESPALIER_EXTERN(T) extern template class ForwardDynamicsDerivatives<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
