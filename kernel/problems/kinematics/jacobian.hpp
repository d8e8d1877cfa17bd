#pragma once

#include "espalier/kernel/problems/algorithm.hpp"

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
  /// Jacobian of one link, for which no other joints are placed. jacobian() of further links asks
  /// for evaluate(q) before.
  /// @param q      spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param link   of this model
  /// @param[out] J  as in jacobian()
  /// @throws SizeMismatch
  void evaluate(In<T> q, const Link& link, OutMatrix<T> J) {
    expect_size("jacobians", "q", q.size(), model().nq());
    this->expect_closed_in_debug(problem, q.data());
    J.expect("jacobians", "J", 6, model().nv());
    compute_one(q.data(), link, J.data());
    J.finish();
  }
  ESPALIER_CALLS_AT_POSITIONS
  /// Jacobian at the last evaluate(): the link's twist (link frame, at its origin) is J v.
  /// @param link  of this model
  /// @param[out] J  6 x nv, row-major or an Eigen matrix, angular rows first, link axes
  /// @throws SizeMismatch, Unsupported if no evaluate(q) has placed the joints
  void jacobian(const Link& link, OutMatrix<T> J) const {
    J.expect("jacobians", "J", 6, model().nv());
    write(link, J.data());
    J.finish();
  }

 protected:
  /// solve() at this scalar: named inputs in, named results out.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q) = 0;
  /// jacobian() once its arguments are checked.
  virtual void write(const Link& link, T* J) const = 0;
  /// evaluate() of one link once its arguments are checked.
  virtual void compute_one(const T* q, const Link& link, T* J) {
    compute(q);
    write(link, J);
  }
};

#define ESPALIER_EXTERN(T) extern template class BodyJacobians<T>;  // one copy, in the kernel
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
