#pragma once

#include <span>

#include "espalier/kernel/scalar/scalar.hpp"

/// The factor H = L^T L of an inertia matrix over the rates of a tree, which fills in nothing where
/// branches leave H zero. Matrices are n x n, row-major; row k of the lower triangle holds row k of
/// L, whose entries are those of the rates that support rate k.
/// Source: Featherstone (2008), Tables 6.3 to 6.5.

namespace espalier {

/// Factors H in place.
/// @param parent  of each rate, -1 for none (Model::rate_parents())
template <class T>
inline void ltl(T* H, std::span<const int> parent) {
  const long n = static_cast<long>(parent.size());
  for (long k = n - 1; k >= 0; --k) {
    T* L_k = H + k * n;
    L_k[k] = sqrt(L_k[k]);
    const T inverse = T(1.0) / L_k[k];
    for (int i = parent[k]; i >= 0; i = parent[i]) L_k[i] *= inverse;
    for (int i = parent[k]; i >= 0; i = parent[i]) {
      T* H_i = H + i * n;
      for (int j = i; j >= 0; j = parent[j]) H_i[j] -= L_k[i] * L_k[j];
    }
  }
}

/// x = L^-T x.
template <class T>
inline void ltl_solve_transposed(const T* L, std::span<const int> parent, T* x) {
  const long n = static_cast<long>(parent.size());
  for (long k = n - 1; k >= 0; --k) {
    const T* L_k = L + k * n;
    x[k] /= L_k[k];
    for (int i = parent[k]; i >= 0; i = parent[i]) x[i] -= L_k[i] * x[k];
  }
}

/// x = L^-1 x.
template <class T>
inline void ltl_solve(const T* L, std::span<const int> parent, T* x) {
  const long n = static_cast<long>(parent.size());
  for (long k = 0; k < n; ++k) {
    const T* L_k = L + k * n;
    for (int i = parent[k]; i >= 0; i = parent[i]) x[k] -= L_k[i] * x[i];
    x[k] /= L_k[k];
  }
}

}  // namespace espalier
