#pragma once

#include "espalier/kernel/problems/derivatives/derivative_results.hpp"

namespace espalier {

/// A matrix C with C v = the velocity-dependent part of the bias force and C + C^T = dM/dt, so that
/// dM/dt - 2 C is skew; on joints of one rate it is that of Christoffel's symbols.
template <class T>
class ESPALIER_API CoriolisMatrix : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "coriolis-matrix";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes C(q, v).
  /// @param q       spanning positions on closed loops, size nq
  /// @param v       independent rates, size nv
  /// @param[out] C  size nv * nv, all entries written
  /// Cost: O(n d).
  /// @throws SizeMismatch
  void evaluate(In<T> q, In<T> v, OutMatrix<T> C) {
    const Model& m = model();
    expect_size("coriolis matrix", "q", q.size(), m.nq());
    expect_size("coriolis matrix", "v", v.size(), m.nv());
    C.expect("coriolis matrix", "C", m.nv(), m.nv());
    this->expect_closed_in_debug(problem, q.data());
    compute(q.data(), v.data(), C.data());
    C.finish();
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override {
    detail::rate_results<T>(out, model().nv(), {{"coriolis_matrix", true}}, [&](const auto& r) {
      evaluate(detail::lifted<T>(in.q), detail::lifted<T>(in.v), r[0]);
    });
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, const T* v, T* C) = 0;
};

// One copy of the interface, in the kernel.
#define ESPALIER_EXTERN(T) extern template class CoriolisMatrix<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
