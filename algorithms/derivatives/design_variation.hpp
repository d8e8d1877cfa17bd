#pragma once

#include <Eigen/Dense>
#include <utility>
#include <vector>

#include "algorithms/derivatives/variation/design_rows.hpp"
#include "algorithms/derivatives/variation/law_variation.hpp"
#include "espalier/kernel/errors.hpp"
#include "espalier/kernel/problems/design_variation.hpp"

namespace espalier {

/// Derivatives along families of robots: inertias by their rows of the regressor, placements as
/// locked virtual joints, couplings and laws by (18.1); all from one adjoint sweep. What a family
/// changes of the model's numbers and of a law's phi, K and k is a difference of its neighbours,
/// that of the dynamics is exact. Source: theory/derivatives 17 and 18.
template <class T>
class AdjointVariation final : public DesignVariation<T> {
 public:
  using typename DesignVariation<T>::Family;
  using typename DesignVariation<T>::Spanning;

  explicit AdjointVariation(ModelPtr model)
      : DesignVariation<T>(std::move(model)),
        state_(this->model(), VariationState<T>::Columns::skip),
        sweep_(this->model()),
        scratch_(3UL * this->model().nv()) {}

  void add(Family family) override {
    expect_alike(family);
    changes_.push_back(changes(family));
    const std::vector<T> zero(this->model().spanning_nv(), T(0.0));
    spanning_.push_back({zero, zero, zero});
    families_.push_back(std::move(family));
  }
  const std::vector<Family>& families() const override { return families_; }
  const Spanning& spanning(std::size_t family) const override { return spanning_[family]; }

 private:
  struct InertiaRate10 {
    int body;
    double by[10];  ///< of m, m c, J
  };
  struct PlacementRate {
    int body;
    double twist[6];
  };
  struct RotorRate {
    int rotor;
    double inertia;
    Vec3<double> momentum;
  };
  /// What a family changes, per unit of its number.
  struct Changes {
    std::vector<InertiaRate10> inertias;
    std::vector<PlacementRate> placements;
    std::vector<RotorRate> rotors;
    std::vector<std::pair<int, double>> armature;  ///< rate and how it grows
    std::vector<LawVariation> laws;                ///< per cluster that may vary
  };

  void expect_alike(const Family& f) const {
    const Model& m = this->model();
    for (const ModelPtr& other : {f.less, f.more}) {
      bool alike = other != nullptr && other->nq() == m.nq() && other->nv() == m.nv() &&
                   other->joints().size() == m.joints().size() &&
                   other->rotors().size() == m.rotors().size() &&
                   other->clusters().size() == m.clusters().size() &&
                   other->armature().size() == m.armature().size();
      for (std::size_t i = 0; alike && i < m.joints().size(); ++i) {
        const Joint &a = m.joints()[i], &b = other->joints()[i];
        alike = a.name == b.name && a.q == b.q && a.v == b.v && a.independent == b.independent;
      }
      if (!alike) {
        throw InvalidModel("design variation: a neighbour in family '" + f.name +
                           "' has other joints, rotors or clusters than the model, expected the "
                           "same (compile it from the same file with the same options)");
      }
    }
    if (!(f.apart > 0.0)) {
      throw InvalidModel("design variation: the neighbours in family '" + f.name + "' are " +
                         std::to_string(f.apart) + " apart, expected a positive number");
    }
  }
  Changes changes(const Family& f) const {
    const Model &m = this->model(), &less = *f.less, &more = *f.more;
    const double per = 1.0 / f.apart;
    Changes out;
    for (int i = 1; i <= m.active_body_count(); ++i) {
      const RigidInertia<double>&a = less.folded_inertia(i), &b = more.folded_inertia(i);
      const Vec3<double> h = scale(per, b.h - a.h);
      const InertiaRate10 rate{
          i,
          {per * (b.m - a.m), h.x, h.y, h.z, per * (b.I.xx - a.I.xx), per * (b.I.yy - a.I.yy),
           per * (b.I.zz - a.I.zz), per * (b.I.xy - a.I.xy), per * (b.I.xz - a.I.xz),
           per * (b.I.yz - a.I.yz)}};
      if (any(rate.by)) out.inertias.push_back(rate);
      const PlacementRate moved = placement_rate(i, less, more, per);
      if (any(moved.twist)) out.placements.push_back(moved);
    }
    for (std::size_t r = 0; r < m.rotors().size(); ++r) {
      const Rotor &a = less.rotors()[r], &b = more.rotors()[r];
      const RotorRate rate{static_cast<int>(r), per * (b.inertia - a.inertia),
                           scale(per, b.momentum - a.momentum)};
      if (rate.inertia != 0.0 || dot(rate.momentum, rate.momentum) != 0.0) {
        out.rotors.push_back(rate);
      }
    }
    for (std::size_t k = 0; k < m.armature().size(); ++k) {
      const auto [rate, inertia] = less.armature()[k];
      const double grows = per * (more.armature()[k].second - inertia);
      const bool folded = !m.rotors().empty() && rate >= m.rotors().front().v;
      if (grows != 0.0 && !folded) out.armature.push_back({rate, grows});
    }
    for (std::size_t k = 0; k < m.clusters().size(); ++k) {
      if (m.clusters()[k].constrained) {
        out.laws.emplace_back(m, less, more, static_cast<int>(k), per, f.name);
      }
    }
    return out;
  }
  template <std::size_t n>
  static bool any(const double (&x)[n]) {
    for (const double entry : x) {
      if (entry != 0.0) return true;
    }
    return false;
  }
  /// Twist by which a joint's frame moves on its parent, in its own axes.
  PlacementRate placement_rate(int i, const Model& less, const Model& more, double per) const {
    const Mat3<double>& E = this->model().body(i).placement.E;
    const Transform<double>&a = less.body(i).placement, &b = more.body(i).placement;
    Mat3<double> dE;
    for (int k = 0; k < 3; ++k) dE.row[k] = scale(per, b.E.row[k] - a.E.row[k]);
    // w× = -dE E^T.
    const Mat3<double> W = dE * E.transposed();
    const Vec3<double> u = E * scale(per, b.r - a.r);
    return {i,
            {0.5 * (W.row[1].z - W.row[2].y), 0.5 * (W.row[2].x - W.row[0].z),
             0.5 * (W.row[0].y - W.row[1].x), u.x, u.y, u.z}};
  }

  void compute(const T* q, const T* v, const T* vdot, const T* lambda, T* gradient,
               const Loads<T>* loads) override {
    const long n = this->model().nv();
    state_.update(q, v, this->gravity(), loads);
    state_.accelerate(vdot);
    T* x = scratch_.data();
    sweep_.evaluate(state_, lambda, x, x + n, x + 2 * n);
    for (std::size_t k = 0; k < families_.size(); ++k) {
      Changes& of = changes_[k];
      gradient[k] = numbers(of);
      for (LawVariation& law : of.laws) {
        gradient[k] += law.evaluate(state_, sweep_, q, v, vdot, lambda, spanning_[k]);
      }
    }
  }
  /// What inertias, placements and rotors say.
  T numbers(const Changes& of) const {
    T sum = T(0.0), rows[10];
    for (const InertiaRate10& rate : of.inertias) {
      inertial_rows(state_, sweep_, rate.body, rows);
      for (int k = 0; k < 10; ++k) sum += rate.by[k] * rows[k];
    }
    for (const PlacementRate& rate : of.placements) {
      placement_rows(state_, sweep_, rate.body, rows);
      for (int k = 0; k < 6; ++k) sum += rate.twist[k] * rows[k];
    }
    for (const RotorRate& rate : of.rotors) {
      const Rotor& rotor = this->model().rotors()[rate.rotor];
      const T &w = state_.motion.qd()[rotor.v], &wd = state_.motion.qdd()[rotor.v];
      const T& by_rate = sweep_.lambda()[rotor.v];
      sum += rate.inertia * by_rate * wd;
      if (rotor.parent == 0) continue;
      const auto& o = state_.body[rotor.parent];
      const Vec3<T> k = transpose_times(o.X.E, rate.momentum);
      sum += dot(sweep_.twist(rotor.parent).w, scale(wd, k) + scale(w, cross(o.v.w, k))) +
             by_rate * dot(k, o.a.w);
    }
    for (const auto& [rate, grows] : of.armature) {
      sum += grows * sweep_.lambda()[rate] * state_.motion.qdd()[rate];
    }
    return sum;
  }

  VariationState<T> state_;
  AdjointSweep<T> sweep_;
  std::vector<Family> families_;
  std::vector<Changes> changes_;
  std::vector<Spanning> spanning_;
  std::vector<T> scratch_;
};

}  // namespace espalier
