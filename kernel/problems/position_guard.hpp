#pragma once

#include <memory>
#include <string_view>
#include <tuple>

#include "espalier/kernel/model/inertia/inertia_groups.hpp"

namespace espalier::detail {

/// Looks at positions before an algorithm divides by the inertia of groups that may have none.
/// Belongs to one thread; takes its memory at each scalar's first call.
class PositionGuard {
 public:
  explicit PositionGuard(const Model& model) : model_(model) {}

  /// 0, or NaN in lanes of singular positions.
  template <class T>
  T doubt(const T* q) {
    const T zero = T(0.0);
    const T pivot = guard<T>().least_pivot(q), bound = T(smallest_pivot<T>);
    return select_less(pivot, bound, zero / zero, zero);
  }
  /// @throws SingularMechanism naming the joints
  void expect_inertia(std::string_view who, const double* q);

 private:
  template <class T>
  InertiaGuard<T>& guard() {
    std::unique_ptr<InertiaGuard<T>>& mine = std::get<std::unique_ptr<InertiaGuard<T>>>(guards_);
    if (mine == nullptr) mine = std::make_unique<InertiaGuard<T>>(model_, model_.inertia_groups());
    return *mine;
  }

  const Model& model_;
  std::tuple<std::unique_ptr<InertiaGuard<double>>, std::unique_ptr<InertiaGuard<Pack>>,
             std::unique_ptr<InertiaGuard<FloatPack>>>
      guards_;
};

}  // namespace espalier::detail
