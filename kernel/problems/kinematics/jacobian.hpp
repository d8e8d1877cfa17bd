#pragma once

#include "espalier/kernel/problems/named_results.hpp"

namespace espalier {

/// Jacobians of the links' twists.
template <class T>
class ESPALIER_API BodyJacobians : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "jacobian";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Places all joints; jacobian() speaks of the last call.
  /// @param q  spanning positions, size nq [rad, m, quaternions x y z w]
  /// @throws SizeMismatch
  void evaluate(In<T> q) {
    expect_size("jacobians", "q", q.size(), model().nq());
    this->expect_closed_in_debug(problem, q.data());
    compute(q.data());
  }
  ESPALIER_CALLS_AT_POSITIONS
  /// Jacobian at the last evaluate(): the link's twist (link frame, at its origin) is J v.
  /// @param link  of this model
  /// @param[out] J  6 x nv, row-major or an Eigen matrix, angular rows first, link axes
  /// @throws SizeMismatch
  void jacobian(const Link& link, OutMatrix<T> J) const {
    J.expect("jacobians", "J", 6, model().nv());
    write(link, J.data());
    J.finish();
  }

 protected:
  /// solve() at this scalar: named inputs in, named results out.
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q) = 0;
  /// jacobian() once its arguments are checked.
  virtual void write(const Link& link, T* J) const = 0;
};

#define ESPALIER_EXTERN(T) extern template class BodyJacobians<T>;  // one copy, in the kernel
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
