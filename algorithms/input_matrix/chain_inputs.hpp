#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/input_matrix/chain_way.hpp"
#include "algorithms/input_matrix/column_state.hpp"

namespace espalier {

/// Columns of an input matrix on serial chains that carry nothing. Blocks that act on a chain pass
/// it inward and outward; elsewhere it follows its parent, six numbers for each rate.
/// Frames: chains have their own, ColumnState world axes.
/// Source: theory/input-matrix 3.1.
template <class T>
class ChainInputs {
 public:
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;
  static constexpr int unit_blocks = ChainColumns<T>::unit_blocks;

  ChainInputs(LeafChains<T>& chains, const ArticulatedTree<T>& tree)
      : chains_(chains),
        columns_(chains.columns()),
        tree_(tree),
        ways_(columns_.columns().size()),
        contacts_(columns_, tree),
        eta_(static_cast<std::size_t>(tree.model().nv()) * unit_blocks),
        free_(tree.model().nv(), T(0.0)) {
    for (Motion<V>& m : units_) m = Motion<V>::zero();
    for (V& z : zero_) z = V(0.0);
    for (int i = 0; i < 6; ++i) row_of<T>(&units_[i / lanes][i], i % lanes) = T(1.0);
  }

  bool contains(int body) const { return chains_.contains(body); }
  /// Asks for the motion of a body of a chain.
  void watch(int body) {
    Way& way = ways_[columns_.plan().chain_of[body]];
    way.watched = true;
    way.shown.push_back(contacts_.add_pose(body));
  }
  /// Rows of a contact on a body of a chain.
  void add_contact(const Task::Part& part, const ColumnPlan& plan) {
    contacts_.add_contact(part, plan);
  }
  /// Attitudes of bodies that contacts and watchers speak of. After LeafChains::eliminate().
  void place() { contacts_.place(); }
  /// World to body axes, of a body that is watched.
  const Mat3<T>& attitude(int body) const { return contacts_.attitude(body); }

  /// Once all contacts are there.
  /// @param node      of each column: that of the body or rate on which it acts
  /// @param motors    columns that are motors
  /// @param is_first  is_first(body, block) says whether nobody has written there, and notes it
  template <class IsFirst>
  void schedule(const ColumnPlan& plan, const std::vector<int>& node,
                std::span<const InputColumns::Motor> motors, IsFirst&& is_first) {
    for (std::size_t l = 0; l < ways_.size(); ++l) {
      const auto& chain = columns_.columns()[l];
      ways_[l].find_blocks(chain, tree_, plan, node, is_first);
      ways_[l].find_stamps(static_cast<int>(l), static_cast<int>(chain.bodies.size()),
                           contacts_.stamps());
      ways_[l].find_unit_forces(chain, tree_.model(), plan, motors);
    }
    K_.resize(plan.blocks), m_.resize(std::max(plan.blocks, unit_blocks));
  }

  /// Tips to parents: wrenches there.
  void inward(ColumnState<T>& state) {
    for (std::size_t l = 0; l < ways_.size(); ++l) {
      const auto& chain = columns_.columns()[l];
      Way& way = ways_[l];
      int begin = way.end;
      for (int k = static_cast<int>(chain.bodies.size()); k-- > 0;) {
        for (; begin > way.begin[k]; --begin) K_[begin - 1] = Force<V>::zero();
        for (const int s : way.stamps[k]) {
          const auto& stamp = contacts_.stamps()[s];
          K_[stamp.block] += contacts_.wrench(stamp);
        }
        if (begin == way.end) continue;
        columns_.inward(chain, k, begin, way.end, state.force(chain.bodies[k].rate), K_.data(),
                        way.z.data(), state.blocks);
      }
      if (way.watched) start_free(chain, way, state);
      if (chain.parent == 0) continue;
      for (int b = begin; b < way.end; ++b) {
        K_[b] = columns_.on_parent(chain, K_[b]);
        write(state.wrenches(chain.parent)[b], K_[b], way.first[b - begin]);
      }
      for (std::size_t k = 0; k < way.unit_force.size(); ++k) {
        // The six numbers of a wrench lie a V apart.
        const auto [block, lane] = way.unit_force[k];
        const T* f = &row_of<T>(&K_[block].n.x, lane);
        way.g[k] = {{f[0], f[lanes], f[2 * lanes]}, {f[3 * lanes], f[4 * lanes], f[5 * lanes]}};
      }
    }
  }
  /// Parents to tips: rates.
  void outward(ColumnState<T>& state) {
    for (std::size_t l = 0; l < ways_.size(); ++l) {
      const auto& chain = columns_.columns()[l];
      Way& way = ways_[l];
      const int begin = way.watched ? 0 : way.begin[0], end = way.watched ? state.blocks : way.end;
      if (chain.parent != 0 && end - begin < state.blocks) {
        if (way.unit_force.empty()) unit_motions(chain, way);
        follow(chain, way, 0, begin, state);
        follow(chain, way, end, state.blocks, state);
      }
      outward(chain, way, begin, end, state);
    }
    chains_.accelerate(
        tree_,
        [&](int body) {
          const Motion<V>& a = state.motion(body)[state.free_block()];
          Motion<T> free;
          for (int i = 0; i < 6; ++i) free[i] = row_of<T>(&a[i], state.free_lane());
          return free;
        },
        free_.data());
    for (const auto& chain : columns_.columns()) {
      for (const auto& body : chain.bodies) {
        row_of<T>(state.rate(body.rate), state.plan.free) = free_[body.rate];
      }
    }
  }

 private:
  using Chain_ = typename ChainColumns<T>::Column;
  using Way = ChainWay<T>;

  /// The free motion comes with the elimination of the chain.
  void start_free(const Chain_& chain, Way& way, const ColumnState<T>& state) const {
    for (std::size_t k = 0; k < chain.bodies.size(); ++k) {
      row_of<T>(way.z.data() + k * state.blocks, state.plan.free) = chain.bodies[k].u;
    }
  }
  void outward(const Chain_& chain, const Way& way, int begin, int end, ColumnState<T>& state) {
    const Motion<V>* a = state.motion(chain.parent);
    for (int b = begin; b < end; ++b) m_[b] = columns_.at_base(chain, a[b]);
    const int last = static_cast<int>(chain.bodies.size()) - 1;
    for (int k = 0; k <= last; ++k) {
      columns_.outward(chain, k, begin, end, way.z.data() + k * state.blocks, m_.data(),
                       state.rates.data(), state.blocks, k < last || way.watched);
      for (const int s : way.shown) {
        if (contacts_.pose(s).index == k) show(contacts_.pose(s), state);
      }
    }
  }
  void show(const typename ChainContacts<T>::Pose& p, ColumnState<T>& state) const {
    Motion<V>* a = state.motion(p.body);
    for (int b = 0; b < state.blocks; ++b) {
      const Vec3<V> w = transpose_times(p.E_chain, m_[b].w);
      a[b] = {w, transpose_times(p.E_chain, m_[b].v) + cross(p.r, w)};
    }
  }
  void unit_motions(const Chain_& chain, Way& way) {
    for (int b = 0; b < unit_blocks; ++b) m_[b] = columns_.at_base(chain, units_[b]);
    for (std::size_t k = 0; k < chain.bodies.size(); ++k) {
      columns_.outward(chain, static_cast<int>(k), 0, unit_blocks, zero_, m_.data(), eta_.data(),
                       unit_blocks, true);
      const V* eta = eta_.data() + static_cast<std::size_t>(chain.bodies[k].rate) * unit_blocks;
      for (int i = 0; i < 6; ++i) way.g[k][i] = row_of<T>(eta, i);
    }
  }
  /// Rates where nothing acts on the chain, in blocks [begin, end).
  void follow(const Chain_& chain, const Way& way, int begin, int end,
              ColumnState<T>& state) const {
    const Motion<V>* a = state.motion(chain.parent);
    for (std::size_t k = 0; begin < end && k < chain.bodies.size(); ++k) {
      const Force<V> g = Force<V>::from(way.g[k]);
      V* rate = state.rate(chain.bodies[k].rate);
      for (int b = begin; b < end; ++b) rate[b] = dot(a[b], g);
    }
  }

  LeafChains<T>& chains_;
  ChainColumns<T>& columns_;
  const ArticulatedTree<T>& tree_;
  std::vector<Way> ways_;  ///< per chain
  ChainContacts<T> contacts_;
  std::vector<V> eta_;   ///< per rate and block of unit motions
  std::vector<T> free_;  ///< per rate
  std::vector<Force<V>> K_;
  std::vector<Motion<V>> m_;
  Motion<V> units_[unit_blocks];
  V zero_[unit_blocks];
};

}  // namespace espalier
