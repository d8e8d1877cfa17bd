#pragma once

#include "espalier/kernel/problems/named_results.hpp"

namespace espalier {

/// Centre of mass of all that moves, and its motion, world axes.
template <class T>
class ESPALIER_API CenterOfMass : public AlgorithmAt<T> {
 public:
  static constexpr std::string_view problem = "center-of-mass";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  struct Answer {
    Vec3<T> position, velocity, acceleration;  ///< [m, m/s, m/s²]
  };
  Answer evaluate(In<T> q, In<T> v, In<T> vdot) {
    const Model& m = model();
    expect_size("center of mass", "q", q.size(), m.nq());
    expect_size("center of mass", "v", v.size(), m.nv());
    expect_size("center of mass", "vdot", vdot.size(), m.nv());
    return compute(q.data(), v.data(), vdot.data());
  }

 protected:
  void by_name(const BasicInputs<Value>& in, BasicResults<Value>& out) override;
  virtual Answer compute(const T* q, const T* v, const T* vdot) = 0;
};

#define ESPALIER_EXTERN(T) extern template class CenterOfMass<T>;  // one copy, in the kernel
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
