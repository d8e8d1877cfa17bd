#pragma once

#include <algorithm>

#include "algorithms/forward_dynamics/aba.hpp"
#include "algorithms/wide_cluster.hpp"
#include "algorithms/link_tree.hpp"

namespace espalier {

/// Forward dynamics as it is commonly approximated: the articulated-body algorithm on the tree of
/// links (link_tree.hpp), rotors being welded to their carriers and reflected into the armature, sum
/// of j_r rho_rj^2, of each independent rate j. Not exact where there are rotors; what is lost is said
/// in approximate_rnea.hpp, whose inverse this is. Loops other than couplings have no such
/// approximation. Bodies that couplings tie and that carry others are exact.
/// Frames and passes are those of ABA.  Cost: O(n).
/// Source: Chignoli et al. (2023), section II-D.
template <class T>
class ApproximateAba final : public Aba<T> {
 public:
  explicit ApproximateAba(ModelPtr model)
      : Aba<T>(model, LimbJoints(*model)),
        tree_(this->model()) {
    const Model& m = this->model();
    for (int i = 1; i <= m.active_body_count(); ++i) {
      this->body_[i].moments = Moments<double>::from(tree_.inertia[i]);
    }
    std::vector<bool> has_wide_child(m.clusters().size(), false);
    for (const Cluster& c : m.clusters()) {
      if (!is_free(c) && c.outputs.size() > 1 && c.parent >= 0) has_wide_child[c.parent] = true;
    }
    for (std::size_t i = 0; i < m.clusters().size(); ++i) {
      const Cluster& c = m.clusters()[i];
      if (!is_free(c) || has_wide_child[i]) {
        steps_.push_back({&c, static_cast<int>(wide_.size()), 0, 0, 0, 0});
        wide_.emplace_back(m, c);
        continue;
      }
      int next = c.v;  // independent rates in the order of the links'
      for (int b = c.first; b < c.first + c.count; ++b) {
        if (tree_.welded[b]) continue;
        const Body& body = m.body(b);
        for (int k = 0; k < body.nv; ++k) {
          this->rate_[body.v + k].armature += tree_.armature[next + k];
        }
        add_plain(b, next - body.v);
        next += body.nv;
      }
    }
    for (WideCluster<T>& w : wide_) w.connect(wide_);
    tau_.resize(m.nv());
  }

 private:
  /// Bodies of a run on joints that nothing ties any more, or (cluster set) a cluster.
  struct Step {
    const Cluster* cluster;
    int wide;
    int run, begin, end;
    int shift;  ///< from spanning to independent rates
  };

  /// Whether the rates of its links are the independent ones.
  bool is_free(const Cluster& c) const {
    if (!c.constrained) return true;
    int next = 0;
    for (int b = c.first; b < c.first + c.count; ++b) {
      if (tree_.welded[b]) continue;
      const Body& body = this->model().body(b);
      for (int k = 0; k < body.nv; ++k, ++next) {
        for (int j = 0; j < c.nv; ++j) {
          if (c.G[c.row(body.v + k) * c.nv + j] != (next == j ? 1.0 : 0.0)) return false;
        }
      }
    }
    return next == c.nv;
  }
  void add_plain(int body, int shift) {
    const auto& runs = tree_.runs;
    int run = 0;
    while (body >= runs[run].first + runs[run].count) ++run;
    const int begin = body - runs[run].first;
    if (!steps_.empty()) {
      Step& last = steps_.back();
      if (last.cluster == nullptr && last.run == run && last.end == begin && last.shift == shift) {
        ++last.end;
        return;
      }
    }
    steps_.push_back({nullptr, 0, run, begin, begin + 1, shift});
  }

  void compute(const T* q, const T* v, const T* tau, T* vdot,
               const Wrenches<T>* wrenches) override {
    move(q, v, wrenches);
    if (wrenches != nullptr && !tree_.reflected.empty()) tau = push_reflected(q, tau, *wrenches);
    for (std::size_t s = steps_.size(); s-- > 0;) {
      const Step& step = steps_[s];
      if (step.cluster != nullptr) {
        inward_cluster(*step.cluster, wide_[step.wide], tau);
        continue;
      }
      const BodyRun& run = tree_.runs[step.run];
      with_subspace(run, [&](auto ops) {
        this->template inward<decltype(ops)>(run, step.begin, step.end, tau + step.shift);
      });
    }
    for (const Step& step : steps_) {
      if (step.cluster != nullptr) {
        outward_cluster(*step.cluster, wide_[step.wide], vdot);
        continue;
      }
      const BodyRun& run = tree_.runs[step.run];
      with_subspace(run, [&](auto ops) {
        this->template outward_accelerations<decltype(ops)>(run, step.begin, step.end,
                                                            vdot + step.shift);
      });
    }
  }

  /// Pass 1 for the links: motion and wrenches at vdot = 0.
  void move(const T* q, const T* v, const Wrenches<T>* wrenches) {
    this->motion_.update(q, v);
    this->body_[0].motion.a = Vec3<T>::from(-this->gravity());
    if (this->root_ > 0) this->move_root();
    for (const BodyRun& run : tree_.runs) {
      const int begin = run.first == this->root_ ? 1 : 0;
      with_subspace(run, [&](auto ops) {
        this->template outward_velocities<decltype(ops), false>(run, begin, run.count,
                                                                this->motion_.qd(), nullptr);
      });
      if (wrenches == nullptr) continue;
      for (int i = run.first; i < run.first + run.count; ++i) push(i, (*wrenches)[i]);
    }
  }
  /// An external wrench on a link, link axes.
  void push(int link, const Force<T>& w) {
    auto& b = this->body_[link];
    b.pA -= Force<T>{transpose_times(b.E, w.n), transpose_times(b.E, w.f)};
  }

  /// External wrenches on what is welded: to the carriers, and to the rates by G^T.
  const T* push_reflected(const T* q, const T* tau, const Wrenches<T>& wrenches) {
    this->motion_.place_rotors(q);
    std::copy(tau, tau + this->model().nv(), tau_.begin());
    for (const auto& r : tree_.reflected) {
      const Cluster& c = *r.cluster;
      const Force<T>& w = wrenches[r.body];
      const T* rho = this->motion_.G(c) + r.row * c.nv;
      for (int j = 0; j < c.nv; ++j) tau_[c.v + j] += rho[j] * (r.slides ? w.f.z : w.n.z);
      push(r.carrier, this->motion_.joints.X[r.body].transpose_times_force(w));
    }
    return tau_.data();
  }

  void inward_cluster(const Cluster& c, WideCluster<T>& wide, const T* tau) {
    const Model& model = this->model();
    const T* G = this->motion_.G(c);
    wide.start(tau);
    for (int i = c.first; i < c.first + c.count; ++i) {
      if (tree_.welded[i]) continue;
      const auto& b = this->body_[i];
      const Body& body = model.body(i);
      wide.add_body(
          i, b.parent, b.r, b.inertia.articulated(), b.pA, G, body,
          [&](int k) { return b.unit(this->rate_[body.v + k]); },
          [&](int k) { return this->rate_[body.v + k].armature; });
    }
    for (int j = 0; j < c.nv; ++j) wide.add_armature(j, T(tree_.armature[c.v + j]));
    wide.eliminate();
    for (std::size_t o = 0; o < c.outputs.size(); ++o) {
      if (c.outputs[o] == 0) continue;
      auto& body = this->body_[c.outputs[o]];
      wide.hand_on(static_cast<int>(o), body.inertia.open(), body.pA);
    }
  }

  void outward_cluster(const Cluster& c, WideCluster<T>& wide, T* vdot) {
    for (std::size_t o = 0; o < c.outputs.size(); ++o) {
      wide.set_output(static_cast<int>(o), this->body_[c.outputs[o]].da);
    }
    wide.solve(vdot + c.v);
    for (int i = c.first; i < c.first + c.count; ++i) {
      if (!tree_.welded[i]) this->body_[i].da = wide.acceleration(i);
    }
  }

  LinkTree tree_;
  std::vector<Step> steps_;
  std::vector<WideCluster<T>> wide_;
  std::vector<T> tau_;
};

}  // namespace espalier
