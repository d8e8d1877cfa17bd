#pragma once

#include "algorithms/derivatives/variation/variation_state.hpp"
#include "espalier/kernel/problems/derivatives/kinematics_derivatives.hpp"

namespace espalier {

/// Derivatives of twists and accelerations of links: columns of each body's own cluster and of the
/// bodies that carry it, in the link's axes. Source: theory/derivatives 11 and (15.2) without
/// gravity.
template <class T>
class VariationKinematics final : public KinematicsDerivatives<T> {
 public:
  explicit VariationKinematics(ModelPtr model)
      : KinematicsDerivatives<T>(std::move(model)), state_(this->model()) {}

  void write(const Link& link, const typename KinematicsDerivatives<T>::Of& of) const override {
    const Model& model = this->model();
    const long n = model.nv();
    for (T* m : {of.J, of.J_rate, of.v_by_q, of.a_by_q, of.a_by_v}) std::fill(m, m + 6 * n, T(0.0));
    if (link.body == 0) return;
    if (link.body > model.active_body_count()) {
      throw Unsupported("kinematics derivatives: link '" + link.name +
                        "' is a rotor that is folded into its parent, expected another (compile "
                        "the model with its rotors kept as bodies)");
    }
    const auto& body = state_.body[link.body];
    const auto put = [&](T* m, long j, const Motion<T>& in_common) {
      const Motion<T> x = link.X * (body.X * in_common);
      for (int k = 0; k < 6; ++k) m[k * n + j] = x[k];
    };
    for (int i = link.body; i != 0; i = state_.support(i)) {
      const Cluster& c = model.clusters()[model.body(i).cluster];
      for (int k = 0; k < c.nv; ++k) {
        const VariationColumn<T>& x = state_.columns(i)[k];
        const long j = c.v + k;
        const Motion<T> v_S = cross(body.v, x.S);
        put(of.J, j, x.S);
        put(of.J_rate, j, x.ups - x.psi1 - v_S);
        put(of.v_by_q, j, x.psi1);
        put(of.a_by_q, j, x.psi2 - cross(body.v, x.psi1));
        put(of.a_by_v, j, x.ups - v_S);
      }
    }
  }

  T margin() override { return state_.motion.margin(); }

 private:
  void compute(const T* q, const T* v, const T* vdot) override {
    state_.update(q, v, {0, 0, 0}, nullptr);
    state_.accelerate(vdot);
  }

  VariationState<T> state_;
};

}  // namespace espalier
