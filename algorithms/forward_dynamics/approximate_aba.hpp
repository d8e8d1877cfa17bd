#pragma once

#include <algorithm>

#include "algorithms/forward_dynamics/aba.hpp"
#include "algorithms/forward_dynamics/wide_cluster.hpp"

namespace espalier {

/// Forward dynamics as it is commonly approximated: the articulated-body algorithm on the links
/// alone, folded rotors being welded to their carriers and reflected into the armature
/// j_r rho_rj^2 of each independent rate j that they turn with. Not exact where there are rotors;
/// what is lost is said in approximate_rnea.hpp, whose inverse this is. Loops other than couplings
/// have no such approximation. Bodies that couplings tie and that are no folded rotors are exact.
/// Frames and passes are those of ABA.  Cost: O(n).
/// Source: Chignoli et al. (2023), section II-D.
template <class T>
class ApproximateAba final : public Aba<T> {
 public:
  explicit ApproximateAba(ModelPtr model) : Aba<T>(std::move(model)) {
    const Model& m = this->model();
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
      for (int r = 0; r < c.rotors; ++r) {
        for (int j = 0; j < c.nv; ++j) {
          const double rho = c.G[(c.spanning_nv + r) * c.nv + j];
          this->rate_[c.spanning_v + j].armature +=
              m.rotors()[c.rotor + r].inertia * rho * rho;
        }
      }
      for (int b = c.first; b < c.first + c.count; ++b) add_plain(b, c.v - c.spanning_v);
    }
    for (WideCluster<T>& w : wide_) w.connect(wide_);
    tau_.resize(m.nv());
    row_.assign(m.nv(), T(0.0));
  }

 private:
  /// Bodies of a run on joints that nothing ties any more, or (cluster set) a cluster.
  struct Step {
    const Cluster* cluster;
    int wide;
    int run, begin, end;
    int shift;  ///< from spanning to independent rates
  };

  /// Whether the rates of its bodies are the independent ones.
  static bool is_free(const Cluster& c) {
    if (!c.constrained) return true;
    if (c.nv != c.spanning_nv) return false;
    for (int i = 0; i < c.nv; ++i) {
      for (int j = 0; j < c.nv; ++j) {
        if (c.G[i * c.nv + j] != (i == j ? 1.0 : 0.0)) return false;
      }
    }
    return true;
  }
  void add_plain(int body, int shift) {
    const int run = this->model().body(body).run;
    const int begin = body - this->model().runs()[run].first;
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
    const Model& model = this->model();
    this->move(q, v, wrenches);
    if (wrenches != nullptr && !model.rotors().empty()) tau = push_rotors(q, tau, *wrenches);
    for (std::size_t s = steps_.size(); s-- > 0;) {
      const Step& step = steps_[s];
      if (step.cluster != nullptr) {
        inward_cluster(*step.cluster, wide_[step.wide], tau);
        continue;
      }
      const BodyRun& run = model.runs()[step.run];
      with_subspace(run, [&](auto ops) {
        this->template inward<decltype(ops)>(run, step.begin, step.end, tau + step.shift);
      });
    }
    for (const Step& step : steps_) {
      if (step.cluster != nullptr) {
        outward_cluster(*step.cluster, wide_[step.wide], vdot);
        continue;
      }
      const BodyRun& run = model.runs()[step.run];
      with_subspace(run, [&](auto ops) {
        this->template outward_accelerations<decltype(ops)>(run, step.begin, step.end,
                                                            vdot + step.shift);
      });
    }
  }

  /// External wrenches on folded rotors: to the carriers, and to the rates by G^T.
  const T* push_rotors(const T* q, const T* tau, const Wrenches<T>& wrenches) {
    const Model& model = this->model();
    this->motion_.place_rotors(q);
    std::copy(tau, tau + model.nv(), tau_.begin());
    for (const Cluster& c : model.clusters()) {
      for (int r = 0; r < c.rotors; ++r) {
        const Rotor& rotor = model.rotors()[c.rotor + r];
        const Force<T>& w = wrenches[rotor.body];
        const T* rho = this->motion_.G(c) + (c.spanning_nv + r) * c.nv;
        for (int j = 0; j < c.nv; ++j) tau_[c.v + j] += rho[j] * w.n.z;
        const Force<T> f = this->motion_.joints.X[rotor.body].transpose_times_force(w);
        auto& carrier = this->body_[rotor.carrier];
        carrier.pA -= Force<T>{transpose_times(carrier.E, f.n), transpose_times(carrier.E, f.f)};
      }
    }
    return tau_.data();
  }

  void inward_cluster(const Cluster& c, WideCluster<T>& wide, const T* tau) {
    const Model& model = this->model();
    const T* G = this->motion_.G(c);
    wide.start(model, c, tau);
    for (int i = c.first; i < c.first + c.count; ++i) {
      const auto& b = this->body_[i];
      const Body& body = model.body(i);
      wide.add_body(i, b.parent, b.r, b.IA, b.pA, G, body,
                    [&](int k) { return this->rate_[body.v + k].S; },
                    [&](int k) { return this->rate_[body.v + k].armature; });
    }
    for (int r = 0; r < c.rotors; ++r) {
      const Rotor& rotor = model.rotors()[c.rotor + r];
      const T* rho = G + (c.spanning_nv + r) * c.nv;
      for (int j = 0; j < c.nv; ++j) {  // as a rotor that this rate alone turns, without momentum
        row_[j] = rho[j];
        wide.add_rotor(rotor, Vec3<T>::zero(), T(0.0), row_.data());
        row_[j] = T(0.0);
      }
    }
    wide.eliminate();
    for (std::size_t o = 0; o < c.outputs.size(); ++o) {
      if (c.outputs[o] == 0) continue;
      auto& body = this->body_[c.outputs[o]];
      wide.hand_on(static_cast<int>(o), body.IA, body.pA);
    }
  }

  void outward_cluster(const Cluster& c, WideCluster<T>& wide, T* vdot) {
    for (std::size_t o = 0; o < c.outputs.size(); ++o) {
      wide.set_output(static_cast<int>(o), this->body_[c.outputs[o]].da);
    }
    wide.solve(vdot + c.v);
    for (int i = c.first; i < c.first + c.count; ++i) this->body_[i].da = wide.acceleration(i);
  }

  std::vector<Step> steps_;
  std::vector<WideCluster<T>> wide_;
  std::vector<T> tau_;
  std::vector<T> row_;  ///< zeros
};

}  // namespace espalier
