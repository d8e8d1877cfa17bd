#pragma once

#include <compare>
#include <type_traits>

#include "espalier/kernel/scalar/dual.hpp"
#include "espalier/kernel/scalar/jet.hpp"

/// What authors write out of habit and no scalar but double has: comparisons, and functions that
/// are not made of sincos, sqrt and atan2. Each says in one error what to write instead. The
/// messages stand in class templates, which a compiler instantiates once, not once for each scalar.

namespace espalier::detail {

template <class T>
inline constexpr bool is_kernel_scalar = false;
template <class S, int n>
inline constexpr bool is_kernel_scalar<BasicPack<S, n>> = true;
template <>
inline constexpr bool is_kernel_scalar<Count> = true;
template <class T>
inline constexpr bool is_kernel_scalar<Jet<T>> = true;
template <class T>
inline constexpr bool is_kernel_scalar<Dual<T>> = true;
template <class T>
concept KernelScalar = is_kernel_scalar<T>;
template <class T>
concept Number = std::is_arithmetic_v<T>;

/// The first of several types that is a scalar.
template <class A, class... Rest>
struct FirstScalar : FirstScalar<Rest...> {};
template <KernelScalar A, class... Rest>
struct FirstScalar<A, Rest...> {
  using type = A;
};

template <class>
inline constexpr bool never = false;
/// Any T gives the same type, known when T is.
template <class T>
struct Once {
  using type = void;
};
template <class T>
using once = typename Once<T>::type;

template <class T>
struct Comparison {
  static_assert(never<T>,
                "a scalar may be eight states at once, which differ: it has no < > <= >= == !=, "
                "and no min or max; write select_less(a, b, x, y), x where a < b, else y");
  static constexpr bool equal = false;
  static constexpr std::strong_ordering order = std::strong_ordering::equal;
};

}  // namespace espalier::detail

namespace espalier {

template <detail::KernelScalar T>
inline bool operator==(const T&, const T&) {
  return detail::Comparison<detail::once<T>>::equal;
}
template <detail::KernelScalar T, detail::Number U>
inline bool operator==(const T&, const U&) {
  return detail::Comparison<detail::once<T>>::equal;
}
template <detail::KernelScalar T>
inline std::strong_ordering operator<=>(const T&, const T&) {
  return detail::Comparison<detail::once<T>>::order;
}
template <detail::KernelScalar T, detail::Number U>
inline std::strong_ordering operator<=>(const T&, const U&) {
  return detail::Comparison<detail::once<T>>::order;
}

// Found with and without std::, as those that there are (functions.hpp).
#define ESPALIER_REFUSED(function, instead)                                                   \
  namespace detail {                                                                          \
  template <class T>                                                                          \
  struct No_##function {                                                                      \
    static_assert(never<T>,                                                                   \
                  "there is no " #function                                                    \
                  " at all scalars; phi may call sin, cos, tan, asin, acos, atan, "           \
                  "atan2, sqrt, hypot, abs, pow with a whole exponent, select_less" instead); \
    static constexpr bool done = false;                                                       \
  };                                                                                          \
  }                                                                                           \
  template <detail::KernelScalar T, class... Rest>                                            \
  T function(const T& x, const Rest&...) {                                                    \
    return detail::No_##function<detail::once<T>>::done ? -x : x;                             \
  }
ESPALIER_REFUSED(exp, "")
ESPALIER_REFUSED(log, "")
ESPALIER_REFUSED(sinh, "")
ESPALIER_REFUSED(cosh, "")
ESPALIER_REFUSED(tanh, "")
ESPALIER_REFUSED(floor, "")
ESPALIER_REFUSED(ceil, "")
ESPALIER_REFUSED(fmod, "")
ESPALIER_REFUSED(fabs, ": abs(x)")
ESPALIER_REFUSED(cbrt, "")
ESPALIER_REFUSED(fmin, ": select_less(a, b, a, b)")
ESPALIER_REFUSED(fmax, ": select_less(a, b, b, a)")
#undef ESPALIER_REFUSED

namespace detail {
template <class T>
struct NoPower {
  static_assert(
      never<T>,
      "pow takes a whole exponent: pow(x, 3); write sqrt for halves, and what an exponent "
      "varies with by other functions");
  static constexpr bool done = false;
};
}  // namespace detail

}  // namespace espalier

namespace std {
// NOLINTBEGIN(cert-dcl58-cpp)
#define ESPALIER_REFUSED_IN_STD(function)                      \
  template <::espalier::detail::KernelScalar T, class... Rest> \
  T function(const T& x, const Rest&... rest) {                \
    return ::espalier::function(x, rest...);                   \
  }
ESPALIER_REFUSED_IN_STD(exp)
ESPALIER_REFUSED_IN_STD(log)
ESPALIER_REFUSED_IN_STD(sinh)
ESPALIER_REFUSED_IN_STD(cosh)
ESPALIER_REFUSED_IN_STD(tanh)
ESPALIER_REFUSED_IN_STD(floor)
ESPALIER_REFUSED_IN_STD(ceil)
ESPALIER_REFUSED_IN_STD(fmod)
ESPALIER_REFUSED_IN_STD(fabs)
ESPALIER_REFUSED_IN_STD(cbrt)
ESPALIER_REFUSED_IN_STD(fmin)
ESPALIER_REFUSED_IN_STD(fmax)
#undef ESPALIER_REFUSED_IN_STD
// NOLINTEND(cert-dcl58-cpp)
}  // namespace std
