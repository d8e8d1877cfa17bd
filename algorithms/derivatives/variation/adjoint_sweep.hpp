#pragma once

#include <array>
#include <vector>

#include "algorithms/derivatives/variation/variation_state.hpp"

namespace espalier {

/// Gradient of lambda^T tau in O(n), (19.1): twists under the multipliers outward, their momenta
/// inward; no composite inertia and no pairs.
template <class T>
class AdjointSweep {
 public:
  explicit AdjointSweep(const Model& model)
      : model_(model),
        w_(model.body_count() + 1),
        mu_(model.body_count() + 1),
        beta_(model.body_count() + 1),
        epsilon_(model.body_count() + 1),
        total_(model.body_count() + 1),
        lambda_(model.spanning_nv()),
        ga_(model.spanning_nv()),
        gv_(model.spanning_nv()),
        gq_(model.spanning_nv()) {}

  /// @param s  after accelerate()
  void evaluate(VariationState<T>& s, const T* lambda, T* by_q, T* by_v, T* by_vdot) {
    s.motion.expand(lambda, lambda_.data());
    const bool wrenches = s.wrenches.vary();
    w_[0] = Motion<T>::zero();
    for (const Cluster& c : model_.clusters()) {
      for (int i = c.first; i < c.first + c.count; ++i) {
        const Body& b = model_.body(i);
        w_[i] = w_[b.parent];
        for (int k = 0; k < b.nv; ++k) w_[i] += scale(lambda_[b.v + k], s.S[b.v + k]);
        const auto& state = s.body[i];
        const Motion<T>& v = state.v;
        mu_[i] = state.I * w_[i];
        beta_[i] = scale(T(2.0), half_inertia_rate_transpose_times(state.I, v, w_[i], mu_[i]));
      }
      s.cluster_forces(c, total_.data() + c.first);
    }
    for (const Rotor& rotor : model_.rotors()) {
      const int o = rotor.parent;
      const T& by_rotor = lambda_[rotor.v];
      ga_[rotor.v] = rotor.inertia * by_rotor;
      gv_[rotor.v] = gq_[rotor.v] = T(0.0);
      if (o == 0) continue;
      const Vec3<T> k = s.momentum(rotor), vk = cross(s.body[o].v.w, k);
      mu_[o].n += scale(by_rotor, k);
      // (v x* k) lambda, and the spin's part of the momentum in Bhat.
      beta_[o] += scale(by_rotor, vk) + scale(s.motion.qd()[rotor.v], cross(k, w_[o].w));
      ga_[rotor.v] += dot(k, w_[o].w);
      gv_[rotor.v] = dot(vk, w_[o].w);
      if (s.wrenches.rotors_loaded()) {
        gq_[rotor.v] =
            -dot(w_[o], s.wrenches.by_turn(static_cast<int>(&rotor - model_.rotors().data())));
      }
    }
    if (wrenches) {
      for (int i = 1; i <= model_.active_body_count(); ++i) {
        epsilon_[i] = s.wrenches.own_E[i].transpose_times(w_[i]);
      }
    }
    for (int i = model_.active_body_count(); i > 0; --i) {
      const int p = model_.body(i).parent;
      if (p == 0) continue;
      mu_[p] += mu_[i], beta_[p] += beta_[i];
      if (wrenches) epsilon_[p] += epsilon_[i];
    }
    for (int i = 1; i <= model_.active_body_count(); ++i) joint(s, i, wrenches);
    if (const JointForces<T>* joints = s.joint_forces()) {
      for (int k = 0; k < model_.spanning_nv(); ++k) {
        if (!joints->by_position.empty()) gq_[k] -= joints->by_position[k] * lambda_[k];
        if (!joints->by_rate.empty()) gv_[k] -= joints->by_rate[k] * lambda_[k];
      }
    }
    s.motion.reduce(ga_.data(), by_vdot);
    s.motion.reduce(gv_.data(), by_v);
    s.motion.reduce(gq_.data(), by_q);
    for (const Cluster& c : model_.clusters()) {
      if (s.motion.varies(c)) cluster(s, c, lambda, by_q, by_v);
    }
  }

  // Of the last evaluate().
  const Motion<T>& twist(int i) const { return w_[i]; }     ///< under the multipliers
  const std::vector<T>& lambda() const { return lambda_; }  ///< per spanning rate, as below
  const std::vector<T>& by_position() const { return gq_; }
  const std::vector<T>& by_rate() const { return gv_; }
  const std::vector<T>& by_acceleration() const { return ga_; }
  /// Derivative where body i and all that hangs on it move along S, whose rates are held at zero,
  /// on a parent of velocity v and acceleration a.
  T along(const VariationState<T>& s, int i, const Motion<T>& S, const Motion<T>& v,
          const Motion<T>& a) const {
    const Motion<T> psi1 = cross(v, S), psi2 = cross(a, S) + cross(v, psi1);
    T sum = dot(psi2, mu_[i]) + dot(psi1.w, beta_[i]) +
            dot(cross(w_[s.model().body(i).parent], S), total_[i]);
    if (s.wrenches.vary()) sum += dot(S.w, epsilon_[i].w) + dot(S.v, epsilon_[i].v);
    return sum;
  }

 private:
  void joint(const VariationState<T>& s, int i, bool wrenches) {
    const Body& b = model_.body(i);
    const auto& state = s.body[i];
    const Motion<T>& v = s.body[b.parent].v;
    const Motion<T> a = b.parent == 0 ? s.ground(i) : s.body[b.parent].a;
    const bool bends = s.motion.subspace_varies(i);
    for (int k = 0; k < b.nv; ++k) {
      const Motion<T>& S = s.S[b.v + k];
      Motion<T> psi1 = cross(v, S), ups = psi1 + cross(state.v, S);
      Motion<T> psi2 = cross(a, S) + cross(v, psi1);
      T own = dot(cross(w_[b.parent], S), total_[i]);
      if (bends) {
        T unit[6], rest[6];
        for (int l = 0; l < b.nv; ++l) unit[l] = T(l == k ? 1.0 : 0.0), rest[l] = T(0.0);
        std::array<Motion<T>, 6> dS;
        Motion<T> dbias;
        s.motion.vary_joint(i, rest, unit, dS.data(), dbias);
        ups += state.X.inverse_times(dbias);
        s.motion.vary_joint(i, unit, rest, dS.data(), dbias);
        Motion<T> d_vJ = Motion<T>::zero();
        psi2 += state.X.inverse_times(dbias);
        for (int l = 0; l < b.nv; ++l) {
          const Motion<T> dSl = state.X.inverse_times(dS[l]);
          d_vJ += scale(s.motion.qd()[b.v + l], dSl);
          psi2 += scale(s.motion.qdd()[b.v + l], dSl);
          own += lambda_[b.v + l] * dot(dSl, total_[i]);
        }
        psi1 += d_vJ;
        psi2 += cross(v, d_vJ) + cross(state.v, d_vJ);
      }
      ga_[b.v + k] = dot(S, mu_[i]) + s.armature(b.v + k) * lambda_[b.v + k];
      gv_[b.v + k] = dot(S.w, beta_[i]) + dot(ups, mu_[i]);
      gq_[b.v + k] = dot(psi2, mu_[i]) + dot(psi1.w, beta_[i]) + own;
      if (wrenches) gq_[b.v + k] += dot(S.w, epsilon_[i].w) + dot(S.v, epsilon_[i].v);
    }
  }
  /// What G's variation adds.
  void cluster(const VariationState<T>& s, const Cluster& c, const T* lambda, T* by_q, T* by_v) {
    const T *V = s.motion.V(c), *W = s.motion.W(c), *P = s.motion.P(c);
    for (int k = 0; k < c.nv; ++k) {
      for (int i = 0; i < c.rows(); ++i) {
        const int rate = c.rate(i);
        by_v[c.v + k] += W[i * c.nv + k] * ga_[rate];
        by_q[c.v + k] += V[i * c.nv + k] * gv_[rate] + P[i * c.nv + k] * ga_[rate];
      }
    }
    s.motion.add_H_transposed(c, s.tau_s.data(), lambda + c.v, by_q + c.v);
  }

  const Model& model_;
  std::vector<Motion<T>> w_;              ///< twist of each body under the multipliers
  std::vector<Force<T>> mu_;              ///< sum of I w
  std::vector<Vec3<T>> beta_;             ///< sum of Bhat^T w
  std::vector<Motion<T>> epsilon_;        ///< sum of E^T w
  std::vector<Force<T>> total_;           ///< wrench of the subtree
  std::vector<T> lambda_, ga_, gv_, gq_;  ///< per spanning rate
};

}  // namespace espalier
