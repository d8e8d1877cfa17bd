#pragma once

#include <utility>
#include <vector>

#include "espalier/kernel/problems/named_results.hpp"

namespace espalier {

namespace detail {
/// Where a problem that has several vectors and matrices over rates writes its results.
template <class T>
struct RateViews {
  static constexpr int most = 4;
  T* data[most];
  long size[most];
  /// Result k, as a vector or as a matrix that stands row after row.
  struct View {
    T* data;
    long size;
    operator Out<T>() const { return {data, size}; }        // NOLINT(google-explicit-constructor)
    operator OutMatrix<T>() const { return {data, size}; }  // NOLINT(google-explicit-constructor)
  };
  View operator[](int k) const { return {data[k], size[k]}; }
};
/// Has f(RateViews) write results; the name of each, and whether it is a matrix.
template <class T, class V, class F>
void rate_results(BasicResults<V>& out, int nv,
                  std::initializer_list<std::pair<const char*, bool>> names, F&& f) {
  RateViews<T> views;
  std::vector<std::vector<T>> lifted;
  if (out.size() < names.size()) out.resize(names.size());
  int k = 0;
  for (const auto& [name, is_matrix] : names) {
    BasicResult<V>& r = result(out, static_cast<std::size_t>(k), name);
    r.shape(ResultAxis::rates, nv, is_matrix ? ResultAxis::rates : ResultAxis::one,
            is_matrix ? nv : 1);
    views.size[k] = static_cast<long>(r.values.size());
    if constexpr (std::is_same_v<T, V>) {
      views.data[k] = r.values.data();
    } else {
      views.data[k] = lifted.emplace_back(r.values.size()).data();
    }
    ++k;
  }
  f(views);
  if constexpr (!std::is_same_v<T, V>) {
    for (int i = 0; i < k; ++i) {
      for (std::size_t j = 0; j < lifted[i].size(); ++j) {
        out[i].values[j] = lowered<V>(lifted[i][j]);
      }
    }
  }
}
/// lambda of an adjoint: ones where the input has none.
template <class T, class V>
std::vector<T> multipliers(const BasicInputViews<V>& in, int nv) {
  if (in.multipliers.empty()) return std::vector<T>(nv, T(1.0));
  const auto given = lifted<T>(in.multipliers);
  return std::vector<T>(given.data(), given.data() + given.size());
}
}  // namespace detail

/// What algorithms for derivatives say of their answers besides the numbers. Derivatives through
/// loops grow like powers of the inverse of the loops' margin, and lose as many digits.
template <class T>
class ESPALIER_API DifferentiatesLoops {
 public:
  /// Below this margin is_near_dead_point(): cond(K) of dependent joints above 1e8.
  static constexpr double least_margin = 1e-8;
  virtual ~DifferentiatesLoops() = default;

  /// Smallest singular value of the loops' dependent columns over the largest of all, bounded from
  /// below, at the position of the last evaluate(): 1 where there are no loops, 0 at a dead point.
  virtual T margin() = 0;
  /// Whether derivatives of the last evaluate() may be far off since loops are near a dead point;
  /// one or zero for each lane. Declare other joints independent there (better_independents()).
  T is_near_dead_point() { return select_less(margin(), T(least_margin), T(1.0), T(0.0)); }

 protected:
  /// Appends both to named results, where a model has loops.
  template <class V>
  void add_margin(const Model& model, BasicResults<V>& out, std::size_t first) {
    if (!model.has_variable_constraints()) return;
    detail::result(out, first + 1, "near_dead_point").shape(ResultAxis::one, 1, ResultAxis::one, 1);
    detail::result(out, first, "singularity_margin").shape(ResultAxis::one, 1, ResultAxis::one, 1);
    out[first].values[0] = detail::lowered<V>(margin());
    out[first + 1].values[0] = detail::lowered<V>(is_near_dead_point());
  }
};

}  // namespace espalier
