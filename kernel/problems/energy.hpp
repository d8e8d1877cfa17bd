#pragma once

#include "espalier/kernel/problems/named_results.hpp"

namespace espalier {

/// Mechanical energy [J]; potential energy is zero with all mass at the world's origin.
template <class T>
class ESPALIER_API Energy : public AlgorithmAt<T> {
 public:
  static constexpr std::string_view problem = "energy";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  struct Answer {
    T kinetic, potential;
  };
  Answer evaluate(In<T> q, In<T> v) {
    const Model& m = model();
    expect_size("energy", "q", q.size(), m.nq());
    expect_size("energy", "v", v.size(), m.nv());
    return compute(q.data(), v.data());
  }

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override;
  virtual Answer compute(const T* q, const T* v) = 0;
};

#define ESPALIER_EXTERN(T) extern template class Energy<T>;  // one copy, in the kernel
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
