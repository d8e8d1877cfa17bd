#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/input_matrix/chains/chain_motions.hpp"
#include "algorithms/input_matrix/chains/chain_rates.hpp"

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

  ChainInputs(LeafChains<T>& chains, const ArticulatedTree<T>& tree)
      : chains_(chains),
        columns_(chains.columns()),
        tree_(tree),
        ways_(columns_.columns().size()),
        contacts_(columns_),
        motions_(columns_, contacts_),
        free_(tree.model().nv(), T(0.0)) {}

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
  /// Poses of bodies that contacts or watchers need. After LeafChains::eliminate().
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
    bool any_rest = false;
    for (std::size_t l = 0; l < ways_.size(); ++l) {
      const auto& chain = columns_.columns()[l];
      ways_[l].find_blocks(chain, tree_, plan, node, is_first);
      ways_[l].find_stamps(static_cast<int>(l), contacts_.stamps());
      ways_[l].find_unit_forces(chain, tree_.model(), plan, motors);
      if (chain.parent != 0 && !ways_[l].watched) rates_.add(chain.parent, static_cast<int>(l));
      for (const auto& body : chain.bodies) free_rates_.push_back(body.rate);
      any_rest = any_rest || (!ways_[l].watched && !ways_[l].by_factors);
    }
    K_.resize(plan.blocks);
    motions_.resize(tree_.model().nv(), plan.blocks, any_rest);
  }

  /// Tips to parents: wrenches there.
  void inward(ColumnState<T>& state) {
    Force<V>* const K = K_.data();
    for (std::size_t l = 0; l < ways_.size(); ++l) {
      const auto& chain = columns_.columns()[l];
      Way& way = ways_[l];
      const int end = way.end;
      V* const z = way.z.data();
      const int* const begins = way.begin.data();
      auto stamp = way.stamps.begin();
      int begin = end;
      for (int k = static_cast<int>(chain.bodies.size()); k-- > 0;) {
        for (; begin > begins[k]; --begin) K[begin - 1] = Force<V>::zero();
        for (; stamp != way.stamps.end() && contacts_.stamps()[*stamp].index == k; ++stamp) {
          const auto& s = contacts_.stamps()[*stamp];
          K[s.block] += contacts_.wrench(s);
        }
        if (begin == end) continue;
        columns_.inward(chain, k, begin, end, state.force(chain.bodies[k].rate), K, z, state.blocks,
                        !way.by_factors);
      }
      if (way.watched) start_free(chain, way, state);
      if (chain.parent == 0) continue;
      Force<V>* const out = state.wrenches(chain.parent) + begin;
      Force<V>* const g = way.g.data();
      const char* const first = way.first.data();
      for (int b = 0; b < end - begin; ++b) {
        const Force<V> f = columns_.on_parent(chain, K[begin + b]);
        write(out[b], f, first[b]);
        g[b] = f;
      }
    }
  }
  /// Parents to tips: rates.
  void outward(ColumnState<T>& state) {
    // What acts on a chain moves it as if the parent stayed at rest; the parent adds its part.
    for (std::size_t l = 0; l < ways_.size(); ++l) {
      const auto& chain = columns_.columns()[l];
      Way& way = ways_[l];
      if (way.watched) {
        motions_.outward(chain, way, state);
      } else if (chain.parent != 0 && !way.driven) {
        motions_.unit_motions(chain, way);
      }
    }
    rates_.follow(ways_, state);
    for (std::size_t l = 0; l < ways_.size(); ++l) {
      const auto& chain = columns_.columns()[l];
      const Way& way = ways_[l];
      if (way.watched) continue;
      const bool moved = chain.parent != 0;
      if (way.by_factors) {
        moved ? Rates::template from_factors<true>(chain, way, state)
              : Rates::template from_factors<false>(chain, way, state);
      } else {
        motions_.from_rest(chain, way, moved, state);
      }
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
    T* const rates = &row_of<T>(state.rates.data(), state.plan.free);
    const std::size_t next = static_cast<std::size_t>(state.blocks) * lanes;
    for (const int rate : free_rates_) rates[rate * next] = free_[rate];
  }

 private:
  using Chain_ = typename ChainColumns<T>::Column;
  using Way = ChainWay<T>;
  using Rates = ChainRates<T>;

  /// The free motion comes with the elimination of the chain.
  void start_free(const Chain_& chain, Way& way, const ColumnState<T>& state) const {
    for (std::size_t k = 0; k < chain.bodies.size(); ++k) {
      row_of<T>(way.z.data() + k * state.blocks, state.plan.free) = chain.bodies[k].u;
    }
  }
  LeafChains<T>& chains_;
  ChainColumns<T>& columns_;
  const ArticulatedTree<T>& tree_;
  std::vector<Way> ways_;  ///< per chain
  ChainContacts<T> contacts_;
  Rates rates_;
  ChainMotions<T> motions_;
  std::vector<T> free_;          ///< per rate: the free motion
  std::vector<int> free_rates_;  ///< that chains have
  std::vector<Force<V>> K_;
};

}  // namespace espalier
