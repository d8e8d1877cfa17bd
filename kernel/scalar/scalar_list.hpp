#pragma once

#include <cmath>
#include <string_view>
#include <type_traits>
#include <utility>

#include "espalier/kernel/export.hpp"

/// The closed list of scalars at which every joint, loop constraint and algorithm is compiled.
/// Usage: #define X(T) ...  ESPALIER_SCALARS(X)  #undef X
#define ESPALIER_SCALARS(X) \
  X(double)                 \
  X(::espalier::Pack)       \
  X(::espalier::Count)      \
  X(::espalier::FloatPack)

namespace espalier {

template <class S, int n>
struct ESPALIER_API BasicPack;
class ESPALIER_API Count;

/// Eight doubles: the scalar of batches.
using Pack = BasicPack<double, 8>;
/// Sixteen floats: the scalar of batches that do with seven digits.
using FloatPack = BasicPack<float, 16>;

template <class T>
inline constexpr bool is_pack = false;
template <class S, int n>
inline constexpr bool is_pack<BasicPack<S, n>> = true;

/// Names of the scalars, in the order of ESPALIER_SCALARS; part of the plugin fingerprint.
inline constexpr std::string_view scalar_names[] = {"double", "pack", "count", "float-pack"};
inline constexpr int scalar_count = 4;

template <class T>
struct ScalarTraits;
template <>
struct ScalarTraits<double> {
  static constexpr int index = 0;
};
template <>
struct ScalarTraits<Pack> {
  static constexpr int index = 1;
};
template <>
struct ScalarTraits<Count> {
  static constexpr int index = 2;
};
template <>
struct ScalarTraits<FloatPack> {
  static constexpr int index = 3;
};

/// Whether a scalar has the digits of a float, for thresholds that depend on it.
template <class T>
inline constexpr bool is_single = std::is_same_v<T, FloatPack>;

/// Scalar of a product of an A with a B: model parameters are plain doubles at every scalar.
template <class A, class B>
using Product = decltype(std::declval<A>() * std::declval<B>());

/// s = sin x, c = cos x.
inline void sincos(double x, double& s, double& c) {
  s = std::sin(x);
  c = std::cos(x);
}
using std::abs;
using std::atan2;
using std::sqrt;

/// x where a < b, else y (also where a or b is not a number): what a joint or constraint writes
/// instead of a branch, since the lanes of a pack may differ. Both x and y are computed, so neither
/// may divide by zero.
inline double select_less(double a, double b, double x, double y) { return a < b ? x : y; }

/// Lane `k` of a scalar, for code that reports numbers: a double has one lane.
inline double lane(double x, int /*k*/) { return x; }

}  // namespace espalier
