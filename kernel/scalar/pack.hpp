#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "espalier/kernel/scalar/scalar_list.hpp"

// Products and sums of lanes may be fused into one instruction, also across these operators, which
// clang does for expressions of doubles only; g++ does it everywhere.
#ifdef __clang__
#define ESPALIER_FUSE _Pragma("clang fp contract(fast)")
#else
#define ESPALIER_FUSE
#endif

// Functions that this one is inlined into use whole registers of AVX-512 for packs, whatever width
// is preferred elsewhere (clang; g++ does so of itself).
#ifdef __clang__
#define ESPALIER_WIDE __attribute__((min_vector_width(512)))
#else
#define ESPALIER_WIDE
#endif

namespace espalier {

/// n numbers of type S that are computed on at once: one robot state per lane.
///
/// The storage is the compiler's own vector type, so that size, alignment and name are the same in
/// libraries compiled for different instruction sets, and arithmetic compiles to as few
/// instructions as each needs: for 64 bytes one of AVX-512, two of AVX, four of SSE2.
template <class S, int n>
struct ESPALIER_API BasicPack {
  using Element = S;
  using Lanes __attribute__((vector_size(n * sizeof(S)))) = S;
  static constexpr int size = n;

  alignas(n * sizeof(S)) Lanes lanes;  // without AVX, g++ would align it to 16

  BasicPack() = default;
  // Written out, so that structs of packs are copied pack by pack. As plain bytes they would go by
  // half a register of AVX-512, and whole ones that are read soon after would wait for both.
  ESPALIER_WIDE constexpr BasicPack(const BasicPack& other) : lanes(other.lanes) {}
  ESPALIER_WIDE constexpr BasicPack& operator=(const BasicPack& other) {
    lanes = other.lanes;
    return *this;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a double is a pack with equal lanes. It is rounded
  // before it is multiplied: model parameters are doubles.
  constexpr BasicPack(double x)
      : BasicPack(static_cast<S>(x), std::make_integer_sequence<int, n>()) {}
  explicit BasicPack(Lanes l) : lanes(l) {}
  /// Lane by lane.
  template <class... X>
  requires(sizeof...(X) == n && (std::is_arithmetic_v<X> && ...)) BasicPack(X... x)
      : lanes{static_cast<S>(x)...} {}

  static BasicPack load(const S* p) {
    BasicPack x;
    std::memcpy(&x.lanes, p, sizeof x.lanes);
    return x;
  }
  void store(S* p) const { std::memcpy(p, &lanes, sizeof lanes); }
  S operator[](int k) const { return lanes[k]; }
  void set(int k, S x) { lanes[k] = x; }

  using P = BasicPack;
  ESPALIER_WIDE friend P operator+(P a, P b) { ESPALIER_FUSE return P(a.lanes + b.lanes); }
  ESPALIER_WIDE friend P operator-(P a, P b) { ESPALIER_FUSE return P(a.lanes - b.lanes); }
  ESPALIER_WIDE friend P operator*(P a, P b) { ESPALIER_FUSE return P(a.lanes * b.lanes); }
  ESPALIER_WIDE friend P operator/(P a, P b) { ESPALIER_FUSE return P(a.lanes / b.lanes); }
  ESPALIER_WIDE friend P operator-(P a) { ESPALIER_FUSE return P(-a.lanes); }
  ESPALIER_WIDE P& operator+=(P b) { ESPALIER_FUSE return lanes += b.lanes, *this; }
  ESPALIER_WIDE P& operator-=(P b) { ESPALIER_FUSE return lanes -= b.lanes, *this; }
  ESPALIER_WIDE P& operator*=(P b) { ESPALIER_FUSE return lanes *= b.lanes, *this; }
  ESPALIER_WIDE P& operator/=(P b) { ESPALIER_FUSE return lanes /= b.lanes, *this; }

  friend P sqrt(P x) {
    for (int k = 0; k < n; ++k) x.lanes[k] = std::sqrt(x.lanes[k]);
    return x;
  }
  friend P atan2(P y, P x) {
    for (int k = 0; k < n; ++k) y.lanes[k] = std::atan2(y.lanes[k], x.lanes[k]);
    return y;
  }
  friend P abs(P x) {
    for (int k = 0; k < n; ++k) x.lanes[k] = std::fabs(x.lanes[k]);
    return x;
  }
  /// Lane by lane: x where a < b, else y.
  friend P select_less(P a, P b, P x, P y) { return P(a.lanes < b.lanes ? x.lanes : y.lanes); }

 private:
  template <int... k>
  constexpr BasicPack(S x, std::integer_sequence<int, k...>)
      : lanes{(static_cast<void>(k), x)...} {}
};

static_assert(sizeof(Pack) == 64 && alignof(Pack) == 64);
static_assert(sizeof(FloatPack) == 64 && alignof(FloatPack) == 64);
/// Four doubles of one state: what a single call computes side by side. No scalar of algorithms.
using Quad = BasicPack<double, 4>;

namespace detail {

/// Coefficients of the highest power first. By pairs, so that fewer steps wait for each other.
/// @param xx  x squared
template <class P, int n>
inline P polynomial(const double (&coefficients)[n], P x, P xx) {
  ESPALIER_FUSE
  P sum(coefficients[0]);
  if constexpr (n % 2 == 0) sum = sum * x + P(coefficients[1]);
  for (int k = 2 - n % 2; k < n; k += 2) {
    sum = sum * xx + (P(coefficients[k]) * x + P(coefficients[k + 1]));
  }
  return sum;
}

/// How an angle is brought into [-pi/4, pi/4]: pi/2 in three parts, the first two of so few bits
/// that their products with whole numbers up to 2/pi `largest` are exact.
template <class S>
struct QuarterTurn;
template <>
struct QuarterTurn<double> {
  using Integer = long long;
  static constexpr double part_1 = 0x1.921fb544p+0, part_2 = 0x1.0b4611a6p-34,  // 33 bits
      part_3 = 0x1.3198a2e037073p-69;
  static constexpr double largest = 0x1p19;
  /// (sin r - r) / r^3 and (cos r - 1 + r^2/2) / r^4 as polynomials in r^2, highest power first.
  static constexpr double sine[] = {1.58962301576546568060e-10, -2.50507477628578072866e-8,
                                    2.75573136213857245213e-6,  -1.98412698295895385996e-4,
                                    8.33333333332211858878e-3,  -1.66666666666666307295e-1};
  static constexpr double cosine[] = {-1.13585365213876817300e-11, 2.08757008419747316778e-9,
                                      -2.75573141792967388112e-7,  2.48015872888517045348e-5,
                                      -1.38888888888730564116e-3,  4.16666666666665929218e-2};
  static constexpr double whole = 0x1.8p52;  ///< a sum with it is rounded to a whole number, which
                                             ///< its last bits then hold
};
template <>
struct QuarterTurn<float> {
  using Integer = int;
  static constexpr double part_1 = 0x1.92p+0, part_2 = 0x1.fb4p-12,  // 11 bits
      part_3 = 0x1.4442d2p-24;
  static constexpr double largest = 0x1p13;
  static constexpr double sine[] = {-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1};
  static constexpr double cosine[] = {2.443315711809948e-5, -1.388731625493765e-3,
                                      4.166664568298827e-2};
  static constexpr double whole = 0x1.8p23;
};

template <class S, int n>
struct LaneBits {
  using Integer = typename QuarterTurn<S>::Integer;
  using Type __attribute__((vector_size(n * sizeof(S)))) = Integer;
};

/// Sine and cosine of angles up to QuarterTurn::largest, of all lanes; no function is called.
/// @returns  per lane whether its angle is one; all bits or none
template <class S, int n>
inline typename LaneBits<S, n>::Type sincos_inside(BasicPack<S, n> x, BasicPack<S, n>& s,
                                                   BasicPack<S, n>& c) {
  using P = BasicPack<S, n>;
  using Turn = QuarterTurn<S>;
  using Integer = typename Turn::Integer;
  using Bits = typename LaneBits<S, n>::Type;
  constexpr double two_over_pi = 0x1.45f306dc9c883p-1;
  constexpr int to_sign = 8 * sizeof(S) - 2;  // from the second bit

  const Bits inside = (x.lanes <= P(Turn::largest).lanes) & (x.lanes >= P(-Turn::largest).lanes);
  const P shifted = x * P(two_over_pi) + P(Turn::whole);
  const P turns = shifted - P(Turn::whole);
  const P reduced =
      ((x - turns * P(Turn::part_1)) - turns * P(Turn::part_2)) - turns * P(Turn::part_3);
  const P r(inside ? reduced.lanes : P(0.0).lanes);

  const P z = r * r, zz = z * z;
  const P sine_r = r + r * z * polynomial(Turn::sine, z, zz);
  const P cosine_r = P(1.0) - P(0.5) * z + zz * polynomial(Turn::cosine, z, zz);
  // Its sign is that of r, also where both are zero.
  constexpr Integer sign = Integer(1) << (to_sign + 1);
  const Bits sine = reinterpret_cast<Bits>(sine_r.lanes) | (reinterpret_cast<Bits>(r.lanes) & sign);
  const Bits cosine = reinterpret_cast<Bits>(cosine_r.lanes);
  const Bits quadrant = reinterpret_cast<Bits>(shifted.lanes);
  const Bits swap = (quadrant & 1) != 0;
  using Lanes = typename P::Lanes;
  s.lanes = reinterpret_cast<Lanes>((swap ? cosine : sine) ^ ((quadrant & 2) << to_sign));
  c.lanes = reinterpret_cast<Lanes>((swap ? sine : cosine) ^ (((quadrant + 1) & 2) << to_sign));
  return inside;
}
/// Whether all bits of all lanes are set.
template <class Bits>
inline bool all_of(const Bits& bits) {
  bool all = true;
  for (std::size_t k = 0; k < sizeof(Bits) / sizeof(bits[0]); ++k) all = all && bits[k] != 0;
  return all;
}

}  // namespace detail

/// Good to two units in the last place of 1, at any angle. Bit by bit, a lane's sine and cosine
/// depend on that lane alone, whatever stands in the others, which xsimd's do not, whose reduction
/// to one quadrant is another one where some lane is large; and measured, these take half of their
/// time. Source of the polynomials: Moshier, Cephes mathematical library.
template <class S, int n>
inline void sincos(BasicPack<S, n> x, BasicPack<S, n>& s, BasicPack<S, n>& c) {
  const auto inside = detail::sincos_inside(x, s, c);
  if (detail::all_of(inside)) [[likely]]
    return;
  for (int k = 0; k < n; ++k) {
    if (inside[k] != 0) continue;
    s.set(k, std::sin(x[k]));
    c.set(k, std::cos(x[k]));
  }
}

}  // namespace espalier

#undef ESPALIER_FUSE
#undef ESPALIER_WIDE
