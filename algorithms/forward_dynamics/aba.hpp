#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "algorithms/forward_dynamics/world_body.hpp"
#include "algorithms/free_body.hpp"
#include "algorithms/limb_sweeps.hpp"
#include "espalier/kernel/model/spanning_motion.hpp"
#include "espalier/kernel/problems.hpp"

namespace espalier {

/// Forward dynamics of a tree by the articulated-body algorithm.
/// Cost: O(n).  Source: Featherstone (2008), Table 7.1; SPEC section 2.1, instance A.
///
/// The velocity terms are taken out first: with f the wrenches at vdot = 0 (gravity, velocity
/// products and external wrenches, by the Newton-Euler equations), the remaining accelerations da
/// obey the linear
///   f_i + I_i da_i,   da_i = da_parent + S_i qdd_i (shifted),
/// so that the articulated sweep needs no c_i, and bodies start with pA = f.
///
/// Chains of bodies on revolute joints are limbs (limb_sweeps.hpp), which have the same three
/// passes in frames of their own. All other bodies are here.
///
/// Frames: world axes, origin of each body's frame. Inertias then pass from body to parent by a
/// shift alone, and only the ten numbers of each rigid inertia are ever turned. Where all of the
/// robot hangs on one floating joint, the axes of that body stand for the world's: gravity is
/// turned instead, and the body's own motion subspace is the identity. So do the axes of a body of
/// a limb for what hangs on it, unless a cluster hangs on others, too.
///
/// C-ABA (c_aba.hpp) is made of the same passes, with clusters in between.
template <class T>
class Aba : public ForwardDynamics<T> {
 public:
  explicit Aba(ModelPtr model) : Aba(model, LimbJoints::of(*model)) { turn_joints(); }

 protected:
  /// @param looked_at  bodies whose motion in world axes is wanted in any case
  Aba(ModelPtr model, const LimbJoints& joints, const std::vector<int>& looked_at = {})
      : ForwardDynamics<T>(std::move(model)),
        motion_(this->model(), SpanningMotion<T>::Rotors::skip) {
    const Model& m = this->model();
    LimbPlan plan(m, joints);
    const std::vector<RigidInertia<double>> inertia = plan.inertia;
    limbs_ = std::make_unique<LimbSweeps<T>>(m, std::move(plan), looked_at);
    root_ = floating_root(m, m.active_body_count());
    make_bodies(inertia, looked_at);
    motion_.leave_out(limbs_->whole_runs(), limbs_->whole_clusters());
    align();
    for (int j = 0; root_ > 0 && j < 6; ++j) {
      rate_[j].S = SubspaceOps<FreeAxes>::column<T>(nullptr, j);
    }
  }

  static constexpr int max_rates = 6;

  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    const Model& model = this->model();
    move(q, v, wrenches);
    for (std::size_t k = moves().size(); k-- > 0;) {
      const LimbMove& m = moves()[k];
      if (m.group >= 0) {
        inward_limbs(m.group, tau);
      } else {
        const BodyRun& run = model.runs()[m.run];
        with_subspace(run, [&](auto ops) { inward<decltype(ops)>(run, m.begin, m.end, tau); });
      }
    }
    for (const LimbMove& m : moves()) {
      if (m.group >= 0) {
        outward_limbs(m.group, vdot);
      } else {
        const BodyRun& run = model.runs()[m.run];
        with_subspace(run, [&](auto ops) {
          outward_accelerations<decltype(ops)>(run, m.begin, m.end, vdot);
        });
      }
    }
  }

  /// Takes of joints that turn about z no more than sines and cosines, but where loops are closed
  /// by joints and ask where bodies are.
  void turn_joints() {
    const Model& m = this->model();
    std::vector<bool> left_out = limbs_->whole_runs();
    for (std::size_t r = 0; r < left_out.size(); ++r) {
      const BodyRun& run = m.runs()[r];
      if (left_out[r] || !are_revolute(run)) continue;
      const int end = run.first + run.count;
      bool asked = false;
      for (int i = run.first; i < end; ++i) {
        const ClusterConstraint* constraint = m.clusters()[m.body(i).cluster].constraint.get();
        asked = asked || (constraint != nullptr && !constraint->loops.empty());
      }
      if (asked) continue;
      left_out[r] = true;
      limbs_->turn_too(static_cast<int>(r));
      for (int i = run.first; i < end && i < static_cast<int>(body_.size()); ++i) {
        body_[i].turned = true;
      }
    }
    motion_.leave_out(std::move(left_out), limbs_->whole_clusters());
  }

  /// Pass 1 for all bodies: motion and wrenches at vdot = 0.
  void move(const T* q, const T* v, const Wrenches<T>* wrenches) {
    const Model& model = this->model();
    motion_.update(q, v);
    limbs_->turn(model, q);
    body_[0].motion.a = Vec3<T>::from(-this->gravity());
    if (root_ > 0) move_root();
    const T* g = motion_.g();
    for (const LimbMove& m : moves()) {
      if (m.group >= 0) {
        move_limbs(m.group, v);
        continue;
      }
      const BodyRun& run = model.runs()[m.run];
      const int begin = run.first + m.begin == root_ ? m.begin + 1 : m.begin;
      with_subspace(run, [&](auto ops) {
        if (g == nullptr) {
          outward_velocities<decltype(ops), false>(run, begin, m.end, motion_.qd(), g);
        } else {
          outward_velocities<decltype(ops), true>(run, begin, m.end, motion_.qd(), g);
        }
      });
    }
    if (wrenches == nullptr) return;
    for (int i = 1; i <= model.active_body_count(); ++i) push(i, (*wrenches)[i]);
  }

  /// Takes a wrench in a body's frame off the one that the body needs.
  void push(int body, const Force<T>& w) {
    if (limbs_->contains(body)) return limbs_->push(body, w);
    WorldBody<T>& b = body_[body];
    b.pA -= Force<T>{transpose_times(b.E, w.n), transpose_times(b.E, w.f)};
  }

  // --- the root -----------------------------------------------------------------------------------

  void move_root() {
    const T* v = motion_.qd();
    WorldBody<T>& b = body_[root_];
    b.r = Vec3<T>::zero();
    const Vec3<T> omega{v[0], v[1], v[2]}, velocity{v[3], v[4], v[5]};
    b.motion = {omega, Vec3<T>::zero(),
                motion_.joints.X[root_].E * body_[0].motion.a + cross(omega, velocity)};
    const Moments<T> moments{b.moments.m, Vec3<T>::from(b.moments.h), Sym3<T>::from(b.moments.Sigma)};
    b.pA = inertial_wrench(moments, b.motion.a, acceleration_matrix(omega, b.motion.alpha));
    b.inertia.start(moments);
  }
  void inward_root(const T* tau) {
    WorldBody<T>& b = body_[root_];
    ArticulatedInertia<T>& IA = b.inertia.open();
    IA.A.xx += rate_[0].armature, IA.A.yy += rate_[1].armature, IA.A.zz += rate_[2].armature;
    IA.C.xx += rate_[3].armature, IA.C.yy += rate_[4].armature, IA.C.zz += rate_[5].armature;
    for (int j = 0; j < 6; ++j) rate_[j].u = tau[j] - b.pA[j];
  }
  void outward_root(T* vdot) {
    WorldBody<T>& b = body_[root_];
    const WorldRate<T>* rate = rate_.data();
    b.da = free_acceleration<T>(
        b.inertia.open(), {{rate[0].u, rate[1].u, rate[2].u}, {rate[3].u, rate[4].u, rate[5].u}});
    for (int j = 0; j < 6; ++j) vdot[j] = b.da[j];
  }

  const std::vector<LimbMove>& moves() const { return limbs_->way().moves; }

  // --- limbs --------------------------------------------------------------------------------------

  void move_limbs(int group, const T* v) {
    for (const int c : limbs_->way().carriers[group]) {
      Station<T>& s = limbs_->station(c);
      const WorldBody<T>& b = body_[c];
      if (c == 0) {  // stands still
        s.a = b.motion.a;
        continue;
      }
      s.omega = b.aligned ? b.motion.omega : b.E * b.motion.omega;
      s.alpha = b.aligned ? b.motion.alpha : b.E * b.motion.alpha;
      s.a = b.aligned ? b.motion.a : b.E * b.motion.a;
      s.IA = ArticulatedInertia<T>::zero();
      s.pA = Force<T>::zero();
    }
    limbs_->outward_motion(group, v, nullptr);
    for (const int p : limbs_->way().ports[group]) {
      const Station<T>& s = limbs_->station(p);
      WorldBody<T>& b = body_[p];
      if (b.aligned) {
        b.motion = {s.omega, s.alpha, s.a};
      } else {
        b.E = limbs_->attitude(p, body_[limbs_->plan().carrier(p)].E);
        b.motion = {transpose_times(b.E, s.omega), transpose_times(b.E, s.alpha),
                    transpose_times(b.E, s.a)};
      }
      b.inertia.start(Moments<T>::zero());
      b.pA = Force<T>::zero();
    }
  }
  void inward_limbs(int group, const T* tau) {
    for (const int p : limbs_->way().ports[group]) {
      Station<T>& s = limbs_->station(p);
      const WorldBody<T>& b = body_[p];
      if (b.aligned) {
        s.IA += b.inertia.articulated(), s.pA += b.pA;
      } else {
        s.IA += turned(b.inertia.articulated(), b.E.transposed());
        s.pA += Force<T>{b.E * b.pA.n, b.E * b.pA.f};
      }
    }
    limbs_->inward_inertia(group, tau);
    for (const int c : limbs_->way().carriers[group]) {
      const Station<T>& s = limbs_->station(c);
      WorldBody<T>& b = body_[c];
      if (c == 0) continue;
      if (b.aligned) {
        b.inertia.add(s.IA), b.pA += s.pA;
      } else {
        b.inertia.add(turned(s.IA, b.E));
        b.pA += Force<T>{transpose_times(b.E, s.pA.n), transpose_times(b.E, s.pA.f)};
      }
    }
  }
  void outward_limbs(int group, T* vdot) {
    for (const int c : limbs_->way().carriers[group]) {
      if (c == 0) continue;
      const WorldBody<T>& b = body_[c];
      limbs_->station(c).da = b.aligned ? b.da : Motion<T>{b.E * b.da.w, b.E * b.da.v};
    }
    limbs_->outward_acceleration(group, vdot);
    for (const int p : limbs_->way().ports[group]) {
      WorldBody<T>& b = body_[p];
      const Motion<T>& da = limbs_->station(p).da;
      b.da = b.aligned ? da : Motion<T>{transpose_times(b.E, da.w), transpose_times(b.E, da.v)};
    }
  }
  /// E^T I E.
  static ArticulatedInertia<T> turned(const ArticulatedInertia<T>& I, const Mat3<T>& E) {
    return {congruence(E, I.A), E.transposed() * (I.B * E), congruence(E, I.C)};
  }

  /// Base to tips: attitude, unit motions, motion at vdot = 0, the wrench that it needs, and the
  /// rigid inertia in world axes.
  /// @param v, g  spanning rates, and spanning accelerations at vdot = 0 (if `accelerated`)
  template <class Ops, bool accelerated>
  void outward_velocities(const BodyRun& run, int begin, int end, const T* v, const T* g) {
    for (int k = begin; k < end; ++k) {
      const int i = run.first + k, at = run.v + k * Ops::n;
      WorldBody<T>& b = body_[i];
      const WorldBody<T>& p = body_[b.parent];
      const Transform<T>& X = motion_.joints.X[i];

      if (b.turned) {
        b.place(p, this->model().body(i).placement, limbs_->sine(i), limbs_->cosine(i));
      } else {
        b.E = X.E * p.E;
        b.r = transpose_times(p.E, X.r);
      }
      FrameMotion<T> m;
      if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
        const Vec3<T>& z = b.E.row[2];
        m = next_motion(p.motion, b.r, scale(v[at], z),
                        accelerated ? scale(g[at], z) : Vec3<T>::zero());
      } else {
        Motion<T> vJ = Motion<T>::zero(), c = Motion<T>::zero();
        if constexpr (std::is_same_v<Ops, SubspaceOps<PrismaticAxes>>) {
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
        m = next_motion(p.motion, b.r, vJ, c);
      }
      if (b.seen) b.motion = m;
      const Moments<T> moments = espalier::turned(b.moments, b.E);
      b.inertia.start(moments);
      b.pA = inertial_wrench(moments, m.a, acceleration_matrix(m.omega, m.alpha));
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
        inward_one<Ops>(body_[i], rate_[at], tau[at], rate_[at].armature, [](Force<T>&) {});
      } else if (i == root_) {
        inward_root(tau + at);
      } else {
        inward_several<Ops::n>(body_[i], at, tau);
      }
    }
  }

  /// One rate. The shift to the parent is taken before the rank-one update, so that it does not
  /// wait for the division.
  /// @param inertia, reflect  what is reflected on the rate; reflect() adds to what a unit of it
  ///                          takes of the body
  template <class Ops, class Reflect>
  void inward_one(WorldBody<T>& b, WorldRate<T>& rate, const T& tau, double inertia,
                  Reflect&& reflect) {
    Force<T> F = b.template times<Ops>(rate);
    const T D = b.template power<Ops>(rate, F) + inertia;
    reflect(F);
    const T inverse = T(1.0) / D;
    rate.u = (tau - b.template power<Ops>(rate, b.pA)) * inverse;
    const Force<T> U{F.n + cross(b.r, F.f), F.f};
    rate.U = scale(inverse, F);
    if (b.parent == 0) return;
    ArticulatedInertia<T> Ia = b.inertia.shifted_by(b.r);
    Ia.subtract_outer(inverse, U);
    WorldBody<T>& p = body_[b.parent];
    p.inertia.add(Ia);
    p.pA += Force<T>{b.pA.n + cross(b.r, b.pA.f), b.pA.f} + scale(rate.u, U);
  }

  template <int n>
  void inward_several(WorldBody<T>& b, int at, const T* tau) {
    WorldRate<T>* rate = rate_.data() + at;
    Ldlt<T, n>& D = factor_of<n>(at);
    ArticulatedInertia<T> Ia = b.inertia.articulated();
    for (int j = 0; j < n; ++j) {
      rate[j].U = Ia * rate[j].S;
      for (int l = j; l < n; ++l) D.L[l][j] = dot(rate[l].S, rate[j].U);
      D.L[j][j] += rate[j].armature;
      rate[j].u = tau[at + j] - dot(rate[j].S, b.pA);
    }
    D.factor();
    if (b.parent == 0) return;
    // With L the unit factor of D, U D^-1 U^T = sum of w_j w_j^T / d_j, w = L^-1 U.
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
    WorldBody<T>& p = body_[b.parent];
    p.inertia.add(shifted(Ia, b.r));
    p.pA += Force<T>{pa.n + cross(b.r, pa.f), pa.f};
  }

  /// Base to tips: accelerations.
  template <class Ops>
  void outward_accelerations(const BodyRun& run, int begin, int end, T* vdot) {
    constexpr int n = Ops::n;
    for (int k = begin; k < end; ++k) {
      const int i = run.first + k, at = run.v + k * n;
      if (i == root_) {
        outward_root(vdot + at);
        continue;
      }
      WorldBody<T>& b = body_[i];
      const Motion<T>& p = body_[b.parent].da;
      const Motion<T> a{p.w, p.v + cross(p.w, b.r)};
      T* qdd = vdot + at;
      if constexpr (n == 1) {
        qdd[0] = rate_[at].u - dot(a, rate_[at].U);
      } else {
        for (int j = 0; j < n; ++j) qdd[j] = rate_[at + j].u - dot(a, rate_[at + j].U);
        factor_of<n>(at).solve(qdd);
      }
      if (!b.seen) continue;
      b.da = a;
      for (int j = 0; j < n; ++j) b.da += scale(qdd[j], b.unit(rate_[at + j]));
    }
  }

  template <int n>
  Ldlt<T, n>& factor_of(int rate) {
    static_assert(sizeof(Ldlt<T, n>) <= sizeof(T) * max_rates * n);
    return *reinterpret_cast<Ldlt<T, n>*>(D_.data() + rate * max_rates);
  }

  SpanningMotion<T> motion_;
  std::vector<WorldBody<T>> body_;
  std::vector<WorldRate<T>> rate_;
  std::vector<T> D_;  ///< factors of bodies with several rates

 private:
  /// The ground, and all bodies and rates up to the last ones that are seen here.
  /// @param inertia  LimbPlan::inertia
  /// @param looked_at  bodies whose motion is wanted even if nothing hangs on them
  void make_bodies(const std::vector<RigidInertia<double>>& inertia,
                   const std::vector<int>& looked_at) {
    const Model& m = this->model();
    int last = 0, rates = 0;
    for (int i = 1; i <= m.active_body_count(); ++i) {
      if (limbs_->contains(i)) continue;
      last = i;
      rates = std::max(rates, m.body(i).v + m.body(i).nv);
    }
    for (const int port : limbs_->way().all_ports) last = std::max(last, port);
    body_.resize(last + 1);
    rate_.resize(rates);
    D_.resize(rates * max_rates);
    body_[0].motion = {Vec3<T>::zero(), Vec3<T>::zero(), Vec3<T>::zero()};
    body_[0].da = Motion<T>::zero();
    for (int i = 1; i <= last; ++i) {
      body_[i].parent = m.body(i).parent;
      const bool turns = m.runs()[m.body(i).run].subspace == SubspaceKind::revolute_z;
      if (turns && m.body(i).v < rates) rate_[m.body(i).v].turns = true;
      body_[i].moments = Moments<double>::from(inertia[i]);
      const Mat3<double>& E = m.body(i).placement.E;
      body_[i].coaxial = E(0, 0) == 1.0 && E(1, 1) == 1.0;
    }
    for (int i = 1; i <= m.active_body_count(); ++i) {
      const int p = m.body(i).parent;
      if (p <= last) body_[p].seen = true;
    }
    for (const int body : looked_at) body_[body].seen = true;
    for (const auto& [rate, armature] : m.armature()) {
      if (rate < rates) rate_[rate].armature = armature;
    }
  }

  /// Chooses whose axes stand for the world's: of the ground, of the root, and of ports (bodies of
  /// limbs that others hang on) unless a cluster meets axes of several.
  void align() {
    const Model& m = this->model();
    const LimbPlan& plan = limbs_->plan();
    std::vector<int> axes(m.active_body_count() + 1, 0);  // per body: the port, or 0: the world's
    for (int i = 1; i <= m.active_body_count(); ++i) {
      axes[i] = limbs_->contains(i) ? i : axes[m.body(i).parent];
    }
    for (const int port : limbs_->way().all_ports) body_[port].aligned = true;
    for (const Cluster& c : m.clusters()) {
      if (limbs_->contains(c.first)) continue;
      std::vector<int> met;
      for (int i = c.first; i < c.first + c.count; ++i) met.push_back(axes[i]);
      for (const int output : c.outputs) met.push_back(axes[output]);
      for (int r = c.rotor; r < c.rotor + c.rotors; ++r) met.push_back(axes[m.rotors()[r].carrier]);
      if (std::equal(met.begin() + 1, met.end(), met.begin())) continue;
      for (int port : met) {  // and all on the way to it have the world's
        for (; port != 0; port = axes[plan.carrier(port)]) body_[port].aligned = false;
      }
    }
    body_[0].aligned = body_[root_].aligned = true;
    for (WorldBody<T>& b : body_) {
      if (b.aligned) b.E = Mat3<T>::identity();
    }
  }

 protected:
  int root_ = 0;  ///< floating_root()
  std::unique_ptr<LimbSweeps<T>> limbs_;
};

}  // namespace espalier
