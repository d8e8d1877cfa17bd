#pragma once

#include <Eigen/Dense>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "algorithms/derivatives/variation/design/constraint_variation.hpp"
#include "algorithms/derivatives/variation/design/design_rows.hpp"
#include "algorithms/derivatives/variation/design/family_checks.hpp"
#include "espalier/kernel/problems/derivatives/design_variation.hpp"

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
    expect_family<T>(this->model(), families_, family);
    changes_.push_back(changes(family));
    const std::vector<T> zero(this->model().spanning_nv(), T(0.0));
    spanning_.push_back({zero, zero, zero});
    families_.push_back(std::move(family));
  }
  const std::vector<Family>& families() const override { return families_; }
  const Spanning& spanning(std::size_t family) const override { return spanning_[family]; }
  T margin() override { return state_.motion.margin(); }

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
  struct OfConstraint {
    int cluster;
    FamilyChange change;
    ConstraintVariation variation;
  };
  /// What a family changes, per unit of its number.
  struct Changes {
    std::vector<InertiaRate10> inertias;
    std::vector<PlacementRate> placements;
    std::vector<RotorRate> rotors;
    std::vector<std::pair<int, double>> armature;  ///< rate and how it grows
    std::vector<int> couplings;                    ///< clusters of constant G that differ
    std::unique_ptr<Neighbour> less, more;         ///< where constraints differ
    std::vector<OfConstraint> constraints;
  };

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
    // A model lists the rates that have an armature: at 0 one neighbour alone does.
    std::map<int, double> armature;
    for (const auto& [rate, inertia] : more.armature()) armature[rate] += per * inertia;
    for (const auto& [rate, inertia] : less.armature()) armature[rate] -= per * inertia;
    for (const auto& [rate, grows] : armature) {
      const bool folded = !m.rotors().empty() && rate >= m.rotors().front().v;
      if (grows != 0.0 && !folded) out.armature.push_back({rate, grows});
    }
    add_constraints(f, out);
    return out;
  }
  /// Clusters whose couplings, laws or loop joints differ.
  void add_constraints(const Family& f, Changes& out) const {
    const Model& m = this->model();
    std::vector<double> q(m.nq());
    const auto differ = [&](int cluster) {
      FamilyChange change(*out.less, *out.more, cluster, 1.0);
      ConstraintVariation::Vector x, xd, r;
      x = xd = ConstraintVariation::Vector::Zero(m.clusters()[cluster].rows());
      r = ConstraintVariation::Vector::Zero(m.clusters()[cluster].constraint->rows());
      for (long i = 0; i < x.size(); ++i) x[i] = 1.0 + 0.3 * i, xd[i] = 0.7 - 0.2 * i;
      change.start(q.data());
      change.positions(r);
      if (!r.isZero(0.0)) return true;
      change.accelerations(x, xd, r);
      return !r.isZero(0.0);
    };
    for (int k = 0; k < static_cast<int>(m.clusters().size()); ++k) {
      const Cluster& c = m.clusters()[k];
      if (!c.constrained) continue;
      const Cluster &a = f.less->clusters()[k], &b = f.more->clusters()[k];
      if (c.constraint == nullptr) {
        if (a.G != b.G || a.offset != b.offset) out.couplings.push_back(k);
        continue;
      }
      if (out.less == nullptr) {
        out.less = std::make_unique<Neighbour>(f.less);
        out.more = std::make_unique<Neighbour>(f.more);
        m.random(1, q.data());
        out.less->variation.update(q.data(), nullptr);
        out.more->variation.update(q.data(), nullptr);
      }
      if (!differ(k)) continue;
      out.constraints.push_back(
          {k, {*out.less, *out.more, k, 1.0 / f.apart}, ConstraintVariation(m, k)});
    }
    if (out.constraints.empty()) out.less.reset(), out.more.reset();
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
      for (const int cluster : of.couplings) {
        gradient[k] += coupling(families_[k], cluster, q, v, vdot, lambda, spanning_[k]);
      }
      if (of.constraints.empty()) continue;
      of.less->variation.update(q, nullptr);
      of.more->variation.update(q, nullptr);
      for (OfConstraint& c : of.constraints) {
        gradient[k] += c.variation.evaluate(state_, sweep_, c.change);
        const Cluster& cluster = this->model().clusters()[c.cluster];
        for (int i = 0; i < cluster.rows(); ++i) {
          put(spanning_[k], cluster.rate(i), c.variation.dq[i], c.variation.dqd[i],
              c.variation.dqdd[i]);
        }
      }
    }
  }
  static void put(Spanning& out, int rate, const T& dq, const T& dqd, const T& dqdd) {
    out.q[rate] = dq, out.qd[rate] = dqd, out.qdd[rate] = dqdd;
  }
  /// qd = G v with constant G, q = G y + offset.
  T coupling(const Family& f, int cluster, const T* q, const T* v, const T* vdot, const T* lambda,
             Spanning& out) const {
    const Model& m = this->model();
    const Cluster &c = m.clusters()[cluster], &less = f.less->clusters()[cluster],
                  &more = f.more->clusters()[cluster];
    const double per = 1.0 / f.apart;
    T sum = T(0.0);
    for (int i = 0; i < c.rows(); ++i) {
      const int rate = c.rate(i);
      T dq = T(0.0), dqd = dq, dqdd = dq, dw = dq;
      if (!c.offset.empty()) dq = per * (more.offset[i] - less.offset[i]);
      for (int j = 0; j < c.nv; ++j) {
        const std::size_t at = static_cast<std::size_t>(i) * c.nv + j;
        const double dG = per * (more.G[at] - less.G[at]);
        if (dG == 0.0) continue;
        const Joint& leads = m.joint_of_rate(m.independent_rates()[c.v + j]);
        dq += dG * q[leads.q], dqd += dG * v[c.v + j], dqdd += dG * vdot[c.v + j];
        dw += dG * lambda[c.v + j];
      }
      put(out, rate, dq, dqd, dqdd);
      sum += sweep_.by_position()[rate] * dq + sweep_.by_rate()[rate] * dqd +
             sweep_.by_acceleration()[rate] * dqdd + state_.tau_s[rate] * dw;
    }
    return sum;
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
