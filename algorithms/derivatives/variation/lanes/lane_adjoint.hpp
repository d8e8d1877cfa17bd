#pragma once

#include <vector>

#include "algorithms/derivatives/variation/lanes/lane_poses.hpp"
#include "algorithms/derivatives/variation/lanes/slot_moves.hpp"
#include "algorithms/derivatives/variation/variation_terms.hpp"

namespace espalier {

/// Gradient of lambda^T tau on trees of joints of one rate without loads, (19.1), four joints in a
/// register: motions under rates, accelerations and multipliers outward, wrenches and momenta
/// inward. As in LaneDerivatives, the joints' own motions stand for those of their parents.
/// Frame: that of VariationState.
class LaneAdjoint {
 public:
  static bool pays(const Model& model) { return JointLanes::pays(model); }
  /// @param model  that pays()
  explicit LaneAdjoint(const Model& model)
      : model_(model),
        plan_(model),
        poses_(model, plan_),
        groups_(plan_.groups().size()),
        twist_(3 * plan_.slots(), Quad(0.0)),
        acceleration_(2 * plan_.slots(), Quad(0.0)),
        sums_(4 * plan_.slots(), Quad(0.0)) {}

  void evaluate(const double* q, const double* v, const double* vdot, const double* lambda,
                const Vec3<double>& gravity, double* by_q, double* by_v, double* by_vdot) {
    poses_.update(q, gravity);
    start_roots(v, vdot, lambda);
    const auto each = [&](auto&& f) {  // whose group and state
      const JointLanes::Group* g = plan_.groups().data();
      for (GroupState *s = groups_.data(), *end = s + groups_.size(); s != end; ++s, ++g) f(*g, *s);
    };
    Quad *const twist = twist_.data(), *const acceleration = acceleration_.data();
    each([&](const JointLanes::Group& g, GroupState& s) {
      const Transform<Quad> X = poses_.pose(g);
      s.S = LanePoses::axis(g, X);
      s.I = congruence(X, g.inertia);
      s.rate = plan_.of_rates(v, g), s.lambda = plan_.of_rates(lambda, g);
      give_twists(scale(s.rate, s.S), scale(s.lambda, s.S), twist + 3 * g.slot);
    });
    slot_moves::sum_outward<3>(plan_.runs(), twist);
    each([&](const JointLanes::Group& g, GroupState& s) {
      take_twists(twist + 3 * g.slot, s.v, s.w);
      s.psi1 = cross(s.v, s.S);
      s.acceleration = plan_.of_rates(vdot, g);
      give(scale(s.rate, s.psi1) + scale(s.acceleration, s.S), acceleration + 2 * g.slot);
    });
    slot_moves::sum_outward<2>(plan_.runs(), acceleration);
    each([&](const JointLanes::Group& g, GroupState& s) { add_own(g, s); });
    each([&](const JointLanes::Group& g, GroupState& s) {
      if (g.has_rotors) add_rotors(g, s);
    });
    slot_moves::inward<4, 4, 0>(plan_.runs(), sums_.data(), nullptr);
    each([&](const JointLanes::Group& g, GroupState& s) { finish(g, s, by_q, by_v, by_vdot); });
    for (std::size_t r = 0; r < plan_.roots().size(); ++r) {
      finish_root(r, v, lambda, by_q, by_v, by_vdot);
    }
  }

 private:
  /// What bodies hand to their parents.
  template <class T>
  struct Sums {
    Force<T> f;    ///< wrench of the subtree
    Force<T> mu;   ///< sum of I w
    Vec3<T> beta;  ///< half the sum of Bhat^T w
  };
  struct GroupState {
    Motion<Quad> S, psi1, psi2;  ///< of the joint
    Motion<Quad> v, w;           ///< of the body, under the rates and the multipliers
    RigidInertia<Quad> I;
    Quad rate, acceleration, lambda;
    Quad by_v, by_vdot;  ///< parts by rotors
  };
  using Quads = std::vector<Quad>;

  /// Two twists in the three Quads of a slot.
  static void give_twists(const Motion<Quad>& v, const Motion<Quad>& w, Quad* first) {
    slot_moves::give<3>(v.w.x, v.w.y, v.w.z, v.v.x, first);
    slot_moves::give<3>(w.w.x, w.w.y, w.w.z, v.v.y, first + 1);
    slot_moves::give<3>(w.v.x, w.v.y, w.v.z, v.v.z, first + 2);
  }
  static void take_twists(const Quad* first, Motion<Quad>& v, Motion<Quad>& w) {
    slot_moves::take<3>(first, v.w.x, v.w.y, v.w.z, v.v.x);
    slot_moves::take<3>(first + 1, w.w.x, w.w.y, w.w.z, v.v.y);
    slot_moves::take<3>(first + 2, w.v.x, w.v.y, w.v.z, v.v.z);
  }
  static Motion<Quad> take(const Quad* first) {
    return {slot_moves::take<2>(first), slot_moves::take<2>(first + 1)};
  }
  static void give(const Motion<Quad>& x, Quad* first) {
    slot_moves::give<2>(x.w, first), slot_moves::give<2>(x.v, first + 1);
  }
  static Motion<double> six(const double* x) { return {{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; }

  /// f, mu and beta of one body, (19.1a). A call would pass 40 registers through memory.
  /// @param v, a, w  its motions
  template <class T>
  [[gnu::always_inline]] static Sums<T> own(const RigidInertia<T>& I, const Motion<T>& v,
                                            const Motion<T>& a, const Motion<T>& w) {
    const Force<T> h = I * v, mu = I * w;
    return {I * a + cross_star(v, h), mu, half_inertia_rate_transpose_times(I, v, w, mu)};
  }

  void start_roots(const double* v, const double* vdot, const double* lambda) {
    const auto start = [&](int slot, const Motion<double>& twist, const Motion<double>& a,
                           const Motion<double>& w, const Sums<double>& sums) {
      Quad* of = twist_.data() + 3 * slot;
      of[0] = {twist.w.x, twist.w.y, twist.w.z, twist.v.x};
      of[1] = {w.w.x, w.w.y, w.w.z, twist.v.y};
      of[2] = {w.v.x, w.v.y, w.v.z, twist.v.z};
      acceleration_[2 * slot] = slot_moves::quad(a.w);
      acceleration_[2 * slot + 1] = slot_moves::quad(a.v);
      of = sums_.data() + 4 * slot;
      of[0] = {sums.mu.n.x, sums.mu.n.y, sums.mu.n.z, sums.beta.x};
      of[1] = {sums.mu.f.x, sums.mu.f.y, sums.mu.f.z, sums.beta.y};
      of[2] = {sums.f.n.x, sums.f.n.y, sums.f.n.z, sums.beta.z};
      of[3] = slot_moves::quad(sums.f.f);
    };
    const Motion<double> rest = Motion<double>::zero();
    start(JointLanes::ground_slot, rest, {Vec3<double>::zero(), -poses_.gravity()}, rest,
          {Force<double>::zero(), Force<double>::zero(), Vec3<double>::zero()});
    for (std::size_t r = 0; r < plan_.roots().size(); ++r) {
      const JointLanes::Root& root = plan_.roots()[r];
      const Motion<double> twist = six(v + root.rate), w = six(lambda + root.rate);
      Motion<double> a = six(vdot + root.rate);
      a.v += poses_.ground(r);
      start(root.slot, twist, a, w, own(model_.folded_inertia(root.body), twist, a, w));
    }
  }
  void add_own(const JointLanes::Group& g, GroupState& s) {
    const Motion<Quad> a = take(acceleration_.data() + 2 * g.slot);
    s.psi2 = cross(a, s.S) + cross(s.v, s.psi1);
    const Sums<Quad> t = own(s.I, s.v, a, s.w);
    Quad* to = sums_.data() + 4 * g.slot;
    slot_moves::give<4>(t.mu.n.x, t.mu.n.y, t.mu.n.z, t.beta.x, to);
    slot_moves::give<4>(t.mu.f.x, t.mu.f.y, t.mu.f.z, t.beta.y, to + 1);
    slot_moves::give<4>(t.f.n.x, t.f.n.y, t.f.n.z, t.beta.z, to + 2);
    slot_moves::give<4>(t.f.f, to + 3);
  }
  /// What rotors that turn with a group's joints add to their parents, and to the joints.
  void add_rotors(const JointLanes::Group& g, GroupState& s) {
    const Vec3<Quad> spin = poses_.spin(g);
    const Vec3<Quad> w = slot_moves::take<3>(twist_.data() + 1, g.parent);
    const Vec3<Quad> turned = cross(slot_moves::take<3>(twist_.data(), g.parent), spin);
    s.by_vdot = dot(spin, w) + g.rotor_inertia * s.lambda;
    s.by_v = dot(turned, w);
    const Vec3<Quad> mu = scale(s.lambda, spin);
    const Quad half(0.5);
    const Vec3<Quad> beta = scale(half * s.lambda, turned) + scale(half * s.rate, cross(spin, w));
    const Vec3<Quad> n = scale(s.acceleration, spin) + scale(s.rate, turned);
    for (int l = 0; l < g.used; ++l) {
      Quad* to = sums_.data() + 4 * g.parent[l];
      to[0] += Quad(mu.x[l], mu.y[l], mu.z[l], beta.x[l]);
      to[1] += Quad(0.0, 0.0, 0.0, beta.y[l]);
      to[2] += Quad(n.x[l], n.y[l], n.z[l], beta.z[l]);
    }
  }

  void finish(const JointLanes::Group& g, const GroupState& s, double* by_q, double* by_v,
              double* by_vdot) const {
    const Quad* from = sums_.data() + 4 * g.slot;
    Sums<Quad> t;
    slot_moves::take<4>(from, t.mu.n.x, t.mu.n.y, t.mu.n.z, t.beta.x);
    slot_moves::take<4>(from + 1, t.mu.f.x, t.mu.f.y, t.mu.f.z, t.beta.y);
    slot_moves::take<4>(from + 2, t.f.n.x, t.f.n.y, t.f.n.z, t.beta.z);
    t.f.f = slot_moves::take<4>(from + 3);
    Quad ga = dot(s.S, t.mu) + g.armature * s.lambda;
    const Quad two(2.0);
    Quad gv = two * (dot(s.S.w, t.beta) + dot(s.psi1, t.mu));
    const Quad gq =
        dot(s.psi2, t.mu) - dot(s.S, cross_star(s.w, t.f)) + two * dot(s.psi1.w, t.beta);
    if (g.has_rotors) ga += s.by_vdot, gv += s.by_v;
    plan_.to_rates(ga, by_vdot, g), plan_.to_rates(gv, by_v, g), plan_.to_rates(gq, by_q, g);
  }
  /// A floating body's own coordinates are unit twists on a parent at rest.
  void finish_root(std::size_t r, const double* v, const double* lambda, double* by_q, double* by_v,
                   double* by_vdot) const {
    const JointLanes::Root& root = plan_.roots()[r];
    const Quad* from = sums_.data() + 4 * root.slot;
    const Force<double> mu{slot_moves::vec3(from[0]), slot_moves::vec3(from[1])};
    const Force<double> turning = cross_star(six(v + root.rate), mu);
    const Vec3<double> tilted = cross(mu.f, poses_.ground(r));
    for (int k = 0; k < 6; ++k) {
      by_vdot[root.rate + k] = mu[k] + root.armature[k] * lambda[root.rate + k];
      by_v[root.rate + k] = (k < 3 ? 2.0 * from[k][3] : 0.0) - turning[k];
      by_q[root.rate + k] = k < 3 ? tilted[k] : 0.0;
    }
  }

  const Model& model_;
  JointLanes plan_;
  LanePoses poses_;
  std::vector<GroupState> groups_;
  Quads twist_;         ///< slots: twists, and those under the multipliers
  Quads acceleration_;  ///< slots of angular and linear part
  Quads sums_;          ///< slots: mu and f, of which the fourth numbers are beta
};

}  // namespace espalier
