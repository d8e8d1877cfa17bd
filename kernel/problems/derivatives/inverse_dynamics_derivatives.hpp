#pragma once

#include "espalier/kernel/problems/derivatives/derivative_results.hpp"
#include "espalier/kernel/problems/loads.hpp"

namespace espalier {

/// tau(q, v, vdot) with its derivatives.
template <class T>
class ESPALIER_API InverseDynamicsDerivatives : public AlgorithmAt<T>,
                                                public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "inverse-dynamics-derivatives";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes generalized forces and their derivatives.
  /// @param q             spanning positions on closed loops, size nq [rad, m, quaternions x y z w]
  /// @param v             independent rates, size nv [rad/s, m/s]
  /// @param vdot          accelerations, size nv [rad/s², m/s²]
  /// @param[out] tau      forces that give vdot, size nv [N·m, N]
  /// @param[out] dtau_dq  size nv * nv, all entries written
  /// @param[out] dtau_dv  likewise
  /// @param[out] M        dtau_dvdot: the joint-space inertia matrix, likewise
  /// @param loads         what acts besides tau and gravity, or nullptr
  /// Frame: see problems/derivatives/derivatives.hpp.  Cost: O(n d).
  /// @throws SizeMismatch; Unsupported for a wrench on a folded rotor
  void evaluate(In<T> q, In<T> v, In<T> vdot, Out<T> tau, OutMatrix<T> dtau_dq,
                OutMatrix<T> dtau_dv, OutMatrix<T> M, const Loads<T>* loads = nullptr) {
    const char* who = "inverse dynamics derivatives";
    const Model& m = model();
    const long nv = m.nv();
    expect_size(who, "q", q.size(), m.nq());
    expect_size(who, "v", v.size(), nv);
    expect_size(who, "vdot", vdot.size(), nv);
    expect_size(who, "tau", tau.size(), nv);
    dtau_dq.expect(who, "dtau_dq", nv, nv);
    dtau_dv.expect(who, "dtau_dv", nv, nv);
    M.expect(who, "M", nv, nv);
    detail::expect_loads(who, loads, m);
    this->expect_closed_in_debug(problem, q.data());
    compute(q.data(), v.data(), vdot.data(), tau.data(), dtau_dq.data(), dtau_dv.data(), M.data(),
            loads);
    dtau_dq.finish(), dtau_dv.finish(), M.finish();
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override {
    const Loads<T> loads{detail::lifted<T>(in.wrenches), nullptr, nullptr};
    detail::rate_results<T>(
        out, model().nv(),
        {{"tau", false}, {"dtau_dq", true}, {"dtau_dv", true}, {"mass_matrix", true}},
        [&](const auto& r) {
          evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), detail::lifted<T>(in.vdot),
                   r[0], r[1], r[2], r[3], &loads);
        });
    this->add_margin(model(), out, 4);
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* vdot, T* tau, T* dtau_dq, T* dtau_dv, T* M,
                       const Loads<T>* loads) = 0;
};

// One copy of the interface, in the kernel.
#define ESPALIER_EXTERN(T) extern template class InverseDynamicsDerivatives<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
