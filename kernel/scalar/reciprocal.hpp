#pragma once

#include "espalier/kernel/scalar/pack.hpp"

namespace espalier {

/// 1 / x, and 1 / sqrt(x), for kernels that have many of them.
///
/// With AVX-512 there is one divider, in which eight quotients take 5.4 ns one after the other, and
/// eight with their roots 13.6 (Intel Xeon, model 207). A pack begins with the processor's estimate
/// of 14 bits instead, and two steps of Newton's method double its bits twice, in 1.7 and 2.5 ns:
/// what waits for the result waits as long, but several of them run side by side. The last bit may
/// be another than a division's. As there, 1 / 0 is infinite, 1 / infinity is 0, and NaN stays;
/// roots are of positive numbers from 1e-307 on.
template <class T>
inline T reciprocal(const T& x) {
  return T(1.0) / x;
}
template <class T>
inline T reciprocal_root(const T& x) {
  return sqrt(x) * (T(1.0) / x);  // root and quotient at once
}

#ifdef __AVX512F__
template <>
inline Pack reciprocal(const Pack& x) {
  const Pack one(1.0);
  const Pack estimate(__builtin_ia32_rcp14pd512_mask(x.lanes, Pack::Lanes{}, 0xff));
  const Pack error = one - x * estimate;  // no number near 0 where x is 0, infinite or NaN
  const Pack r = estimate + estimate * error;
  return select_less(-one, error, r + r * (one - x * r), estimate);
}
template <>
inline Pack reciprocal_root(const Pack& x) {
  const Pack one(1.0), half(0.5);
  const Pack estimate(__builtin_ia32_rsqrt14pd512_mask(x.lanes, Pack::Lanes{}, 0xff));
  const Pack error = one - x * estimate * estimate;
  const Pack r = estimate + half * estimate * error;
  return select_less(-one, error, r + half * r * (one - x * r * r), estimate);
}
#endif

}  // namespace espalier
