#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "algorithms/input_matrix/bias_forces.hpp"
#include "algorithms/input_matrix/chain_inputs.hpp"
#include "algorithms/input_matrix/chains.hpp"
#include "algorithms/input_matrix/column_state.hpp"
#include "algorithms/segments/free_body.hpp"
#include "espalier/kernel/problems/input_matrix.hpp"

namespace espalier {

/// M^-1 B and the free acceleration by one sweep inward, where forces collect, and one outward,
/// where accelerations spread; several columns at a time, inward only on the way of each. The free
/// acceleration is one more column: the answer to what bodies need at vdot = 0, turned around.
/// Cost: O(n m), the size of the answer.
/// Frames: those of ArticulatedTree.
/// Source: theory/input-matrix 3.1 and theory/clusters 5.6.
template <class T>
class ColumnSweeps {
 public:
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;

  /// @param watched  bodies whose accelerations the caller wants
  ColumnSweeps(const ArticulatedTree<T>& tree, LeafChains<T>& leaf_chains,
               const InputColumns& inputs, const std::vector<int>& watched)
      : tree_(tree),
        columns_(tree.model(), inputs),
        state_(columns_.plan(tree), tree.model().body_count() + 1, tree.model().nv()),
        blocks_(state_.blocks),
        on_chains_(leaf_chains, tree),
        chains_(tree) {
    const Model& model = tree.model();
    const std::size_t count = tree.nodes().size();
    sites_.resize(count);
    for (int i = 1; i <= model.active_body_count(); ++i) {
      sites_[tree.node_of(i)].push_back(i);
      if (!on_chains_.contains(i)) bodies_.push_back(i);
    }
    for (std::size_t n = 0; n < count; ++n) {
      const auto& node = tree.nodes()[n];
      for (int j = 0; j < node.n && !on_chains_.contains(node.cluster->first); ++j) {
        tree_rates_.push_back(node.v + j);
      }
    }
    for (const Task::Part& part : inputs.contacts()) {
      if (part.body == 0) continue;
      if (on_chains_.contains(part.body)) {
        on_chains_.add_contact(part, state_.plan);
      } else {
        add_contact(part);
      }
    }
    for (const InputColumns::Motor& motor : inputs.motors()) add_motor(motor);
    std::size_t widest = 1;
    for (std::size_t n = 0; n < count; ++n) {
      widest = std::max({widest, sites_[n].size(), tree.nodes()[n].supports.size()});
    }
    // Bodies whose motion others need, or the caller.
    for (const auto& node : tree.nodes()) moving_.push_back(node.parents);
    watched_.resize(count, false);
    for (const int body : watched) {
      if (body == 0) continue;
      if (on_chains_.contains(body)) {
        on_chains_.watch(body);
        continue;
      }
      add_moving(body);
      watched_[tree.node_of(body)] = true;
    }
    const std::size_t B = blocks_;
    for (const Drive& d : drives_) {
      if (!d.cluster->constrained) state_.set_force(d.rate, d.place, T(1.0));
    }
    K_.resize(widest * B), out_.resize(widest * B), supports_.resize(widest * B);
    for (auto* x : {&Kq_, &z_, &extra_}) x->resize(tree.largest_node() * B);
    for (std::size_t n = 0; n < count; ++n) {
      const auto& node = tree.nodes()[n];
      floats_.push_back(node.kind == ArticulatedTree<T>::Kind::free && sites_[n].size() == 1);
    }
    std::vector<bool> hinge;
    for (std::size_t n = 0; n < count; ++n) hinge.push_back(may_be_hinge(static_cast<int>(n)));
    chains_.find(hinge, watched_);
    row_of<T>(&against_, state_.free_lane()) = T(-1.0);
    schedule();
    for (std::size_t n = 0; n < count; ++n) split(static_cast<int>(n));
  }

  int blocks() const { return blocks_; }
  const ColumnPlan& plan() const { return state_.plan; }
  /// Accelerations of a rate after solve(), by the plan's places.
  const V* rate(int rate) { return state_.rate(rate); }
  /// Accelerations of a watched body at its origin, world axes, after solve(), by blocks.
  const Motion<V>* motion(int body) { return state_.motion(body); }
  /// Whether a node is a base that floats, whose articulated inertia is used as it is.
  bool floats(int node) const { return floats_[node]; }
  /// World to body axes, of a watched body or the ground.
  const Mat3<T>& attitude(int body) const {
    return on_chains_.contains(body) ? on_chains_.attitude(body) : tree_.attitude(body);
  }

  /// At the tree's last update. @param tau  forces on the independent rates besides the inputs
  void solve(const SpanningMotion<T>& motion, const BiasForces<T>& bias, const T* tau) {
    on_chains_.place();
    load(motion, bias, tau);
    on_chains_.inward(state_);
    for (std::size_t k = tree_.order().size(); k-- > 0;) {
      const int n = tree_.order()[k];
      if (floats_[n]) continue;  // forces have arrived
      if (chains_.is_hinge(n)) {
        chains_.look_at(n);
        for (const Step& s : steps_[n]) {
          if (s.passes) inward_hinge(n, s);
        }
      } else {
        for (const Step& s : steps_[n]) {
          if (s.passes) inward(n, s);
        }
      }
    }
    for (const int n : tree_.order()) {
      if (floats_[n]) {
        float_base(n);
      } else if (chains_.is_hinge(n)) {
        chains_.carry(n);
        for (const Step& s : outward_steps_[n]) {
          if (s.idle) {
            follow(n, s);
          } else {
            outward_hinge(n, s);
          }
        }
      } else {
        outward(n);
      }
    }
    on_chains_.outward(state_);
  }

 private:
  /// Rows of contacts on one body, in the lanes of one block; the other lanes are zero.
  struct Stamp {
    int body, block;
    bool world;      ///< as in Task::Part
    bool first;      ///< nothing has been written there yet
    Vec3<V> point;
    Force<V> rows;
  };
  /// A motor: a force on a rate, which on a cluster that constraints tie is one on all its rates.
  struct Drive {
    const Cluster* cluster;
    int rate;  ///< independent, where the cluster is not constrained
    int row;   ///< of G otherwise
    int place;
  };
  /// Blocks [begin, end) at a node, which are treated alike.
  struct Step {
    int begin, end;
    bool passes;  ///< inward
    bool driven;  ///< with forces on the node's rates
    bool first;   ///< the first to write on the node's only output, or on a base that floats
    bool idle = false;  ///< outward: nothing acts on the node's chain
  };
  /// Where each column acts.
  struct Columns {
    Columns(const Model& model, const InputColumns& inputs)
        : node(inputs.size(), -1), drives(inputs.size(), false), motors(inputs.motors()) {
      for (const InputColumns::Motor& motor : inputs.motors()) {
        node[motor.column] = model.body(model.joint_of_rate(motor.rate).body).cluster;
        drives[motor.column] = true;
      }
      for (const Task::Part& part : inputs.contacts()) {
        for (int k = 0; k < part.size() && part.body != 0; ++k) {
          node[part.first + k] = model.body(part.body).cluster;
        }
      }
    }
    ColumnPlan plan(const ArticulatedTree<T>& tree) const {
      std::vector<int> parent;
      for (const auto& n : tree.nodes()) parent.push_back(n.parent);
      return {parent, node, drives, lanes};
    }
    std::vector<int> node;     ///< -1: nowhere
    std::vector<bool> drives;  ///< whether on rates
    std::span<const InputColumns::Motor> motors;
  };

  void add_contact(const Task::Part& part) {
    std::vector<int>& sites = sites_[tree_.node_of(part.body)];
    if (std::find(sites.begin(), sites.end(), part.body) == sites.end()) sites.push_back(part.body);
    for (int k = 0; k < part.size(); ++k) {
      const int place = state_.plan.place[part.first + k], block = place / lanes;
      auto stamp = std::find_if(stamps_.begin(), stamps_.end(), [&](const Stamp& s) {
        return s.body == part.body && s.block == block && s.world == part.world;
      });
      if (stamp == stamps_.end()) {
        stamps_.push_back({part.body, block, part.world, false, Vec3<V>::zero(), Force<V>::zero()});
        stamp = stamps_.end() - 1;
      }
      for (int i = 0; i < 6; ++i) row_of<T>(&stamp->rows[i], place % lanes) = T(part.rows[k][i]);
      for (int i = 0; i < 3; ++i) row_of<T>(&stamp->point[i], place % lanes) = T(part.point[i]);
    }
  }
  void add_motor(const InputColumns::Motor& motor) {
    const Model& model = tree_.model();
    const Cluster& c = model.clusters()[model.body(model.joint_of_rate(motor.rate).body).cluster];
    const int row = c.row(motor.rate);
    drives_.push_back({&c, c.v + row, row, state_.plan.place[motor.column]});
  }
  void add_moving(int body) {
    std::vector<int>& at = moving_[tree_.node_of(body)];
    if (std::find(at.begin(), at.end(), body) == at.end()) at.push_back(body);
  }
  Force<V>* wrenches(int body) { return state_.wrenches(body); }

  /// Who writes first where: it need not add, and nothing has to be cleared. Wrenches that nobody
  /// writes stay zero.
  void schedule() {
    const std::size_t B = blocks_;
    std::vector<bool> written(state_.F.size(), false);
    const auto is_first = [&](int body, int block) {
      const std::size_t at = body * B + block;
      const bool first = !written[at];
      written[at] = true;
      return first;
    };
    for (Stamp& s : stamps_) s.first = is_first(s.body, s.block);
    free_first_.resize(tree_.model().active_body_count() + 1);
    for (const int i : bodies_) free_first_[i] = is_first(i, state_.free_block());
    on_chains_.schedule(state_.plan, columns_.node, columns_.motors, is_first);
    steps_.resize(tree_.nodes().size());
    first_.resize(tree_.nodes().size());
    for (std::size_t k = tree_.order().size(); k-- > 0;) {
      const int n = tree_.order()[k];
      const auto& supports = tree_.nodes()[n].supports;
      first_[n].assign(supports.size() * B, false);
      std::vector<Step>& steps = steps_[n];
      for (int b = 0; b < blocks_; ++b) {
        Step s{b, b + 1, false, false, false};
        for (const ColumnPlan::Segment& segment : state_.plan.segments[n]) {
          if (b < segment.begin || b >= segment.end) continue;
          s.passes = true, s.driven = segment.driven;
        }
        for (std::size_t o = 0; o < supports.size() && s.passes; ++o) {
          s.first = first_[n][o * B + b] = is_first(supports[o], b);
        }
        if (floats_[n] && s.driven) s.first = is_first(tree_.nodes()[n].body, b);
        if (!steps.empty() && steps.back().passes == s.passes && steps.back().driven == s.driven &&
            (steps.back().first == s.first || supports.size() > 1)) {
          ++steps.back().end;
        } else {
          steps.push_back(s);
        }
      }
    }
  }

  /// Steps outward: where nothing acts on the chain of a node, and elsewhere.
  void split(int n) {
    const int root = chains_.chain(n).root;
    const auto passes = [&](int node, int b) {
      return std::any_of(steps_[node].begin(), steps_[node].end(), [&](const Step& s) {
        return s.passes && b >= s.begin && b < s.end;
      });
    };
    outward_steps_.resize(steps_.size());
    std::vector<Step>& steps = outward_steps_[n];
    for (int b = 0; b < blocks_; ++b) {
      const bool idle = root >= 0 && !passes(root, b);
      const Step s{b, b + 1, passes(n, b), false, false, idle};
      if (!steps.empty() && steps.back().passes == s.passes && steps.back().idle == s.idle) {
        ++steps.back().end;
      } else {
        steps.push_back(s);
      }
    }
  }

  /// Revolute, and nobody speaks of rotors on it.
  bool may_be_hinge(int n) const {
    const auto& node = tree_.nodes()[n];
    return node.kind == ArticulatedTree<T>::Kind::revolute && sites_[n].size() == 1 &&
           !on_chains_.contains(node.body) &&
           std::all_of(moving_[n].begin(), moving_[n].end(),
                       [&](int body) { return body == node.body; });
  }
  void follow(int n, const Step& s) {
    const auto& chain = chains_.chain(n);
    if (chain.base == 0) return;  // at rest
    const Force<T> g = chain.g;
    const Motion<V>* a = motion(chain.base);
    V* eta = state_.rate(tree_.nodes()[n].v);
    for (int b = s.begin; b < s.end; ++b) eta[b] = dot(a[b], g);
  }

  /// Wrenches on bodies and forces on rates.
  void load(const SpanningMotion<T>& motion, const BiasForces<T>& bias, const T* tau) {
    for (const Stamp& s : stamps_) {
      const Mat3<T>& E = tree_.attitude(s.body);
      Force<V> f = s.rows;
      if (s.world) {
        f.n += cross(transpose_times(E, s.point), f.f);
      } else {
        f = {transpose_times(E, f.n), transpose_times(E, f.f)};
      }
      write(wrenches(s.body)[s.block], f, s.first);
    }
    const int block = state_.free_block();
    for (const int i : bodies_) {
      const Mat3<T>& E = tree_.attitude(i);
      const Force<T>& f = bias.wrench(i);
      const Force<T> w{transpose_times(E, f.n), transpose_times(E, f.f)};
      Force<V> free;
      for (int k = 0; k < 6; ++k) free[k] = w[k] * against_;
      write(wrenches(i)[block], free, free_first_[i]);
    }
    const T* needed = bias.rates();
    for (const int j : tree_rates_) {
      state_.set_force(j, state_.plan.free, needed == nullptr ? tau[j] : tau[j] - needed[j]);
    }
    for (const Drive& d : drives_) {
      if (!d.cluster->constrained) continue;
      const T* G = motion.G(*d.cluster) + d.row * d.cluster->nv;
      for (int j = 0; j < d.cluster->nv; ++j) state_.set_force(d.cluster->v + j, d.place, G[j]);
    }
  }

  void inward_hinge(int n, const Step& s) {
    if (s.driven) {
      s.first ? inward_hinge<true, true>(n, s) : inward_hinge<true, false>(n, s);
    } else {
      s.first ? inward_hinge<false, true>(n, s) : inward_hinge<false, false>(n, s);
    }
  }
  template <bool driven, bool first>
  void inward_hinge(int n, const Step& s) {
    const auto& node = tree_.nodes()[n];
    const auto h = chains_.hinge(n);
    const Force<V>* K = wrenches(node.body);
    Force<V>* out = node.supports.empty() ? nullptr : wrenches(node.supports[0]);
    const V* forces = state_.force(node.v);
    V* z = state_.rate(node.v);
    for (int b = s.begin; b < s.end; ++b) {
      const Force<V> k = K[b];
      V Kq = dot(h.S, k.n);
      if constexpr (driven) Kq += forces[b];
      z[b] = h.D * Kq;
      if (out == nullptr) continue;
      const Force<V> rest{k.n + cross(h.x, k.f) - scale(Kq, h.DU.n), k.f - scale(Kq, h.DU.f)};
      if constexpr (first) {
        out[b] = rest;
      } else {
        out[b] += rest;
      }
    }
  }

  void outward_hinge(int n, const Step& s) {
    if (moving_[n].empty()) {
      s.passes ? outward_hinge<true, false>(n, s) : outward_hinge<false, false>(n, s);
    } else {
      s.passes ? outward_hinge<true, true>(n, s) : outward_hinge<false, true>(n, s);
    }
  }
  template <bool passes, bool moving>
  void outward_hinge(int n, const Step& s) {
    const auto& node = tree_.nodes()[n];
    const auto h = chains_.hinge(n);
    const Motion<V>* a = motion(node.supports.empty() ? 0 : node.supports[0]);
    Motion<V>* own = state_.motion(node.body);
    V* eta = state_.rate(node.v);
    for (int b = s.begin; b < s.end; ++b) {
      const Motion<V> m = a[b];
      const V rate = passes ? eta[b] - dot(m, h.DU) : -dot(m, h.DU);
      eta[b] = rate;
      if constexpr (moving) own[b] = {m.w + scale(rate, h.S), m.v + cross(m.w, h.x)};
    }
  }

  /// A base that floats moves as its inverse articulated inertia says:
  ///   P = [Q, -Q B C^-1; -(Q B C^-1)^T, C^-1 + C^-1 B^T Q B C^-1],  Q = (A - B C^-1 B^T)^-1.
  void float_base(int n) {
    const auto& node = tree_.nodes()[n];
    const Mat3<T>& E = tree_.attitude(node.body);
    Force<V>* F = wrenches(node.body);
    for (const Step& s : steps_[n]) {
      if (!s.driven) continue;
      for (int b = s.begin; b < s.end; ++b) {
        const V* f = state_.force(node.v) + b;
        const auto at = [&](int j) { return f[static_cast<std::size_t>(j) * blocks_]; };
        write(F[b],
              {transpose_times(E, Vec3<V>{at(0), at(1), at(2)}),
               transpose_times(E, Vec3<V>{at(3), at(4), at(5)})},
              s.first);
      }
    }
    const ArticulatedInertia<T>& IA = tree_.articulated_inertia(node.body);
    const Sym3<T> C = inverse(IA.C);
    const Mat3<T> BC{{C * IA.B.row[0], C * IA.B.row[1], C * IA.B.row[2]}};
    const auto entry = [&](int i, int j) { return dot(BC.row[i], IA.B.row[j]); };
    const Sym3<T> Q = inverse(Sym3<T>{IA.A.xx - entry(0, 0), IA.A.xy - entry(0, 1),
                                      IA.A.xz - entry(0, 2), IA.A.yy - entry(1, 1),
                                      IA.A.yz - entry(1, 2), IA.A.zz - entry(2, 2)});
    Motion<V>* a = state_.motion(node.body);
    V* rates = state_.rate(node.v);
    const std::size_t B = blocks_;
    for (int b = 0; b < blocks_; ++b) {
      const Force<V> f = F[b];
      Motion<V> m;
      m.w = Q * (f.n - BC * f.f);
      m.v = C * f.f - transpose_times(BC, m.w);
      a[b] = m;
      const Vec3<V> w = E * m.w, v = E * m.v;
      rates[b] = w.x, rates[B + b] = w.y, rates[2 * B + b] = w.z;
      rates[3 * B + b] = v.x, rates[4 * B + b] = v.y, rates[5 * B + b] = v.z;
    }
  }

  void inward(int n, const Step& s) {
    const auto& node = tree_.nodes()[n];
    const std::vector<int>& sites = sites_[n];
    const int B = s.end - s.begin;
    const Force<V>* K = K_.data();
    if (sites.size() == 1) {
      K = wrenches(sites[0]) + s.begin;
    } else {
      for (std::size_t i = 0; i < sites.size(); ++i) {
        std::copy_n(wrenches(sites[i]) + s.begin, B, K_.data() + i * B);
      }
    }
    V* own = state_.rate(node.v) + s.begin;
    const V* forces = state_.force(node.v) + s.begin;
    if (node.n == 1) {
      tree_.inward(node, sites, B, K, Kq_.data(), own, out_.data(), s.driven ? forces : nullptr);
    } else {
      if (s.driven) {
        for (int j = 0; j < node.n; ++j) {
          std::copy_n(forces + j * blocks_, B, extra_.data() + j * B);
        }
        tree_.from_rates(node, B, extra_.data());
      }
      tree_.inward(node, sites, B, K, Kq_.data(), z_.data(), out_.data(),
                   s.driven ? extra_.data() : nullptr);
      for (int j = 0; j < node.n; ++j) std::copy_n(z_.data() + j * B, B, own + j * blocks_);
    }
    for (std::size_t o = 0; o < node.supports.size(); ++o) {
      Force<V>* F = wrenches(node.supports[o]) + s.begin;
      for (int b = 0; b < B; ++b) {
        write(F[b], out_[o * B + b], first_[n][o * blocks_ + s.begin + b]);
      }
    }
  }

  void outward(int n) {
    const auto& node = tree_.nodes()[n];
    V* eta = state_.rate(node.v);
    for (const Step& s : steps_[n]) {
      for (int j = 0; j < node.n && !s.passes; ++j) {
        std::fill(eta + j * blocks_ + s.begin, eta + j * blocks_ + s.end, V(0.0));
      }
    }
    const Motion<V>* a = nullptr;
    if (node.supports.size() == 1) {
      a = motion(node.supports[0]);
    } else {
      for (std::size_t o = 0; o < node.supports.size(); ++o) {
        std::copy_n(motion(node.supports[o]), blocks_, supports_.data() + o * blocks_);
      }
      a = supports_.data();
    }
    tree_.outward(node, blocks_, a, eta);
    for (const int body : moving_[n]) {
      tree_.motion_of(node, body, blocks_, a, eta,
                      state_.motion(body));
    }
    tree_.to_rates(node, blocks_, eta);
  }

  const ArticulatedTree<T>& tree_;
  Columns columns_;
  ColumnState<T> state_;
  int blocks_;
  ChainInputs<T> on_chains_;
  Chains<T> chains_;
  std::vector<int> bodies_, tree_rates_;  ///< that no serial chain has
  std::vector<Stamp> stamps_;
  std::vector<Drive> drives_;
  std::vector<std::vector<int>> sites_, moving_;  ///< bodies per node
  std::vector<std::vector<Step>> steps_;          ///< per node
  std::vector<std::vector<bool>> first_;          ///< per node, its supports and blocks: as in Step
  std::vector<bool> floats_;                      ///< per node: a free joint on the ground
  std::vector<bool> watched_;                     ///< per node
  std::vector<bool> free_first_;                  ///< per body
  std::vector<std::vector<Step>> outward_steps_;  ///< per node
  V against_ = V(0.0);                            ///< -1 in the lane of the free acceleration
  std::vector<V> Kq_, z_, extra_;                 ///< of one node
  std::vector<Force<V>> K_, out_;
  std::vector<Motion<V>> supports_;
};

}  // namespace espalier
