#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <type_traits>

#include "algorithms/derivatives/variation/lanes/lane_derivatives.hpp"
#include "algorithms/derivatives/variation/pairs/cluster_derivatives.hpp"
#include "algorithms/derivatives/variation/pairs/plain_derivatives.hpp"

namespace espalier {

/// The backward half of derivatives: every cluster from the leaves to the root, those that nothing
/// ties apart.
template <class T>
class DerivativeSweep {
 public:
  enum class Lanes { skip, where_they_pay };  ///< whether lanes() may be asked for

  explicit DerivativeSweep(const VariationState<T>& s, Lanes lanes = Lanes::skip)
      : model_(s.model()), ways_(s), plain_(model_, ways_), clusters_(model_, ways_) {
    if constexpr (std::is_same_v<T, double>) {
      if (lanes == Lanes::where_they_pay) lanes_ = LaneDerivatives::where_they_pay(model_);
    }
  }
  DerivativeSweep(const DerivativeSweep&) = delete;  // its parts refer to one another
  DerivativeSweep& operator=(const DerivativeSweep&) = delete;

  /// What does the work of state and sweep together where limbs can be lanes, which loads prevent;
  /// else null.
  LaneDerivatives* lanes(const Loads<T>* loads) { return any_load(loads) ? nullptr : lanes_.get(); }

  /// tau = G^T tau_s at the accelerations of the state.
  void forces(VariationState<T>& s, T* tau) {
    for (std::size_t k = model_.clusters().size(); k-- > 0;) {
      clusters_.forces(s, model_.clusters()[k], tau);
    }
  }

  /// M alone, from composite inertias; lower and upper triangle. Entries of coordinates of which
  /// none carries the other are zero and are not written.
  void mass_matrix(const VariationState<T>& s, T* M) {
    for (std::size_t k = model_.clusters().size(); k-- > 0;) {
      const Cluster& c = model_.clusters()[k];
      if (s.is_plain(c)) {
        plain_.inertia(s, c, M);
      } else {
        clusters_.inertia(s, c, M);
      }
    }
  }

  /// tau, its derivatives by q and v, and M. Entries of coordinates of which none carries the other
  /// are zero and are not written.
  /// @param M  or nullptr where it is not wanted
  void inverse_dynamics(VariationState<T>& s, T* tau, T* Dq, T* Dv, T* M) {
    for (std::size_t k = 0; k < ways_.order().size(); ++k) {
      const Cluster& c = model_.clusters()[ways_.order()[k]];
      if (s.is_plain(c) && c.nv == 1) {
        plain_.inverse_dynamics(s, c, static_cast<int>(k), tau, Dq, Dv, M);
        continue;
      }
      clusters_.forces(s, c, tau);
      if (s.is_free_root(c.first)) {
        plain_.free_root(s, c, Dq, Dv, M);
        clusters_.joint_forces(s, c, Dq, Dv);
      } else {
        clusters_.inverse_dynamics(s, c, Dq, Dv, M);
      }
    }
  }

  /// Sets entries of coordinates of which none carries the other to zero.
  void clear_unrelated(std::initializer_list<T*> matrices) const {
    ways_.clear_unrelated(matrices);
  }

  /// C of (16.1).
  void coriolis(const VariationState<T>& s, T* C) {
    const long n = model_.nv();
    std::fill(C, C + n * n, T(0.0));
    for (std::size_t k = model_.clusters().size(); k-- > 0;) {
      clusters_.coriolis(s, model_.clusters()[k], C);
    }
  }

 private:
  const Model& model_;
  WaysToGround ways_;
  PlainDerivatives<T> plain_;
  ClusterDerivatives<T> clusters_;
  std::unique_ptr<LaneDerivatives> lanes_;  ///< at double, where LaneDerivatives pays
};

}  // namespace espalier
