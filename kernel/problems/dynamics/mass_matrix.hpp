#pragma once

#include "espalier/kernel/problems/algorithm.hpp"

namespace espalier {

/// Joint-space inertia matrix M(q), symmetric, full storage.
template <class T>
class ESPALIER_API MassMatrix : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "mass-matrix";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes M.
  /// @param q  spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param[out] M  row-major or an Eigen matrix, nv x nv, all entries written [kg·m², kg·m, kg]
  /// @throws SizeMismatch
  [[gnu::always_inline]] void evaluate(In<T> q, OutMatrix<T> M) {
    expect_size("mass matrix", "q", q.size(), this->nq());
    M.expect("mass matrix", "M", this->nv(), this->nv());
    this->expect_closed_in_debug(problem, q.data());
    compute(q.data(), M.data());
    M.finish();
  }
  ESPALIER_CALLS_AT_POSITIONS

 protected:
  /// solve() at this scalar: named inputs in, named results out.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, T* M) = 0;
};

#define ESPALIER_EXTERN(T) extern template class MassMatrix<T>;  // one copy, in the kernel
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
