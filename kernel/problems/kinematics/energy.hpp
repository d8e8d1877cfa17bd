#pragma once

#include "espalier/kernel/problems/algorithm.hpp"
#include "espalier/kernel/scalar/scalar.hpp"

namespace espalier {

/// Mechanical energy [J]; potential energy is zero with all mass at the world's origin.
template <class T>
class ESPALIER_API Energy : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "energy";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// The two kinds of it.
  struct Answer {
    T kinetic;    ///< [J]
    T potential;  ///< of gravity [J]
  };
  /// Computes both energies.
  /// @param q  spanning positions, size nq [rad, m, quaternions x y z w]
  /// @param v  independent rates, size nv [rad/s, m/s]
  /// @returns kinetic and potential energy [J]
  /// @throws SizeMismatch
  Answer evaluate(In<T> q, In<T> v) {
    const Model& m = model();
    expect_size("energy", "q", q.size(), m.nq());
    expect_size("energy", "v", v.size(), m.nv());
    this->expect_closed_in_debug(problem, q.data());
    return compute(q.data(), v.data());
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  /// solve() at this scalar: named inputs in, named results out.
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual Answer compute(const T* q, const T* v) = 0;
};

#define ESPALIER_EXTERN(T) extern template class Energy<T>;  // one copy, in the kernel
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
