#pragma once

#include <algorithm>
#include <type_traits>

#include "algorithms/forward_dynamics/aba.hpp"
#include "algorithms/own_equations.hpp"
#include "algorithms/wide_cluster.hpp"
#include "algorithms/small_ldlt.hpp"

namespace espalier {

/// Forward dynamics of a cluster tree by the articulated-body algorithm, fused form: exact for
/// loops of any kind, at about the price of a tree.
/// Cost: O(n), with a small dense factor for each cluster.
/// Source: Chignoli et al. (2023), Algorithm 2; SPEC sections 5.4 (fused, folded rotors) and 2,
/// instance C.
///
/// Frames and passes are those of ABA (aba.hpp): world axes at body origins, velocity terms taken
/// out first, here at spanning accelerations g. What remains is linear in the independent
/// accelerations, da_b = Xo_b da_out + J_b ydd with J_b = J_parent + S_b G_b, so that a cluster is
/// passed by
///   Mqq = sum J^T IA J,  Moq = sum Xo^T IA J,  Moo = sum Xo^T IA Xo      (X are shifts only)
///   Ia = Moo - Moq Mqq^-1 Moq^T,  pa = po + Moq Mqq^-1 r,  r = tau - sum J^T pA.
/// A folded rotor with axis momentum k, inertia J and row rho of G adds k rho to Moq and J rho^T rho
/// to Mqq; its gyroscopic couple belongs to its carrier.
///
/// Bodies are passed in steps: runs of plain bodies, single bodies with geared rotors on their
/// parents, clusters with one output body, and the rest (wide_cluster.hpp), joints with equations
/// of their own among them.
template <class T>
class CAba final : public Aba<T> {
 public:
  explicit CAba(ModelPtr model) : CAba(model, Nodes(*model)) {}

 private:
  /// What becomes of the model's clusters.
  struct Nodes {
    explicit Nodes(const Model& m)
        : wide(m.clusters().size(), false), joints(LimbJoints::of(m)) {
      std::vector<bool> has_wide_child(m.clusters().size(), false), has_equations = has_wide_child;
      for (const Cluster& c : m.clusters()) {
        if (c.outputs.size() > 1 && c.parent >= 0) has_wide_child[c.parent] = true;
      }
      for (const int i : m.bodies_with_equations()) has_equations[m.body(i).cluster] = true;
      for (std::size_t k = 0; k < m.clusters().size(); ++k) {
        const Cluster& c = m.clusters()[k];
        wide[k] = has_equations[k] ||
                  (c.constrained && (has_wide_child[k] || c.outputs.size() > 1));
        for (int i = c.first; (wide[k] || has_wide_child[k]) && i < c.first + c.count; ++i) {
          joints.turning[i] = false;
        }
        if (!c.constrained || is_geared_body(m, c) || joints.turning[c.first]) continue;
        for (int r = c.rotor; r < c.rotor + c.rotors; ++r) carriers.push_back(m.rotors()[r].carrier);
      }
    }
    std::vector<bool> wide;     ///< per cluster
    LimbJoints joints;
    std::vector<int> carriers;  ///< of rotors that clusters of several bodies drive
  };

  CAba(ModelPtr model, const Nodes& nodes)
      : Aba<T>(std::move(model), nodes.joints, nodes.carriers),
        rotor_(this->model().rotors().size()),
        own_(this->model()) {
    const Model& m = this->model();
    this->turn_joints();
    int factors = 0;
    for (std::size_t i = 0; i < m.clusters().size(); ++i) {
      const Cluster& c = m.clusters()[i];
      if (this->limbs_->contains(c.first)) continue;
      Step step;
      step.cluster = &c;
      step.order = 2 * this->limbs_->plan().level[c.first];
      step.tau_shift = c.v - c.spanning_v;
      step.run = m.body(c.first).run;
      step.begin = c.first - m.runs()[step.run].first;
      step.end = step.begin + 1;
      if (nodes.wide[i]) {
        step.kind = Step::Kind::wide;
        step.wide = static_cast<int>(wide_.size());
        wide_.emplace_back(m, c);
      } else if (!c.constrained) {
        Step* last = steps_.empty() ? nullptr : &steps_.back();
        if (last != nullptr && last->kind == Step::Kind::plain && last->run == step.run &&
            last->end == step.begin && last->order == step.order &&
            last->tau_shift == step.tau_shift) {
          ++last->end;
          continue;
        }
      } else if (is_geared_body(m, c)) {
        step.kind = Step::Kind::geared;
        step.first = static_cast<int>(gears_.size());
        gears_.push_back(
            {nodes.joints.momentum[c.first], nodes.joints.inertia[c.first], Vec3<T>::zero()});
      } else {
        step.kind = Step::Kind::cluster;
        step.factor = factors;
        factors += c.nv * c.nv + c.nv;
        largest_ = std::max(largest_, c.nv);
      }
      steps_.push_back(step);
    }
    for (const LimbMove& move : this->moves()) {
      if (move.group < 0) continue;
      Step step;
      step.kind = Step::Kind::limbs;
      step.first = move.group;
      step.order = move.order;
      steps_.push_back(step);
    }
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const Step& a, const Step& b) { return a.order < b.order; });
    factor_.resize(factors);
    Moq_.resize(m.nv());
    ydd_.resize(largest_), w_.resize(largest_);
    tau_.reserve(m.nv());
    for (WideCluster<T>& w : wide_) w.connect(wide_);
    for (const auto& [rate, inertia] : m.armature()) {
      const Cluster& c = m.clusters()[m.body(m.joint_of_rate(rate).body).cluster];
      if (c.constraint != nullptr && c.row(rate) < c.spanning_nv) {
        loop_armature_.push_back({&c, rate, inertia});
      }
    }
  }

  struct Step {
    enum class Kind { plain, geared, cluster, wide, limbs };
    Kind kind = Kind::plain;
    int order = 0;                    ///< as in LimbMove
    const Cluster* cluster = nullptr;
    int run = 0, begin = 0, end = 0;  ///< bodies of the run; plain and geared
    int tau_shift = 0;                ///< from spanning to independent rates
    int first = 0;                    ///< index in gears_, or group of limbs
    int factor = 0;                   ///< in factor_
    int wide = 0;
  };
  /// Rotors on the parent that a body's own rate drives.
  struct Gear {
    Vec3<double> momentum;  ///< sum of k rho, parent's frame
    double inertia = 0.0;   ///< sum of J rho^2, and the armature
    Vec3<T> k;              ///< momentum, world axes
  };
  struct RotorState {
    Vec3<T> k;  ///< momentum for unit rate, world axes
    T tau;      ///< what its rate takes at vdot = 0
  };
  /// Armature on a joint whose acceleration at vdot = 0 is not zero.
  struct LoopArmature {
    const Cluster* cluster;
    int rate;
    double inertia;
  };

  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    const Model& model = this->model();
    this->move(q, v, wrenches);
    for (const Step& step : steps_) {
      if (step.kind == Step::Kind::geared) spin_gear(step, v);
      if (step.kind == Step::Kind::cluster || step.kind == Step::Kind::wide) spin_rotors(*step.cluster);
    }
    const T* own_tau = tau;
    if (wrenches != nullptr && !rotor_.empty()) own_tau = push_rotors(q, tau, *wrenches);
    if (!loop_armature_.empty() && this->motion_.g() != nullptr) own_tau = take_armature(own_tau);
    for (std::size_t s = steps_.size(); s-- > 0;) {
      const Step& step = steps_[s];
      const BodyRun& run = model.runs()[step.run];  // the first one for limbs
      switch (step.kind) {
        case Step::Kind::plain:
          with_subspace(run, [&](auto ops) {
            this->template inward<decltype(ops)>(run, step.begin, step.end, own_tau + step.tau_shift);
          });
          break;
        case Step::Kind::geared:
          with_subspace(run, [&](auto ops) {
            if constexpr (decltype(ops)::n == 1) inward_geared<decltype(ops)>(step, own_tau);
          });
          break;
        case Step::Kind::cluster:
          with_size(step.cluster->nv, [&](auto n) { inward_cluster<n()>(step, own_tau); });
          break;
        case Step::Kind::wide: inward_wide(step, q, own_tau); break;
        case Step::Kind::limbs: this->inward_limbs(step.first, own_tau); break;
      }
    }
    for (const Step& step : steps_) {
      const BodyRun& run = model.runs()[step.run];
      switch (step.kind) {
        case Step::Kind::plain:
        case Step::Kind::geared:
          with_subspace(run, [&](auto ops) {
            this->template outward_accelerations<decltype(ops)>(run, step.begin, step.end,
                                                                vdot + step.tau_shift);
          });
          break;
        case Step::Kind::cluster:
          with_size(step.cluster->nv, [&](auto n) { outward_cluster<n()>(step, vdot); });
          break;
        case Step::Kind::wide: outward_wide(step, vdot); break;
        case Step::Kind::limbs: this->outward_limbs(step.first, vdot); break;
      }
    }
  }

  /// Code of its own for clusters of 1, 2 and 3 independent rates; 0 stands for any number.
  template <class F>
  static void with_size(int nv, F&& f) {
    switch (nv) {
      case 1: return f(std::integral_constant<int, 1>{});
      case 2: return f(std::integral_constant<int, 2>{});
      case 3: return f(std::integral_constant<int, 3>{});
      default: return f(std::integral_constant<int, 0>{});
    }
  }

  // --- rotors -----------------------------------------------------------------------------------

  /// The gyroscopic couple of geared rotors on the parent, and its axis momentum in world axes.
  void spin_gear(const Step& step, const T* v) {
    Gear& gear = gears_[step.first];
    auto& p = this->body_[this->body_[step.cluster->first].parent];
    gear.k = transpose_times(p.E, gear.momentum);
    p.pA.n += cross(p.motion.omega, scale(v[step.cluster->v], gear.k));
  }

  /// The same for the rotors of a cluster, and what their rates take at vdot = 0.
  void spin_rotors(const Cluster& c) {
    const T* g = this->motion_.g();
    for (int r = c.rotor; r < c.rotor + c.rotors; ++r) {
      const Rotor& rotor = this->model().rotors()[r];
      auto& carrier = this->body_[rotor.carrier];
      RotorState& state = rotor_[r];
      state.k = transpose_times(carrier.E, rotor.momentum);
      state.tau = dot(state.k, carrier.motion.alpha);
      carrier.pA.n += cross(carrier.motion.omega, scale(this->motion_.qd()[rotor.v], state.k));
      if (g == nullptr) continue;
      carrier.pA.n += scale(g[rotor.v], state.k);
      state.tau += rotor.inertia * g[rotor.v];
    }
  }

  /// External wrenches on folded rotors: to the carriers, and to the rates by G^T.
  /// @returns tau with the latter
  const T* push_rotors(const T* q, const T* tau, const Wrenches<T>& wrenches) {
    const Model& model = this->model();
    this->motion_.place_rotors(q);
    tau_.assign(tau, tau + model.nv());
    for (const Cluster& c : model.clusters()) {
      for (int r = 0; r < c.rotors; ++r) {
        const Rotor& rotor = model.rotors()[c.rotor + r];
        const Force<T>& w = wrenches[rotor.body];
        const T* rho = this->motion_.G(c) + (c.spanning_nv + r) * c.nv;
        for (int j = 0; j < c.nv; ++j) tau_[c.v + j] += rho[j] * w.n.z;
        const Force<T> f = this->motion_.joints.X[rotor.body].transpose_times_force(w);
        this->push(rotor.carrier, f);
      }
    }
    return tau_.data();
  }

  /// What armatures on the joints of loops take of tau at vdot = 0, where these turn with g.
  const T* take_armature(const T* tau) {
    if (tau != tau_.data()) tau_.assign(tau, tau + this->model().nv());
    for (const auto& [c, rate, inertia] : loop_armature_) {
      const T* rho = this->motion_.G(*c) + c->row(rate) * c->nv;
      const T taken = inertia * this->motion_.g()[rate];
      for (int j = 0; j < c->nv; ++j) tau_[c->v + j] -= rho[j] * taken;
    }
    return tau_.data();
  }

  // --- one body with geared rotors --------------------------------------------------------------

  template <class Ops>
  void inward_geared(const Step& step, const T* tau) {
    const Gear& gear = gears_[step.first];
    const Cluster& c = *step.cluster;
    auto& b = this->body_[c.first];
    const T force = tau[c.v] - dot(gear.k, this->body_[b.parent].motion.alpha);
    this->template inward_one<Ops>(b, this->rate_[c.spanning_v], force, gear.inertia,
                                   [&](Force<T>& F) { F.n += gear.k; });
  }

  // --- clusters with one output body ------------------------------------------------------------

  /// Rate by rate of the spanning tree, as composite bodies: with F what a unit of a rate takes of
  /// all that hangs on it inside, Mqq = G^T M G, M_kl = S_l^T F_k, and Moq = F G. So bodies are
  /// multiplied by one unit motion, however many independent rates there are.
  template <int fixed>
  void inward_cluster(const Step& step, const T* tau) {
    const Model& model = this->model();
    const Cluster& c = *step.cluster;
    const int n = fixed > 0 ? fixed : c.nv;
    const T* G = this->motion_.G(c);
    // Of few rates, numbers stay in registers.
    constexpr int local = std::max(fixed, 1);
    T D_here[local * local], r_here[local], x_here[local];
    Force<T> Moq_here[local], w_here[local];
    const bool here = fixed > 0;
    T* D = here ? D_here : factor_.data() + step.factor;  // lower triangle, row-major
    T* r = here ? r_here : D + n * n;
    Force<T>* Moq = here ? Moq_here : Moq_.data() + c.v;
    for (int j = 0; j < n; ++j) {
      r[j] = tau[c.v + j];
      Moq[j] = Force<T>::zero();
      for (int l = 0; l <= j; ++l) D[j * n + l] = T(0.0);
    }
    // F, seen from body `at` inside or from the output, goes on to the output and meets all rates
    // between.
    const auto hand_on = [&](Force<T> F, int at, const T* rho) ESPALIER_INLINED {
      while (at >= c.first) {
        const Body& body = model.body(at);
        const auto& b = this->body_[at];
        for (int k = 0; k < body.nv; ++k) {
          const int rate = body.v + k;
          add_product(b.power(this->rate_[rate], F), G + (rate - c.spanning_v) * n, rho, n, D);
        }
        F.n += cross(b.r, F.f);
        at = b.parent;
      }
      for_each_below<fixed>(n, [&](int j) ESPALIER_INLINED { Moq[j] += scale(rho[j], F); });
    };
    for (int k = 0; k < c.rotors; ++k) {
      const Rotor& rotor = model.rotors()[c.rotor + k];
      const RotorState& state = rotor_[c.rotor + k];
      const T* rho = G + (c.spanning_nv + k) * n;
      add_square(T(rotor.inertia), rho, n, D);
      for (int j = 0; j < n; ++j) r[j] -= rho[j] * state.tau;
      if (rotor.carrier >= c.first) {
        hand_on({state.k, Vec3<T>::zero()}, rotor.carrier, rho);
      } else {
        for (int j = 0; j < n; ++j) Moq[j].n += scale(rho[j], state.k);
      }
    }
    const int output = c.outputs[0];
    for (int i = c.first + c.count; i-- > c.first;) {
      const auto& b = this->body_[i];
      const Body& body = model.body(i);
      for (int k = 0; k < body.nv; ++k) {
        const auto& rate = this->rate_[body.v + k];
        const T* rho = G + (body.v + k - c.spanning_v) * n;
        const Force<T> F = b.times(rate);
        add_square(b.power(rate, F) + rate.armature, rho, n, D);
        for (int l = 0; l < k; ++l) {
          add_product(b.power(this->rate_[body.v + l], F), rho - (k - l) * n, rho, n, D);
        }
        const T force = b.power(rate, b.pA);
        for (int j = 0; j < n; ++j) r[j] -= rho[j] * force;
        hand_on({F.n + cross(b.r, F.f), F.f}, b.parent, rho);
      }
      if (b.parent == 0) continue;
      auto& p = this->body_[b.parent];
      b.inertia.hand_to(p.inertia, b.r);
      p.pA += Force<T>{b.pA.n + cross(b.r, b.pA.f), b.pA.f};
    }
    ldlt<fixed>(D, n);
    if (here) {
      T* factor = factor_.data() + step.factor;
      for (int j = 0; j < n; ++j) {
        for (int l = 0; l <= j; ++l) factor[j * n + l] = D[j * n + l];
        factor[n * n + j] = r[j];
        Moq_[c.v + j] = Moq[j];
      }
    }
    if (output == 0) return;
    auto& o = this->body_[output];
    ArticulatedInertia<T>& IA = o.inertia.open();
    // Moq D^-1 Moq^T as a sum of w_j w_j^T / d_j with w = L^-1 Moq.
    Force<T>* w = here ? w_here : w_.data();
    T* x = here ? x_here : ydd_.data();
    for_each_below<fixed>(n, [&](int j) ESPALIER_INLINED {
      w[j] = Moq[j];
      x[j] = r[j];
      for (int l = 0; l < j; ++l) {
        w[j] -= scale(D[j * n + l], w[l]);
        x[j] -= D[j * n + l] * x[l];
      }
      IA.subtract_outer(D[j * n + j], w[j]);
      o.pA += scale(D[j * n + j] * x[j], w[j]);
    });
  }

  template <int fixed>
  void outward_cluster(const Step& step, T* vdot) {
    const Cluster& c = *step.cluster;
    const int n = fixed > 0 ? fixed : c.nv;
    const T* D = factor_.data() + step.factor;
    const T* r = D + n * n;
    const Motion<T>& a = this->body_[c.outputs[0]].da;
    T* ydd = vdot + c.v;
    for (int j = 0; j < n; ++j) ydd[j] = r[j] - dot(a, Moq_[c.v + j]);
    ldlt_solve<fixed>(D, n, ydd);
    const T* G = this->motion_.G(c);
    for (int i = c.first; i < c.first + c.count; ++i) {
      const Body& body = this->model().body(i);
      auto& b = this->body_[i];
      if (!b.seen) continue;
      const Motion<T>& p = this->body_[b.parent].da;
      b.da = {p.w, p.v + cross(p.w, b.r)};
      for (int k = 0; k < body.nv; ++k) {
        const T* rho = G + (body.v + k - c.spanning_v) * n;
        T qdd = rho[0] * ydd[0];
        for (int j = 1; j < n; ++j) qdd += rho[j] * ydd[j];
        b.da += scale(qdd, b.unit(this->rate_[body.v + k]));
      }
    }
  }

  // --- clusters with several output bodies, or below such ---------------------------------------

  void inward_wide(const Step& step, const T* q, const T* tau) {
    const Model& model = this->model();
    const Cluster& c = *step.cluster;
    WideCluster<T>& wide = wide_[step.wide];
    const T* G = c.constrained ? this->motion_.G(c) : wide.identity();
    wide.start(tau);
    for (int i = c.first; i < c.first + c.count; ++i) {
      const auto& b = this->body_[i];
      const Body& body = model.body(i);
      wide.add_body(
          i, b.parent, b.r, b.inertia.articulated(), b.pA, G, body,
          [&](int k) { return b.unit(this->rate_[body.v + k]); },
          [&](int k) { return this->rate_[body.v + k].armature; });
      if (!model.runs()[body.run].type->has_equations()) continue;
      const auto& p = this->body_[b.parent];
      own_.update(i, q, this->motion_.qd(), p.E * p.motion.omega);
      own_.turn(p.E);
      const T* g = this->motion_.g();
      own_.accelerate(p.motion.alpha, p.motion.a, g == nullptr ? nullptr : g + body.v);
      wide.add_equations(body, b.parent, own_.M(), own_.f(), G);
    }
    for (int k = 0; k < c.rotors; ++k) {
      const Rotor& rotor = model.rotors()[c.rotor + k];
      wide.add_rotor(rotor, rotor_[c.rotor + k].k, rotor_[c.rotor + k].tau,
                     G + (c.spanning_nv + k) * c.nv);
    }
    wide.eliminate();
    for (std::size_t o = 0; o < c.outputs.size(); ++o) {
      if (c.outputs[o] == 0) continue;
      auto& body = this->body_[c.outputs[o]];
      wide.hand_on(static_cast<int>(o), body.inertia.open(), body.pA);
    }
  }

  void outward_wide(const Step& step, T* vdot) {
    const Cluster& c = *step.cluster;
    WideCluster<T>& wide = wide_[step.wide];
    for (std::size_t o = 0; o < c.outputs.size(); ++o) {
      wide.set_output(static_cast<int>(o), this->body_[c.outputs[o]].da);
    }
    wide.solve(vdot + c.v);
    for (int i = c.first; i < c.first + c.count; ++i) this->body_[i].da = wide.acceleration(i);
  }

  std::vector<Step> steps_;
  std::vector<Gear> gears_;
  std::vector<RotorState> rotor_;  ///< per folded rotor
  std::vector<LoopArmature> loop_armature_;
  std::vector<WideCluster<T>> wide_;
  OwnEquations<T> own_;
  std::vector<Force<T>> w_;    ///< of one cluster
  std::vector<Force<T>> Moq_;  ///< per independent rate
  std::vector<T> factor_;      ///< per cluster: factor of Mqq and r
  std::vector<T> ydd_, tau_;
  int largest_ = 0;
};

}  // namespace espalier
