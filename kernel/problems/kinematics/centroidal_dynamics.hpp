#pragma once

#include <vector>

#include "espalier/kernel/problems/derivatives/derivative_results.hpp"

namespace espalier {

/// Momentum of all that moves about its centre of mass, world axes, angular part first, and how it
/// varies.
template <class T>
class ESPALIER_API CentroidalDynamics : public AlgorithmAt<T>, public DifferentiatesLoops<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "centroidal-dynamics";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Momentum and its derivatives; row-major.
  struct Answer {
    std::vector<T> momentum;       ///< 6 [N·m·s, N·s]
    std::vector<T> rate;           ///< 6: its derivative by time [N·m, N]
    std::vector<T> matrix;         ///< 6 x nv: of momentum by v, and of rate by vdot
    std::vector<T> momentum_by_q;  ///< 6 x nv
    std::vector<T> rate_by_q;      ///< 6 x nv
    std::vector<T> rate_by_v;      ///< 6 x nv
    std::vector<T> com;            ///< 3: centre of mass [m]
    std::vector<T> com_by_q;       ///< 3 x nv
  };
  /// @returns an answer that is valid until the next call  @throws SizeMismatch
  const Answer& evaluate(In<T> q, In<T> v, In<T> vdot) {
    const Model& m = model();
    expect_size("centroidal dynamics", "q", q.size(), m.nq());
    expect_size("centroidal dynamics", "v", v.size(), m.nv());
    expect_size("centroidal dynamics", "vdot", vdot.size(), m.nv());
    this->expect_closed_in_debug(problem, q.data());
    return compute(q.data(), v.data(), vdot.data());
  }
  ESPALIER_CALLS_AT_STATES

 protected:
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override;
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual const Answer& compute(const T* q, const T* v, const T* vdot) = 0;
};

// One copy of the interface, in the kernel.
#define ESPALIER_EXTERN(T) extern template class CentroidalDynamics<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
