#pragma once

#include <cmath>
#include <xsimd/xsimd.hpp>

#include "espalier/kernel/export.hpp"

// Products and sums of lanes may be fused into one instruction, also across these operators, which
// clang does for expressions of doubles only; g++ does it everywhere.
#ifdef __clang__
#define ESPALIER_FUSE _Pragma("clang fp contract(fast)")
#else
#define ESPALIER_FUSE
#endif

namespace espalier {

/// Four doubles that are computed on at once: one robot state per lane.
///
/// The storage is the compiler's own vector type, so that its size, alignment (32) and name are the
/// same in libraries compiled for different instruction sets, and arithmetic compiles to one AVX or
/// two SSE2 instructions. Elementary functions come from xsimd.
struct ESPALIER_API Pack {
  using Lanes __attribute__((vector_size(32))) = double;
  static constexpr int size = 4;

  alignas(32) Lanes lanes;  // without AVX, g++ would align it to 16

  Pack() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): a double is a pack with equal lanes.
  constexpr Pack(double x) : lanes{x, x, x, x} {}
  explicit Pack(Lanes l) : lanes(l) {}
  Pack(double a, double b, double c, double d) : lanes{a, b, c, d} {}

  static Pack load(const double* p) { return {p[0], p[1], p[2], p[3]}; }
  void store(double* p) const {
    for (int k = 0; k < size; ++k) p[k] = lanes[k];
  }
  double operator[](int k) const { return lanes[k]; }
  void set(int k, double x) { lanes[k] = x; }

  friend Pack operator+(Pack a, Pack b) { ESPALIER_FUSE return Pack(a.lanes + b.lanes); }
  friend Pack operator-(Pack a, Pack b) { ESPALIER_FUSE return Pack(a.lanes - b.lanes); }
  friend Pack operator*(Pack a, Pack b) { ESPALIER_FUSE return Pack(a.lanes * b.lanes); }
  friend Pack operator/(Pack a, Pack b) { ESPALIER_FUSE return Pack(a.lanes / b.lanes); }
  friend Pack operator-(Pack a) { ESPALIER_FUSE return Pack(-a.lanes); }
  Pack& operator+=(Pack b) { ESPALIER_FUSE return lanes += b.lanes, *this; }
  Pack& operator-=(Pack b) { ESPALIER_FUSE return lanes -= b.lanes, *this; }
  Pack& operator*=(Pack b) { ESPALIER_FUSE return lanes *= b.lanes, *this; }
  Pack& operator/=(Pack b) { ESPALIER_FUSE return lanes /= b.lanes, *this; }
};
static_assert(sizeof(Pack) == 32 && alignof(Pack) == 32);

namespace detail {

/// Applies an xsimd function to the four lanes with the widest registers that the target has.
template <class F>
inline void for_each_batch(const Pack& x, F&& f) {
  alignas(32) double in[Pack::size];
  x.store(in);
#if defined(__AVX2__)
  using Batch = xsimd::batch<double, xsimd::avx2>;
#elif defined(__AVX__)
  using Batch = xsimd::batch<double, xsimd::avx>;
#else
  using Batch = xsimd::batch<double, xsimd::sse2>;
#endif
  constexpr int width = static_cast<int>(Batch::size);
  for (int k = 0; k < Pack::size; k += width) f(Batch::load_aligned(in + k), k);
}

}  // namespace detail

/// Bit by bit, a lane's sine and cosine depend on that lane alone, whatever stands in the others:
/// xsimd's own reduction to one quadrant is another one where some lane is large or not a number.
inline void sincos(Pack x, Pack& s, Pack& c) {
  using Bits __attribute__((vector_size(32))) = long long;
  // pi/2 in parts of 33 bits, so that products with whole numbers below 2^20 are exact.
  constexpr double part_1 = 0x1.921fb544p+0, part_2 = 0x1.0b4611a6p-34, part_3 = 0x1.3198a2e037073p-69;
  constexpr double two_over_pi = 0x1.45f306dc9c883p-1, largest = 0x1p19;
  constexpr double whole = 0x1.8p52;  // a sum with it is rounded to a whole number, in its last bits

  const Bits inside = (x.lanes <= Pack(largest).lanes) & (x.lanes >= Pack(-largest).lanes);
  const Pack shifted = x * Pack(two_over_pi) + Pack(whole);
  const Pack n = shifted - Pack(whole);
  const Pack reduced = ((x - n * Pack(part_1)) - n * Pack(part_2)) - n * Pack(part_3);
  const Pack r(inside ? reduced.lanes : Pack(0.0).lanes);

  alignas(32) double sin_r[Pack::size];
  alignas(32) double cos_r[Pack::size];
  detail::for_each_batch(r, [&](auto batch, int k) {
    const auto [sb, cb] = xsimd::sincos(batch);
    sb.store_aligned(sin_r + k);
    cb.store_aligned(cos_r + k);
  });
  const Bits sine = reinterpret_cast<Bits>(Pack::load(sin_r).lanes);
  const Bits cosine = reinterpret_cast<Bits>(Pack::load(cos_r).lanes);
  const Bits quadrant = reinterpret_cast<Bits>(shifted.lanes);
  const Bits swap = (quadrant & 1) != 0;
  s.lanes = reinterpret_cast<Pack::Lanes>((swap ? cosine : sine) ^ ((quadrant & 2) << 62));
  c.lanes = reinterpret_cast<Pack::Lanes>((swap ? sine : cosine) ^ (((quadrant + 1) & 2) << 62));
  if ((inside[0] & inside[1] & inside[2] & inside[3]) != 0) return;
  for (int k = 0; k < Pack::size; ++k) {
    if (inside[k] != 0) continue;
    s.set(k, std::sin(x[k]));
    c.set(k, std::cos(x[k]));
  }
}

inline Pack sqrt(Pack x) {
  for (int k = 0; k < Pack::size; ++k) x.lanes[k] = std::sqrt(x.lanes[k]);
  return x;
}

inline Pack atan2(Pack y, Pack x) {
  for (int k = 0; k < Pack::size; ++k) y.lanes[k] = std::atan2(y.lanes[k], x.lanes[k]);
  return y;
}

inline Pack abs(Pack x) {
  for (int k = 0; k < Pack::size; ++k) x.lanes[k] = std::fabs(x.lanes[k]);
  return x;
}

/// Lane by lane: x where a < b, else y.
inline Pack select_less(Pack a, Pack b, Pack x, Pack y) {
  return Pack(a.lanes < b.lanes ? x.lanes : y.lanes);
}

}  // namespace espalier

#undef ESPALIER_FUSE
