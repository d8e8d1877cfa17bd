#pragma once

#include "espalier/kernel/problems/algorithm.hpp"

/// Helpers with which a problem reads named inputs and writes named results.

namespace espalier {

namespace detail {
/// Result number k of a list, made on first use.
template <class V>
BasicResult<V>& result(BasicResults<V>& out, std::size_t k, std::string_view name) {
  if (out.size() <= k) out.resize(k + 1);
  if (out[k].name != name) out[k].name = name;
  return out[k];
}
[[noreturn]] ESPALIER_API void refuse_named_inputs();
/// Named inputs as an algorithm's scalar wants them: themselves, or variables to be counted.
template <class T, class V>
auto lifted(const In<V>& x) {
  if constexpr (std::is_same_v<T, V>) {
    return x;
  } else {
    std::vector<T> variables;
    for (long i = 0; i < x.size(); ++i) variables.push_back(T::variable(x[i]));
    return variables;
  }
}
template <class T, class V>
const Wrenches<T>* lifted(const Wrenches<V>* wrenches) {
  if constexpr (std::is_same_v<T, V>) {
    return wrenches;
  } else {
    return nullptr;
  }
}
/// A number of an answer as results have it.
template <class V, class T>
V lowered(const T& x) {
  if constexpr (std::is_same_v<T, V>) {
    return x;
  } else {
    return lane(x, 0);
  }
}
/// Has f(Out<T>) write a result's values.
template <class T, class V, class F>
[[gnu::always_inline]] inline void answer(BasicResult<V>& r, F&& f) {
  if constexpr (std::is_same_v<T, V>) {
    f(Out<T>(r.values));
  } else {
    std::vector<T> values(r.values.size());
    f(Out<T>(values));
    for (std::size_t i = 0; i < values.size(); ++i) r.values[i] = lowered<V>(values[i]);
  }
}
}  // namespace detail

}  // namespace espalier
