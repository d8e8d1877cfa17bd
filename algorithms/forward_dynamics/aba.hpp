#pragma once

#include "algorithms/newton_euler.hpp"
#include "espalier/kernel/model/spanning_motion.hpp"
#include "espalier/kernel/problems.hpp"

namespace espalier {

/// Forward dynamics of a tree by the articulated-body algorithm.
/// Cost: O(n).  Source: Featherstone (2008), Table 7.1; SPEC section 2.1, instance A.
///
/// Frames: world axes, origin of each body's frame. Inertias then pass from body to parent by a
/// shift alone, and only the ten numbers of each rigid inertia are ever turned.
///
/// The velocity terms are taken out first: with f the wrenches at vdot = 0 (gravity, velocity
/// products and external wrenches, by the Newton-Euler equations), the remaining accelerations da
/// obey the linear
///   f_i + I_i da_i,   da_i = da_parent + S_i qdd_i (shifted),
/// so that the articulated sweep needs no c_i, and bodies start with pA = f.
///
/// C-ABA (c_aba.hpp) is made of the same passes, with clusters in between.
template <class T>
class Aba : public ForwardDynamics<T> {
 public:
  explicit Aba(ModelPtr model)
      : ForwardDynamics<T>(std::move(model)),
        motion_(this->model(), SpanningMotion<T>::Rotors::skip),
        body_(this->model().active_body_count() + 1),
        rate_(this->model().spanning_nv()),
        D_(this->model().spanning_nv() * max_rates) {
    body_[0].E = Mat3<T>::identity();
    body_[0].motion = {Vec3<T>::zero(), Vec3<T>::zero(), Vec3<T>::zero(), Mat3<T>::zero()};
    body_[0].da = Motion<T>::zero();
    for (int i = 1; i <= this->model().active_body_count(); ++i) {
      body_[i].parent = this->model().body(i).parent;
      body_[i].moments = Moments<double>::from(this->model().folded_inertia(i));
    }
    for (const auto& [rate, inertia] : this->model().armature()) rate_[rate].armature = inertia;
  }

 protected:
  static constexpr int max_rates = 6;

  struct BodyState {
    int parent = 0;
    Moments<double> moments;    // body axes
    Mat3<T> E;                  // world to body axes
    Vec3<T> r;                  // from the parent's origin to the body's
    BodyMotion<T> motion;       // at vdot = 0
    ArticulatedInertia<T> IA;   // starts as the rigid inertia
    Force<T> pA;
    Motion<T> da;
  };
  struct RateState {
    Motion<T> S;  // unit motion of the rate
    Force<T> U;   // IA S
    T u;          // tau - S^T pA
    double armature = 0.0;
  };

  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    const Model& model = this->model();
    move(q, v, wrenches);
    for (std::size_t r = model.runs().size(); r-- > 0;) {
      const BodyRun& run = model.runs()[r];
      with_subspace(run, [&](auto ops) { inward<decltype(ops)>(run, 0, run.count, tau); });
    }
    for (const BodyRun& run : model.runs()) {
      with_subspace(run, [&](auto ops) {
        outward_accelerations<decltype(ops)>(run, 0, run.count, vdot);
      });
    }
  }

  /// Pass 1 for all bodies: motion and wrenches at vdot = 0.
  void move(const T* q, const T* v, const Wrenches<T>* wrenches) {
    const Model& model = this->model();
    motion_.update(q, v);
    body_[0].motion.a = Vec3<T>::from(-this->gravity());
    const T* g = motion_.g();
    for (const BodyRun& run : model.active_runs()) {
      with_subspace(run, [&](auto ops) {
        if (g == nullptr) {
          outward_velocities<decltype(ops), false>(run, motion_.qd(), g);
        } else {
          outward_velocities<decltype(ops), true>(run, motion_.qd(), g);
        }
      });
    }
    if (wrenches == nullptr) return;
    for (int i = 1; i <= model.active_body_count(); ++i) {
      const Force<T>& w = (*wrenches)[i];
      body_[i].pA -= Force<T>{transpose_times(body_[i].E, w.n), transpose_times(body_[i].E, w.f)};
    }
  }

  /// Base to tips: attitude, unit motions, motion at vdot = 0, the wrench that it needs, and the
  /// rigid inertia in world axes.
  /// @param v, g  spanning rates, and spanning accelerations at vdot = 0 (if `accelerated`)
  template <class Ops, bool accelerated>
  void outward_velocities(const BodyRun& run, const T* v, const T* g) {
    for (int k = 0; k < run.count; ++k) {
      const int i = run.first + k, at = run.v + k * Ops::n;
      BodyState& b = body_[i];
      const BodyState& p = body_[b.parent];
      const Transform<T>& X = motion_.joints.X[i];

      b.E = X.E * p.E;
      b.r = transpose_times(p.E, X.r);
      Motion<T> vJ = Motion<T>::zero(), c = Motion<T>::zero();
      if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
        rate_[at].S = {b.E.row[2], Vec3<T>::zero()};
        vJ.w = scale(v[at], b.E.row[2]);
        if constexpr (accelerated) c.w = scale(g[at], b.E.row[2]);
      } else if constexpr (std::is_same_v<Ops, SubspaceOps<PrismaticAxes>>) {
        rate_[at].S = {Vec3<T>::zero(), b.E.row[2]};
        vJ.v = scale(v[at], b.E.row[2]);
        if constexpr (accelerated) c.v = scale(g[at], b.E.row[2]);
      } else {
        for (int j = 0; j < Ops::n; ++j) {
          const Motion<T> S = Ops::column(motion_.joints.S.data() + at, j);
          rate_[at + j].S = {transpose_times(b.E, S.w), transpose_times(b.E, S.v)};
          vJ += scale(v[at + j], rate_[at + j].S);
          if constexpr (accelerated) c += scale(g[at + j], rate_[at + j].S);
        }
        if constexpr (Ops::dense) {
          const Motion<T>& bias = motion_.joints.bias[i];
          c += Motion<T>{transpose_times(b.E, bias.w), transpose_times(b.E, bias.v)};
        }
      }
      b.motion = next_motion(p.motion, b.r, vJ, c);
      const Moments<T> moments = turned(b.moments, b.E);
      b.pA = inertial_wrench(moments, b.motion);
      b.IA = moments.articulated();
    }
  }

  /// Tips to base: what inertia and force a body shows when its joint and all joints beyond are
  /// free, handed on to the parent. For bodies begin <= k < end of a run.
  /// @param tau  such that tau[rate] belongs to a spanning rate
  template <class Ops>
  void inward(const BodyRun& run, int begin, int end, const T* tau) {
    for (int k = end - 1; k >= begin; --k) {
      const int i = run.first + k, at = run.v + k * Ops::n;
      if constexpr (Ops::n == 1) {
        inward_one<Ops>(body_[i], rate_[at], tau[at]);
      } else {
        inward_several<Ops::n>(body_[i], at, tau);
      }
    }
  }

  /// One rate. The shift to the parent is taken before the rank-one update, so that it does not
  /// wait for the division.
  template <class Ops>
  void inward_one(BodyState& b, RateState& rate, const T& tau) {
    rate.U = times<Ops>(b.IA, rate.S);
    const T D = power<Ops>(rate.S, rate.U) + rate.armature;
    const T inverse = T(1.0) / D;
    rate.u = (tau - power<Ops>(rate.S, b.pA)) * inverse;
    const Force<T> U{rate.U.n + cross(b.r, rate.U.f), rate.U.f};
    rate.U = scale(inverse, rate.U);
    if (b.parent == 0) return;
    ArticulatedInertia<T> Ia = shifted(b.IA, b.r);
    Ia.subtract_outer(inverse, U);
    BodyState& p = body_[b.parent];
    p.IA += Ia;
    p.pA += Force<T>{b.pA.n + cross(b.r, b.pA.f), b.pA.f} + scale(rate.u, U);
  }

  template <int n>
  void inward_several(BodyState& b, int at, const T* tau) {
    RateState* rate = rate_.data() + at;
    Ldlt<T, n>& D = factor_of<n>(at);
    for (int j = 0; j < n; ++j) {
      rate[j].U = b.IA * rate[j].S;
      for (int l = j; l < n; ++l) D.L[l][j] = dot(rate[l].S, rate[j].U);
      D.L[j][j] += rate[j].armature;
      rate[j].u = tau[at + j] - dot(rate[j].S, b.pA);
    }
    D.factor();
    if (b.parent == 0) return;
    // With L the unit factor of D, U D^-1 U^T = sum of w_j w_j^T / d_j, w = L^-1 U.
    ArticulatedInertia<T> Ia = b.IA;
    Force<T> pa = b.pA;
    Force<T> w[n];
    T x[n];
    for (int j = 0; j < n; ++j) {
      w[j] = rate[j].U;
      x[j] = rate[j].u;
      for (int l = 0; l < j; ++l) {
        w[j] -= scale(D.L[j][l], w[l]);
        x[j] -= D.L[j][l] * x[l];
      }
      Ia.subtract_outer(D.L[j][j], w[j]);
      pa += scale(D.L[j][j] * x[j], w[j]);
    }
    BodyState& p = body_[b.parent];
    p.IA += shifted(Ia, b.r);
    p.pA += Force<T>{pa.n + cross(b.r, pa.f), pa.f};
  }

  /// Base to tips: accelerations.
  template <class Ops>
  void outward_accelerations(const BodyRun& run, int begin, int end, T* vdot) {
    constexpr int n = Ops::n;
    for (int k = begin; k < end; ++k) {
      const int i = run.first + k, at = run.v + k * n;
      BodyState& b = body_[i];
      const Motion<T>& p = body_[b.parent].da;
      const Motion<T> a{p.w, p.v + cross(p.w, b.r)};
      T* qdd = vdot + at;
      if constexpr (n == 1) {
        qdd[0] = rate_[at].u - dot(a, rate_[at].U);
      } else {
        for (int j = 0; j < n; ++j) qdd[j] = rate_[at + j].u - dot(a, rate_[at + j].U);
        factor_of<n>(at).solve(qdd);
      }
      b.da = a;
      for (int j = 0; j < n; ++j) b.da += scale(qdd[j], rate_[at + j].S);
    }
  }

  // I S and S^T f for one rate, without the half of S that is zero.
  template <class Ops>
  static Force<T> times(const ArticulatedInertia<T>& I, const Motion<T>& S) {
    if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
      return {I.A * S.w, transpose_times(I.B, S.w)};
    } else if constexpr (std::is_same_v<Ops, SubspaceOps<PrismaticAxes>>) {
      return {I.B * S.v, I.C * S.v};
    } else {
      return I * S;
    }
  }
  template <class Ops>
  static T power(const Motion<T>& S, const Force<T>& f) {
    if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
      return dot(S.w, f.n);
    } else if constexpr (std::is_same_v<Ops, SubspaceOps<PrismaticAxes>>) {
      return dot(S.v, f.f);
    } else {
      return dot(S, f);
    }
  }

  template <int n>
  Ldlt<T, n>& factor_of(int rate) {
    static_assert(sizeof(Ldlt<T, n>) <= sizeof(T) * max_rates * n);
    return *reinterpret_cast<Ldlt<T, n>*>(D_.data() + rate * max_rates);
  }

  SpanningMotion<T> motion_;
  std::vector<BodyState> body_;
  std::vector<RateState> rate_;
  std::vector<T> D_;  ///< factors of bodies with several rates
};

}  // namespace espalier
