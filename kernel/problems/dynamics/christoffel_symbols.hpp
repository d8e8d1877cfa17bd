#pragma once

#include "espalier/kernel/problems/named_results.hpp"

namespace espalier {

/// Symbols with which velocity forces are quadratic forms of the rates:
///   C(q, v)_ij = sum over k of Gamma_i,jk v_k.
/// On joints of one rate they are Christoffel's of the first kind of the metric M,
///   Gamma_i,jk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2,
/// symmetric in j and k. Rates of spherical and floating joints are no derivatives of coordinates:
/// there the symbols are those of the Coriolis matrix in the frame of these rates, without that
/// symmetry (theory/derivatives 16).
template <class T>
class ESPALIER_API ChristoffelSymbols : public AlgorithmAt<T> {
 public:
  /// Its name in the registry.
  static constexpr std::string_view problem = "christoffel-symbols";
  using AlgorithmAt<T>::AlgorithmAt;
  using AlgorithmAt<T>::model;
  using typename AlgorithmAt<T>::Value;

  /// Computes all symbols.
  /// @param q           spanning positions on closed loops, size nq [rad, m, quaternions x y z w]
  /// @param[out] Gamma  size nv * nv * nv, entry (i * nv + j) * nv + k is Gamma_i,jk; all entries
  ///                    written
  /// Cost: O(n d^2) on trees of joints of one rate, else O(n^2 d).
  /// @throws SizeMismatch
  void evaluate(In<T> q, Out<T> Gamma) {
    const long nv = model().nv();
    expect_size("christoffel symbols", "q", q.size(), model().nq());
    expect_size("christoffel symbols", "Gamma", Gamma.size(), nv * nv * nv);
    compute(q.data(), Gamma.data());
  }

 protected:
  /// One row for each pair (i, j).
  void by_name(const BasicInputViews<Value>& in, BasicResults<Value>& out) override {
    const int nv = model().nv();
    BasicResult<Value>& r = detail::result(out, 0, "christoffel_symbols");
    r.shape(ResultAxis::components, nv * nv, ResultAxis::rates, nv);
    detail::answer<T>(r, [&](Out<T> x) { evaluate(detail::lifted<T>(in.q), x); });
  }
  /// evaluate() once its arguments are checked: what an algorithm implements.
  virtual void compute(const T* q, T* Gamma) = 0;
};

// One copy of the interface, in the kernel.
#define ESPALIER_EXTERN(T) extern template class ChristoffelSymbols<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN

}  // namespace espalier
