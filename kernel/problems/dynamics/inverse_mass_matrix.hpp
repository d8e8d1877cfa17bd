#pragma once

#include "espalier/kernel/problems/derivatives/derivative_results.hpp"

namespace espalier {

/// Inverse of the joint-space inertia matrix, symmetric, full storage.
template <class T>
class ESPALIER_API InverseMassMatrix : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "inverse-mass-matrix";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes M(q)^-1.
  /// @param q               spanning positions on closed loops, size nq
  /// @param[out] M_inverse  size nv * nv, all entries written
  /// Cost: O(n^2).
  /// @throws SizeMismatch
  void evaluate(In<T> q, OutMatrix<T> M_inverse) {
    const Model& m = model();
    expect_size("inverse mass matrix", "q", q.size(), m.nq());
    M_inverse.expect("inverse mass matrix", "M_inverse", m.nv(), m.nv());
    const T doubt = this->expect_inertia(problem, q.data());
    compute(q.data(), M_inverse.data());
    this->expect_semidefinite(problem, M_inverse, m.nv(), doubt, q);
    M_inverse.finish();
  }
  ESPALIER_CALLS_AT_POSITIONS

 protected:
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override {
    detail::rate_results<T>(out, model().nv(), {{"inverse_mass_matrix", true}},
                            [&](const auto& r) { evaluate(detail::lifted<T>(in.q), r[0]); });
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, T* M_inverse) = 0;
};

// One copy of the interface, in the kernel.
#define ESPALIER_EXTERN(T) extern template class InverseMassMatrix<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
