#pragma once

#include "espalier/kernel/problems/derivatives/derivative_results.hpp"
#include "espalier/kernel/problems/loads.hpp"

namespace espalier {

/// One time step x+ = f(x, u) with x = (q, v), u = tau, and its derivatives. Loops are closed after
/// the step (and after each stage); derivatives at the closed point follow from its tangent, and
/// nothing of Newton's method is differentiated.
template <class T>
class ESPALIER_API StepDerivatives : public AlgorithmAt<T>, public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "step-derivatives";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes a step and A = dx+/dx, B = dx+/du.
  /// @param q, v, tau     state and forces, held over the step
  /// @param h             length of the step [s]
  /// @param[out] q_next   size nq
  /// @param[out] v_next   size nv
  /// @param[out] A        size 2 nv * 2 nv: coordinates, then rates; tangents on the right at both
  ///                      ends
  /// @param[out] B        size 2 nv * nv
  /// @param loads         what acts besides tau and gravity, held over the step, or nullptr
  /// @throws SizeMismatch; SingularMechanism where loops cannot be closed on their branch
  void evaluate(In<T> q, In<T> v, In<T> tau, double h, Out<T> q_next, Out<T> v_next, OutMatrix<T> A,
                OutMatrix<T> B, const Loads<T>* loads = nullptr) {
    const char* who = "step derivatives";
    const Model& m = model();
    const long nv = m.nv();
    expect_size(who, "q", q.size(), m.nq());
    expect_size(who, "v", v.size(), nv);
    expect_size(who, "tau", tau.size(), nv);
    expect_size(who, "q_next", q_next.size(), m.nq());
    expect_size(who, "v_next", v_next.size(), nv);
    A.expect(who, "A", 2 * nv, 2 * nv);
    B.expect(who, "B", 2 * nv, nv);
    detail::expect_loads(who, loads, m);
    this->expect_inertia(problem, q.data());
    compute(q.data(), v.data(), tau.data(), h, q_next.data(), v_next.data(), A.data(), B.data(),
            loads);
    A.finish(), B.finish();
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, const T* tau, double h, T* q_next, T* v_next, T* A,
                       T* B, const Loads<T>* loads) = 0;
};

// One copy of the interface, in the kernel.
#define ESPALIER_EXTERN(T) extern template class StepDerivatives<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
