#pragma once

#include <vector>

#include "algorithms/derivatives/variation/lane_moves.hpp"
#include "algorithms/derivatives/variation/variation_state.hpp"

namespace espalier {

/// Gradient of lambda^T tau on trees of joints of one rate without loads, (19.1), limbs as lanes:
/// motions under rates, accelerations and multipliers outward, wrenches and momenta inward.
/// Frame: that of VariationState.
class LaneAdjoint {
 public:
  /// @param model  that LaneTree fits
  explicit LaneAdjoint(const Model& model)
      : model_(model),
        tree_(model),
        joints_(model),
        roots_(tree_.roots().size()),
        groups_(tree_.groups().size()) {}

  void evaluate(const double* q, const double* v, const double* vdot, const double* lambda,
                const Vec3<double>& gravity, double* by_q, double* by_v, double* by_vdot) {
    start_roots(q, v, vdot, lambda, gravity);
    for (std::size_t k = 0; k < groups_.size(); ++k) {
      const LaneTree::Group& g = tree_.groups()[k];
      if (g.parent >= 0) {
        outward(g, groups_[g.parent].moving, q, v, vdot, lambda, groups_[k]);
      } else {
        outward(g, gathered(g), q, v, vdot, lambda, groups_[k]);
      }
    }
    for (std::size_t k = groups_.size(); k-- > 0;) {
      inward(tree_.groups()[k], groups_[k], lambda, by_q, by_v, by_vdot);
    }
    for (std::size_t r = 1; r < roots_.size(); ++r) finish_root(r, lambda, by_q, by_v, by_vdot);
  }

 private:
  /// What a body hands to its children.
  template <class T>
  struct Moving {
    Transform<T> X;     ///< common frame to body
    Motion<T> v, a, w;  ///< w: twist under the multipliers
  };
  /// What bodies hand to their parents.
  template <class T>
  struct Sums {
    Force<T> f;    ///< wrench of the subtree
    Force<T> mu;   ///< sum of I w
    Vec3<T> beta;  ///< sum of Bhat^T w
  };
  struct GroupState {
    Moving<Quad> moving;
    Sums<Quad> sums;
    Motion<Quad> S, psi1, psi2, turned;  ///< of the joint; turned: parent's w x S
  };
  struct RootState {
    Moving<double> moving;
    Sums<double> sums;
    Vec3<double> ground;  ///< acceleration that stands for gravity
    RigidInertia<double> inertia;
  };

  /// f, mu and beta of one body. @param v, a, w  its motions
  template <class T>
  static Sums<T> own(const RigidInertia<T>& I, const Motion<T>& v, const Motion<T>& a,
                     const Motion<T>& w) {
    const Force<T> h = I * v, mu = I * w;
    return {I * a + cross_star(v, h), mu,
            (cross_star(v, mu) - cross_star(w, h) - I * cross(v, w)).n};
  }

  void start_roots(const double* q, const double* v, const double* vdot, const double* lambda,
                   const Vec3<double>& gravity) {
    const auto six = [](const double* x) {
      return Motion<double>{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}};
    };
    for (std::size_t r = 0; r < roots_.size(); ++r) {
      const LaneTree::Root& root = tree_.roots()[r];
      RootState& s = roots_[r];
      s.moving.X = Transform<double>::identity();
      s.ground = -gravity;
      s.moving.v = s.moving.w = Motion<double>::zero();
      s.moving.a = {Vec3<double>::zero(), s.ground};
      s.sums = {Force<double>::zero(), Force<double>::zero(), Vec3<double>::zero()};
      if (root.body == 0) continue;
      joints_.update(model_.runs()[root.run], q, nullptr);
      s.ground = joints_.X[root.body].E * -gravity;
      s.moving.v = six(v + root.rate), s.moving.w = six(lambda + root.rate);
      s.moving.a = six(vdot + root.rate);
      s.moving.a.v += s.ground;
      s.sums = own(model_.folded_inertia(root.body), s.moving.v, s.moving.a, s.moving.w);
    }
  }
  /// Parents that stand in lanes elsewhere, or that are roots.
  const Moving<Quad>& gathered(const LaneTree::Group& g) {
    lane_moves::gather_parents<Moving<double>>(
        g, [&](int r) -> const auto& { return roots_[r].moving; },
        [&](int k) -> const auto& { return groups_[k].moving; }, gathered_);
    return gathered_;
  }

  static void outward(const LaneTree::Group& g, const Moving<Quad>& p, const double* q,
                      const double* v, const double* vdot, const double* lambda, GroupState& s) {
    const Quad position = lane_moves::taken(q, g.q), qd = lane_moves::taken(v, g.rate),
               qdd = lane_moves::taken(vdot, g.rate), l = lane_moves::taken(lambda, g.rate);
    Transform<Quad>& X = s.moving.X;
    lane_moves::place(g, p.X, position, X, s.S);
    s.psi1 = cross(p.v, s.S);
    s.psi2 = cross(p.a, s.S) + cross(p.v, s.psi1);
    s.turned = cross(p.w, s.S);
    s.moving.v = p.v + scale(qd, s.S);
    s.moving.a = p.a + scale(qd, s.psi1) + scale(qdd, s.S);
    s.moving.w = p.w + scale(l, s.S);
    s.sums = own(congruence(X, g.inertia), s.moving.v, s.moving.a, s.moving.w);
  }

  void inward(const LaneTree::Group& g, const GroupState& s, const double* lambda, double* by_q,
              double* by_v, double* by_vdot) {
    const Sums<Quad>& t = s.sums;
    const Quad ga = dot(s.S, t.mu) + g.armature * lane_moves::taken(lambda, g.rate);
    const Quad turn = dot(s.psi1, t.mu);
    const Quad gv = dot(s.S.w, t.beta) + (turn + turn);
    const Quad gq = dot(s.psi2, t.mu) + dot(s.psi1.w, t.beta) + dot(s.turned, t.f);
    double answer[3][LaneTree::lanes];
    ga.store(answer[0]), gv.store(answer[1]), gq.store(answer[2]);
    for (int l = 0; l < LaneTree::lanes; ++l) {
      if (g.body[l] == 0) continue;
      by_vdot[g.rate[l]] = answer[0][l];
      by_v[g.rate[l]] = answer[1][l], by_q[g.rate[l]] = answer[2][l];
    }
    if (g.parent >= 0) {
      Sums<Quad>& p = groups_[g.parent].sums;
      p.f += t.f, p.mu += t.mu, p.beta += t.beta;
      return;
    }
    lane_moves::add_to_parents<Sums<double>>(
        g, t, [&](int r) -> auto& { return roots_[r].sums; },
        [&](int k) -> auto& { return groups_[k].sums; });
  }
  /// A floating body's own coordinates are unit twists on a parent at rest.
  void finish_root(std::size_t r, const double* lambda, double* by_q, double* by_v,
                   double* by_vdot) const {
    const RootState& s = roots_[r];
    const int rate = tree_.roots()[r].rate;
    const Force<double>& mu = s.sums.mu;
    const Force<double> turning = cross_star(s.moving.v, mu);
    const Vec3<double> tilted = cross(mu.f, s.ground);
    for (int k = 0; k < 6; ++k) {
      by_vdot[rate + k] = mu[k] + tree_.armature(tree_.roots()[r], k) * lambda[rate + k];
      by_v[rate + k] = (k < 3 ? s.sums.beta[k] : 0.0) - turning[k];
      by_q[rate + k] = k < 3 ? tilted[k] : 0.0;
    }
  }

  const Model& model_;
  LaneTree tree_;
  TreeKinematics<double> joints_;
  std::vector<RootState> roots_;
  std::vector<GroupState> groups_;
  Moving<Quad> gathered_;
};

}  // namespace espalier
