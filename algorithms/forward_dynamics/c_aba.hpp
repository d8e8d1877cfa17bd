#pragma once

#include "algorithms/segments/articulated/chain_group.hpp"
#include "algorithms/segments/articulated/floating_base.hpp"
#include "algorithms/segments/articulated/geared_body.hpp"
#include "algorithms/segments/clusters/cluster_by_fronts.hpp"
#include "algorithms/segments/clusters/cluster_on_one.hpp"
#include "algorithms/segments/clusters/cluster_on_several.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"

namespace espalier {

/// Forward dynamics of a cluster tree by the articulated-body algorithm, fused form: exact for
/// loops of any kind, at about the price of a tree.
/// Cost: O(n), with a small dense factor for each cluster.
/// Source: Chignoli et al. (2023), Algorithm 1; theory/clusters 5.4 (fused, folded rotors) and
/// theory/template 2, instance C.
///
/// As ABA (aba.hpp), the velocity terms being taken out at spanning accelerations g (qdd = G ydd +
/// g). A cluster with supporting bodies o is passed as one joint of several rates ydd would be:
/// with J its bodies' motion for unit rates,
///   Mqq = sum J^T IA J,  Moq = sum Xo^T IA J,  Moo = sum Xo^T IA Xo
///   Ia = Moo - Moq Mqq^-1 Moq^T,  pa = po + Moq Mqq^-1 r,  r = tau - sum J^T pA
///   ydd = Mqq^-1 (r - Moq^T da_o).
/// A cluster of many independent rates is passed without J (ClusterByFronts).
/// @tparam Kinds  of segments that have fast code; ClusterOnSeveral alone is enough for any robot
template <class T, class... Kinds>
class CAbaOver : public ForwardDynamics<T> {
 public:
  explicit CAbaOver(ModelPtr model)
      : ForwardDynamics<T>(std::move(model)),
        schedule_(this->model(), RowLanes<T>::size),
        state_(this->model(), schedule_) {}

 private:
  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    state_.update(q, v, this->gravity());
    schedule_.outward([&](const auto& s) { forward_velocities(s, state_); });
    if (wrenches != nullptr) state_.apply(*wrenches);
    const T* remaining = state_.remaining_forces(tau, wrenches);
    schedule_.inward([&](const auto& s) { eliminate(s, state_, remaining); });
    schedule_.outward([&](const auto& s) { forward_accelerations(s, state_, vdot); });
  }

  Schedule<Kinds...> schedule_;
  ClusterState<T> state_;
};

template <class T>
using CAba = CAbaOver<T, ChainGroup, PlainRun, FloatingBase, GearedBody, ClusterByFronts,
                      ClusterOnOne, ClusterOnSeveral>;

}  // namespace espalier
