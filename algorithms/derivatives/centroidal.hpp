#pragma once

#include "algorithms/derivatives/variation/variation_state.hpp"
#include "espalier/kernel/problems/kinematics/centroidal_dynamics.hpp"

namespace espalier {

/// Centroidal momentum and its derivatives from composite bodies: a coordinate moves the momentum
/// of what it carries, S x* h, and varies it, I psi1; likewise its rate.
/// Source: Orin, Goswami, Lee (2013); Carpentier, Mansard (2018); theory/derivatives 12 without
/// gravity.
template <class T>
class CompositeCentroidal final : public CentroidalDynamics<T> {
 public:
  explicit CompositeCentroidal(ModelPtr model)
      : CentroidalDynamics<T>(std::move(model)), state_(this->model()) {
    const std::size_t n = this->model().nv();
    answer_.momentum.resize(6), answer_.rate.resize(6), answer_.com.resize(3);
    for (auto* m :
         {&answer_.matrix, &answer_.momentum_by_q, &answer_.rate_by_q, &answer_.rate_by_v}) {
      m->resize(6 * n);
    }
    answer_.com_by_q.resize(3 * n);
  }

  T margin() override { return state_.motion.margin(); }

 private:
  using typename CentroidalDynamics<T>::Answer;

  const Answer& compute(const T* q, const T* v, const T* vdot) override {
    const Model& model = this->model();
    const long n = model.nv();
    state_.update(q, v, {0, 0, 0}, nullptr);
    state_.accelerate(vdot);
    state_.compose();
    // All trees together, in the world's frame.
    Force<T> h = Force<T>::zero(), hd = h;
    T mass = T(0.0);
    Vec3<T> moment = Vec3<T>::zero();
    for (int i = 1; i <= model.active_body_count(); ++i) {
      if (state_.support(i) != 0) continue;
      const auto& b = state_.body[i];
      const Transform<T> X = state_.common(i);
      h += X.transpose_times_force(b.B.h);
      hd += X.transpose_times_force(b.f);
      mass += b.IC.m;
      moment += transpose_times(X.E, b.IC.h) + scale(b.IC.m, X.r);
    }
    for (const Rotor& r : model.rotors()) {
      if (r.parent != 0) continue;  // spins on the ground, its centre of mass at rest
      const Body& rotor = model.body(r.body);
      mass += T(rotor.inertia.m);
      moment += Vec3<T>::from(transpose_times(rotor.placement.E, rotor.inertia.h) +
                              scale(rotor.inertia.m, rotor.placement.r));
    }
    // The centre of what has no mass stands at the origin, as center-of-mass says.
    const T inverse = model.mass() > 0.0 ? T(1.0) / mass : T(0.0);
    const Vec3<T> c = scale(inverse, moment);
    for (const Rotor& r : model.rotors()) {
      if (r.parent != 0) continue;
      const Vec3<T> k = Vec3<T>::from(r.momentum);
      h.n += scale(state_.motion.qd()[r.v], k);
      hd.n += scale(state_.motion.qdd()[r.v], k);
    }
    store(answer_.momentum, 0, 1, {h.n - cross(c, h.f), h.f});
    store(answer_.rate, 0, 1, {hd.n - cross(c, hd.f), hd.f});
    for (int k = 0; k < 3; ++k) answer_.com[k] = c[k];

    for (const Cluster& cluster : model.clusters()) {
      const Transform<T> X = state_.common(cluster.first);
      for (int k = 0; k < cluster.nv; ++k) {
        Force<T> by_v = Force<T>::zero(), by_q = by_v, rate_by_v = by_v, rate_by_q = by_v;
        for (int i = cluster.first; i < cluster.first + cluster.count; ++i) {
          const auto& b = state_.body[i];
          const VariationColumn<T>& x = state_.columns(i)[k];
          by_v += b.IC * x.S;
          by_q += b.IC * x.psi1 + cross_star(x.S, b.B.h);
          rate_by_v += b.B.times(x.S.w) + b.IC * x.ups;
          rate_by_q += b.B.times(x.psi1.w) + b.IC * x.psi2 + cross_star(x.S, b.f);
        }
        for (int r = cluster.rotor; r < cluster.rotor + cluster.rotors; ++r) {
          const Rotor& rotor = model.rotors()[r];
          const Vec3<T> K = state_.momentum(rotor);
          const Vec3<T> vK =
              rotor.parent == 0 ? Vec3<T>::zero() : cross(state_.body[rotor.parent].v.w, K);
          const auto entry = [&](const T* m) { return m[cluster.row(rotor.v) * cluster.nv + k]; };
          const T p = entry(state_.motion.G(cluster));
          const bool varies = state_.motion.varies(cluster);
          const T V = varies ? entry(state_.motion.V(cluster)) : T(0.0);
          const T W = varies ? entry(state_.motion.W(cluster)) : T(0.0);
          const T P = varies ? entry(state_.motion.P(cluster)) : T(0.0);
          by_v.n += scale(p, K);
          by_q.n += scale(V, K);
          rate_by_v.n += scale(p, vK) + scale(W, K);
          rate_by_q.n += scale(V, vK) + scale(P, K);
        }
        // Into the world, then to the centre of mass, which moves by the mean of the masses.
        Force<T>* const all[] = {&by_v, &by_q, &rate_by_v, &rate_by_q};
        for (Force<T>* f : all) *f = X.transpose_times_force(*f);
        const Vec3<T> dc = scale(inverse, by_v.f);
        const auto about = [&](const Force<T>& f) -> Force<T> {
          return {f.n - cross(c, f.f), f.f};
        };
        by_q.n -= cross(dc, h.f);
        rate_by_q.n -= cross(dc, hd.f);
        const long j = cluster.v + k;
        store(answer_.matrix, j, n, about(by_v));
        store(answer_.momentum_by_q, j, n, about(by_q));
        store(answer_.rate_by_v, j, n, about(rate_by_v));
        store(answer_.rate_by_q, j, n, about(rate_by_q));
        for (int l = 0; l < 3; ++l) answer_.com_by_q[l * n + j] = dc[l];
      }
    }
    return answer_;
  }
  static void store(std::vector<T>& m, long column, long columns, const Force<T>& f) {
    for (int k = 0; k < 6; ++k) m[k * columns + column] = f[k];
  }

  VariationState<T> state_;
  Answer answer_;
};

}  // namespace espalier
