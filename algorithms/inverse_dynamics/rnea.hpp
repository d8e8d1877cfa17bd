#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "algorithms/chains/units/ask_ahead.hpp"
#include "algorithms/segments/newton_euler/lone_body.hpp"
#include "algorithms/segments/newton_euler/newton_euler_chain.hpp"
#include "algorithms/segments/newton_euler/newton_euler_run.hpp"
#include "espalier/kernel/problems/dynamics/bias_force.hpp"
#include "espalier/kernel/problems/dynamics/inverse_dynamics.hpp"

namespace espalier {

/// Inverse dynamics by the recursive Newton-Euler algorithm, on a tree and on a cluster tree (there
/// C-RNEA in its fused form). Base to tips, the motion of each body and the wrench f that it needs;
/// tips to base,
///   tau_i = S_i^T f_i,  f_parent += X_i^T f_i.
/// On a cluster tree it runs on the spanning tree with qd = G v and qdd = G vdot + g, and
/// tau = G^T tau_spanning; rotors that spin on a body are folded into it.
///
/// Frame: body; chains have their own (chains/plan.hpp).  Cost: O(n), and the entries of G.
/// Source: Luh, Walker, Paul (1980); Featherstone (2008), Table 5.1; Chignoli et al. (2023),
/// section VI; theory/clusters 5.3 and 5.4 (folded rotors).
/// @tparam Kinds  of segments that have fast code; PlainRun alone is enough for any robot, since
///   clusters dissolve into runs of bodies
template <class T, class... Kinds>
class RneaOver final : public InverseDynamics<T> {
 public:
  using Joints = typename RneaState<T>::Joints;

  /// @param joints  all: motion() has those, too, whose placements are not needed here (not rates)
  explicit RneaOver(ModelPtr model, Joints joints = Joints::needed)
      : InverseDynamics<T>(std::move(model)),
        schedule_(this->model(), RowLanes<T>::size),
        state_(this->model(), schedule_, joints) {
    if (joints == Joints::needed && LoneBody<T>::is(this->model())) lone_.emplace(this->model());
  }

  void share_turns(const JointTurns<T>* turns) override { state_.motion.use(turns); }
  /// The same with vdot = nullptr for zero, for algorithms that need the bias.
  void compute(const T* q, const T* v, const T* vdot, T* tau,
               const Wrenches<T>* wrenches) override {
    if (lone_) return lone_->compute(q, v, vdot, this->gravity(), wrenches, tau);
    if constexpr (has_chains && RowLanes<T>::size > 1) {
      ask_for_object(this);
      using ChainPass = void(const ChainGroup&, RneaState<T>&, const T*);
      ask_for_code<5, 0>(static_cast<ChainPass*>(forward_motion<T>));  // chains' own before it
      ask_for(state_.body.data());
      state_.chains.ask_for_numbers();
    }
    state_.update(q, v, vdot, this->gravity());
    schedule_.outward([&](const auto& s) { forward_motion(s, state_, vdot); });
    if (wrenches != nullptr) state_.apply(*wrenches);
    state_.add_beside_segments(wrenches);
    schedule_.inward([&](const auto& s) { collect_forces(s, state_, tau); });
    state_.reduce(tau, wrenches);
  }

  /// Joints and constraints at the last call; of a lone body with Joints::all only.
  const SpanningMotion<T>& motion() const { return state_.motion; }

 private:
  static constexpr bool has_chains = (std::is_same_v<ChainGroup, Kinds> || ...);

  Schedule<Kinds...> schedule_;
  RneaState<T> state_;
  std::optional<LoneBody<T>> lone_;  ///< of a robot that is no more than that
};

template <class T>
using Rnea = RneaOver<T, ChainGroup, PlainRun>;

/// Bias forces: RNEA at vdot = 0.
template <class T>
class RneaBias final : public BiasForce<T> {
 public:
  explicit RneaBias(ModelPtr model) : BiasForce<T>(model), rnea_(std::move(model)) {}

 private:
  void compute(const T* q, const T* v, T* bias, const Wrenches<T>* wrenches) override {
    rnea_.set_gravity(this->gravity());
    rnea_.compute(q, v, nullptr, bias, wrenches);
  }

  Rnea<T> rnea_;
};

}  // namespace espalier
