#pragma once

#include "algorithms/derivatives/variation/design/constraint_variation.hpp"
#include "algorithms/derivatives/variation/design/design_rows.hpp"
#include "espalier/kernel/problems/derivatives/design_derivatives.hpp"

namespace espalier {

/// Gradient of lambda^T tau by the design: inertial parameters by their rows of the regressor
/// (17.1), placements as locked virtual joints, ratios as variations of their row of G, numbers of
/// laws by (18.1); all from one adjoint sweep. Source: theory/derivatives 17 and 18.
template <class T>
class AdjointDesign final : public DesignDerivatives<T> {
 public:
  explicit AdjointDesign(ModelPtr model)
      : DesignDerivatives<T>(std::move(model)),
        state_(this->model(), VariationState<T>::Columns::skip),
        sweep_(this->model()),
        scratch_(3UL * this->model().nv()) {
    for (const LawParameter& p : this->law_parameters()) {
      if (laws_.empty() || laws_.back().cluster != p.cluster) {
        laws_.push_back({p.cluster, ConstraintVariation(this->model(), p.cluster)});
      }
      law_changes_.push_back({laws_.size() - 1, LawChange(this->model(), p)});
    }
  }

  T margin() override { return state_.motion.margin(); }

 private:
  using Kind = DesignParameter::Kind;

  void compute(const T* q, const T* v, const T* vdot, const T* lambda, T* gradient,
               const Loads<T>* loads) override {
    const long n = this->model().nv();
    state_.update(q, v, this->gravity(), loads);
    state_.accelerate(vdot);
    T* x = scratch_.data();
    sweep_.evaluate(state_, lambda, x, x + n, x + 2 * n);
    const std::vector<DesignParameter>& all = this->parameters();
    for (std::size_t k = 0; k < all.size();) {
      const DesignParameter& p = all[k];
      switch (p.kind) {
        case Kind::inertial:
          inertial_rows(state_, sweep_, p.body, gradient + k), k += 10;
          break;
        case Kind::rotor:
          gradient[k++] = rotor(p.body);
          break;
        case Kind::placement:
          placement_rows(state_, sweep_, p.body, gradient + k), k += 6;
          break;
        case Kind::ratio:
          gradient[k++] = ratio(p, q, v, vdot, lambda);
          break;
        case Kind::law: {
          auto& [of, change] = law_changes_[p.component];
          gradient[k++] = laws_[of].variation.evaluate(state_, sweep_, change);
          break;
        }
      }
    }
  }

  T rotor(int r) const {
    const Rotor& rotor = this->model().rotors()[r];
    const T &rate = state_.motion.qd()[rotor.v], &wd = state_.motion.qdd()[rotor.v];
    const T& by_rate = sweep_.lambda()[rotor.v];
    const double size = std::sqrt(dot(rotor.momentum, rotor.momentum));
    if (rotor.parent == 0 || size == 0.0) return by_rate * wd;
    const auto& o = state_.body[rotor.parent];
    const Vec3<T> z = scale(1.0 / size, state_.momentum(rotor));
    const Vec3<T>& s = sweep_.twist(rotor.parent).w;
    return dot(s, scale(wd, z) + scale(rate, cross(o.v.w, z))) + by_rate * (dot(z, o.a.w) + wd);
  }
  T ratio(const DesignParameter& p, const T* q, const T* v, const T* vdot, const T* lambda) const {
    const Model& m = this->model();
    const Cluster& c = m.clusters()[p.body];
    const int rate = c.rate(p.component / c.nv), j = c.v + p.component % c.nv;
    const Joint& leads = m.joint_of_rate(m.independent_rates()[j]);
    return lambda[j] * state_.tau_s[rate] + sweep_.by_position()[rate] * q[leads.q] +
           sweep_.by_rate()[rate] * v[j] + sweep_.by_acceleration()[rate] * vdot[j];
  }

  struct OfCluster {
    int cluster;
    ConstraintVariation variation;
  };
  VariationState<T> state_;
  AdjointSweep<T> sweep_;
  std::vector<T> scratch_;
  std::vector<OfCluster> laws_;
  std::vector<std::pair<std::size_t, LawChange>> law_changes_;  ///< per law parameter: which, what
};

}  // namespace espalier
