#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "algorithms/input_matrix/chains/chain_inputs.hpp"
#include "algorithms/input_matrix/columns/column_loads.hpp"
#include "algorithms/input_matrix/columns/floating_bases.hpp"
#include "algorithms/input_matrix/columns/hinge_columns.hpp"
#include "algorithms/input_matrix/columns/node_columns.hpp"

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
               const ActingColumns& inputs, const std::vector<int>& watched)
      : tree_(tree),
        inputs_(tree.model(), inputs),
        state_(inputs_.plan(tree, leaf_chains.columns().plan()), tree.model().body_count() + 1,
               tree.model().nv()),
        on_chains_(leaf_chains, tree),
        loads_(tree, state_),
        sites_(tree.nodes().size()),
        hinges_(tree, state_),
        nodes_(tree, state_),
        bases_(tree, state_),
        steps_(sites_.size()),
        outward_steps_(sites_.size()),
        first_(sites_.size()) {
    const int count = static_cast<int>(sites_.size());
    std::vector<bool> hinge;
    std::vector<int> bodies, rates;  // that no serial chain has
    for (int i = 1; i <= tree.model().active_body_count(); ++i) {
      sites_[tree.node_of(i)].push_back(i);
      if (!on_chains_.contains(i)) bodies.push_back(i);
    }
    for (const auto& node : tree.nodes()) {
      for (int j = 0; j < node.n && !on_chains_.contains(node.cluster->first); ++j) {
        rates.push_back(node.v + j);
      }
      moving_.push_back(node.parents);
    }
    add_inputs(inputs);
    watch(watched);
    nodes_.resize(sites_);
    for (int n = 0; n < count; ++n) {
      if (tree.nodes()[n].kind == TreeNode::Kind::free && sites_[n].size() == 1) bases_.add(n);
      hinge.push_back(may_be_hinge(n));
    }
    hinges_.chains().find(hinge, watched_);
    schedule(std::move(bodies), std::move(rates));
    for (int n = 0; n < count; ++n) {
      const int root = hinges_.chains().chain(n).root;
      outward_steps_[n] = steps_outward(steps_[n], root < 0 ? nullptr : &steps_[root], blocks());
    }
  }

  int blocks() const { return state_.blocks; }
  const ColumnPlan& plan() const { return state_.plan; }
  /// Accelerations of a rate after solve(), by the plan's places.
  const V* rate(int rate) { return state_.rate(rate); }
  /// Accelerations of a watched body at its origin, world axes, after solve(), by blocks.
  const Motion<V>* motion(int body) { return state_.motion(body); }
  /// Whether a node is a base that floats, whose articulated inertia is used as it is.
  bool floats(int node) const { return bases_.contains(node); }
  /// World to body axes, of a watched body or the ground.
  const Mat3<T>& attitude(int body) const {
    return on_chains_.contains(body) ? on_chains_.attitude(body) : tree_.attitude(body);
  }
  /// At the tree's last update. @param tau  forces on the independent rates besides the inputs
  void solve(const SpanningMotion<T>& motion, const BiasForces<T>& bias, const T* tau) {
    bases_.invert();
    on_chains_.place();
    loads_.load(motion, bias, tau);
    on_chains_.inward(state_);
    for (std::size_t k = tree_.order().size(); k-- > 0;) {
      const int n = tree_.order()[k];
      if (floats(n)) continue;  // forces have arrived
      if (hinges_.chains().is_hinge(n)) {
        hinges_.inward(n, steps_[n]);
      } else {
        nodes_.inward(n, steps_[n], sites_[n], first_[n]);
      }
    }
    for (const int n : tree_.order()) {
      if (floats(n)) {
        bases_.move(n, steps_[n]);
      } else if (hinges_.chains().is_hinge(n)) {
        hinges_.outward(n, outward_steps_[n], !moving_[n].empty());
      } else {
        nodes_.outward(n, steps_[n], moving_[n]);
      }
    }
    on_chains_.outward(state_);
  }

 private:
  void add_inputs(const ActingColumns& inputs) {
    for (const Task::Part& part : inputs.contacts()) {
      if (part.body == 0) continue;
      if (on_chains_.contains(part.body)) {
        on_chains_.add_contact(part, state_.plan);
      } else {
        add_once(sites_[tree_.node_of(part.body)], part.body);
        loads_.add_contact(part);
      }
    }
    for (const InputColumns::Motor& motor : inputs.motors()) loads_.add_motor(motor);
  }
  void watch(const std::vector<int>& bodies) {
    watched_.resize(sites_.size(), false);
    for (const int body : bodies) {
      if (on_chains_.contains(body)) {
        on_chains_.watch(body);
      } else if (body != 0) {
        add_once(moving_[tree_.node_of(body)], body);
        watched_[tree_.node_of(body)] = true;
      }
    }
  }
  static void add_once(std::vector<int>& bodies, int body) {
    if (std::find(bodies.begin(), bodies.end(), body) == bodies.end()) bodies.push_back(body);
  }

  /// Who writes first where: it need not add, and nothing has to be cleared. Wrenches that nobody
  /// writes stay zero.
  void schedule(std::vector<int> bodies, std::vector<int> rates) {
    const std::size_t B = state_.blocks;
    std::vector<bool> written(state_.F.size(), false);
    const auto is_first = [&](int body, int block) {
      const bool first = !written[body * B + block];
      written[body * B + block] = true;
      return first;
    };
    loads_.schedule(std::move(bodies), std::move(rates), is_first);
    on_chains_.schedule(state_.plan, inputs_.node, inputs_.motors, is_first);
    for (std::size_t k = tree_.order().size(); k-- > 0;) {
      const int n = tree_.order()[k];
      const auto& supports = tree_.nodes()[n].supports;
      first_[n].assign(supports.size() * B, false);
      for (int b = 0; b < state_.blocks; ++b) {
        ColumnStep s{b, b + 1, false, false, false};
        for (const ColumnPlan::Segment& segment : state_.plan.segments[n]) {
          if (b < segment.begin || b >= segment.end) continue;
          s.passes = true, s.driven = segment.driven;
        }
        for (std::size_t o = 0; o < supports.size() && s.passes; ++o) {
          s.first = first_[n][o * B + b] = is_first(supports[o], b);
        }
        if (floats(n) && s.driven) s.first = is_first(tree_.nodes()[n].body, b);
        ColumnStep::add(steps_[n], s, [&](const ColumnStep& last) {
          return last.passes == s.passes && last.driven == s.driven &&
                 (last.first == s.first || supports.size() > 1);
        });
      }
    }
  }

  /// Revolute, and nobody speaks of rotors on it.
  bool may_be_hinge(int n) const {
    const auto& node = tree_.nodes()[n];
    return node.kind == TreeNode::Kind::revolute && sites_[n].size() == 1 &&
           !on_chains_.contains(node.body) &&
           std::all_of(moving_[n].begin(), moving_[n].end(),
                       [&](int body) { return body == node.body; });
  }

  const ArticulatedTree<T>& tree_;
  InputNodes inputs_;
  ColumnState<T> state_;
  ChainInputs<T> on_chains_;
  ColumnLoads<T> loads_;
  std::vector<std::vector<int>> sites_, moving_;  ///< per node: bodies that wrenches act on, and
                                                  ///< whose motion others need, or the caller
  HingeColumns<T> hinges_;
  NodeColumns<T> nodes_;
  FloatingBases<T> bases_;
  std::vector<std::vector<ColumnStep>> steps_, outward_steps_;  ///< per node
  std::vector<std::vector<bool>> first_;  ///< per node, its supports and blocks: as in ColumnStep
  std::vector<bool> watched_;             ///< per node: by the caller
};

}  // namespace espalier
