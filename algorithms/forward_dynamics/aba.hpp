#pragma once

#include <memory>

#include "algorithms/chains/units/ask_ahead.hpp"
#include "algorithms/segments/articulated/articulated_rows.hpp"
#include "algorithms/segments/articulated/chain_group.hpp"
#include "algorithms/segments/articulated/floating_base.hpp"
#include "algorithms/segments/articulated/plain_run.hpp"
#include "espalier/kernel/problems/dynamics/forward_dynamics.hpp"

namespace espalier {

/// Forward dynamics of a tree by the articulated-body algorithm.
/// Cost: O(n).  Source: Featherstone (2008), Table 7.1; theory/template 2.1, instance A.
///
/// The velocity terms are taken out first: with f the wrenches at vdot = 0 (gravity, velocity
/// products and external wrenches, by the Newton-Euler equations), the remaining accelerations da
/// obey the linear
///   f_i + I_i da_i,   da_i = da_parent + S_i qdd_i (shifted),
/// so that the articulated sweep needs no c_i, and bodies start with pA = f. Then, tips to base,
///   U = IA S,  D = S^T U,  u = tau - S^T pA
///   Ia = IA - U D^-1 U^T,  pa = pA + U D^-1 u,  both added to the parent's IA and pA,
/// and base to tips
///   qdd = D^-1 (u - U^T da_parent),  da = da_parent + S qdd.
///
/// A tree of revolute joints that branches often is passed several bodies at once
/// (articulated_rows.hpp).
///
/// Frames: world axes, origin of each body's frame (ArticulatedState); chains have their own.
template <class T>
class Aba final : public ForwardDynamics<T> {
 public:
  explicit Aba(ModelPtr model)
      : ForwardDynamics<T>(std::move(model)),
        schedule_(this->model(), RowLanes<T>::size),
        state_(this->model(), schedule_) {
    if constexpr (RowLanes<T>::size > 1) rows_ = rows_that_pay(this->model());
  }

 private:
  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    if constexpr (RowLanes<T>::size > 1) {
      if (rows_ != nullptr) return rows_->compute(q, v, tau, vdot, wrenches, this->gravity());
      using ChainPass = void(const ChainGroup&, ArticulatedState<T>&);
      ask_for_code<6, 1>(static_cast<ChainPass*>(forward_velocities<T>));  // chains' own before it
    }
    state_.update(q, v, this->gravity());
    schedule_.outward([&](const auto& s) { forward_velocities(s, state_); });
    if (wrenches != nullptr) state_.apply(*wrenches);
    schedule_.inward([&](const auto& s) { eliminate(s, state_, tau); });
    schedule_.outward([&](const auto& s) { forward_accelerations(s, state_, vdot); });
  }

  /// Rows pass four bodies of a level in the time of two that follow each other in a chain: they
  /// are ahead where chains are short, and level on a humanoid.
  static std::unique_ptr<ArticulatedRows<T>> rows_that_pay(const Model& model) {
    using Rows = TurningRows<RowLanes<T>::size>;
    constexpr std::size_t few = 3;  // bodies of a chain, on average
    if (!Rows::can_pass(model)) return nullptr;
    std::size_t in_chains = 0;
    const ChainPlan plan(model, ChainJoints::of(model));
    for (const Chain& chain : plan.chains) in_chains += chain.bodies.size();
    if (in_chains > few * plan.chains.size()) return nullptr;
    const Rows rows(model);
    return rows.pays(model) ? std::make_unique<ArticulatedRows<T>>(model, rows) : nullptr;
  }

  Schedule<ChainGroup, PlainRun, FloatingBase> schedule_;
  ArticulatedState<T> state_;
  std::unique_ptr<ArticulatedRows<T>> rows_;  ///< of a branching tree, instead of the segments
};

}  // namespace espalier
