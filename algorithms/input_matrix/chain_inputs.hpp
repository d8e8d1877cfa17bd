#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "algorithms/input_matrix/chain_way.hpp"
#include "algorithms/input_matrix/column_state.hpp"

/// Before a loop of so few turns that unrolling costs more than it saves.
#if defined(__clang__)
#define ESPALIER_NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define ESPALIER_NO_UNROLL _Pragma("GCC unroll 1")
#endif

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
        contacts_(columns_),
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
                        way.z.data(), state.blocks, !way.by_factors);
      }
      if (way.watched) start_free(chain, way, state);
      if (chain.parent == 0) continue;
      columns_.on_parent(chain, begin, way.end, K_.data());
      Force<V>* out = state.wrenches(chain.parent);
      for (int b = begin; b < way.end; ++b) write(out[b], K_[b], way.first[b - begin]);
      const T* wrenches = &row_of<T>(&K_[0].n.x, 0);
      Force<V>* g = way.g.data();
      for (const int start : way.unit_force) {
        const T* f = wrenches + start;
        *g++ = {{V(f[0]), V(f[lanes]), V(f[2 * lanes])},
                {V(f[3 * lanes]), V(f[4 * lanes]), V(f[5 * lanes])}};
      }
    }
  }
  /// Parents to tips: rates.
  void outward(ColumnState<T>& state) {
    for (std::size_t l = 0; l < ways_.size(); ++l) {
      const auto& chain = columns_.columns()[l];
      Way& way = ways_[l];
      if (way.watched) {
        outward(chain, way, state);
        continue;
      }
      // What acts on the chain moves it as if the parent stayed at rest; the parent adds its part.
      const int begin = way.begin[0];
      if (chain.parent != 0 && way.unit_force.empty()) unit_motions(chain, way);
      if (!way.by_factors) from_rest(chain, way, begin, way.end, state);
      const bool moved = chain.parent != 0;
      if (moved) write_rates<From::parent>(chain, way, 0, begin, state);
      if (way.by_factors) {
        moved ? write_rates<From::both>(chain, way, begin, way.end, state)
              : write_rates<From::factors>(chain, way, begin, way.end, state);
      } else if (moved) {
        write_rates<From::sum>(chain, way, begin, way.end, state);
      }
      if (moved) write_rates<From::parent>(chain, way, way.end, state.blocks, state);
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
  /// Rates of blocks [begin, end) while the parent is at rest.
  void from_rest(const Chain_& chain, const Way& way, int begin, int end, ColumnState<T>& state) {
    if (begin == end) return;
    const int count = static_cast<int>(chain.bodies.size());
    columns_.start(chain, begin, end, way.z.data(), m_.data(), state.rates.data(), state.blocks);
    for (int k = 1; k < count; ++k) {
      columns_.outward(chain, k, begin, end, way.z.data() + k * state.blocks, m_.data(),
                       state.rates.data(), state.blocks, k + 1 < count);
    }
  }
  /// All blocks of a chain whose motion somebody asks for.
  void outward(const Chain_& chain, const Way& way, ColumnState<T>& state) {
    const Motion<V>* a = state.motion(chain.parent);
    for (int b = 0; b < state.blocks; ++b) m_[b] = columns_.at_base(chain, a[b]);
    for (int k = 0; k < static_cast<int>(chain.bodies.size()); ++k) {
      columns_.outward(chain, k, 0, state.blocks, way.z.data() + k * state.blocks, m_.data(),
                       state.rates.data(), state.blocks, true);
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
      for (int i = 0; i < 6; ++i) way.g[k][i] = V(row_of<T>(eta, i));
    }
  }
  /// What rates of a chain are made of: the motion of its parent; the factors of the chain's own
  /// inverse inertia; both; or the parent's motion and what stands there.
  enum class From { parent, factors, both, sum };
  template <From from>
  void write_rates(const Chain_& chain, const Way& way, int begin, int end, ColumnState<T>& state) {
    int b = begin;
    for (; b + 3 <= end; b += 3) write_rates<from, 3>(chain, way, b, state);
    for (; b < end; ++b) write_rates<from, 1>(chain, way, b, state);
  }
  /// Where each rate has a motor: with z of the column of a unit force on rate i, before D divides
  /// it, the rates of a chain on a parent at rest are ydd_i = sum over k of z_k(i) D_k^-1 z_k.
  template <From from, int width>
  void write_rates(const Chain_& chain, const Way& way, int begin, ColumnState<T>& state) {
    constexpr bool factors = from == From::factors || from == From::both;
    const std::size_t B = state.blocks;
    const int count = static_cast<int>(way.rate.size());
    int last = 0;  // bodies that the blocks act on
    V divided[factors ? ChainWay<T>::longest_by_factors : 1][width];
    if constexpr (factors) {
      for (int j = 0; j < width; ++j) {
        last = std::max(last, way.acted_on[begin + j - way.begin[0]]);
      }
      const V* z = way.z.data() + begin;
      for (int k = 0; k < last; ++k, z += B) {
        for (int j = 0; j < width; ++j) divided[k][j] = chain.bodies[k].D * z[j];
      }
    }
    const T* const units = &row_of<T>(way.z.data(), 0);
    const Motion<V>* a = state.motion(chain.parent) + begin;
    const Force<V>* g = way.g.data();
    const int *rate = way.rate.data(), *unit_row = way.unit_row.data();
    V* const rates = state.rates.data() + begin;
    for (int i = 0; i < count; ++i) {
      V* out = rates + rate[i];
      V sum[width];
      for (int j = 0; j < width; ++j) {
        if constexpr (from == From::factors) sum[j] = V(units[unit_row[i]]) * divided[0][j];
        if constexpr (from != From::factors) sum[j] = dot(a[j], g[i]);
        if constexpr (from == From::sum) sum[j] += out[j];
      }
      if constexpr (factors) {
        constexpr int first = from == From::factors ? 1 : 0;
        const T* unit = units + unit_row[i] + first * B * lanes;
        const int stop = std::min(i + 1, last);
        ESPALIER_NO_UNROLL  // few turns
            for (int k = first; k < stop; ++k, unit += B * lanes) {
          const V factor = V(unit[0]);
          for (int j = 0; j < width; ++j) sum[j] += factor * divided[k][j];
        }
      }
      for (int j = 0; j < width; ++j) out[j] = sum[j];
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

#undef ESPALIER_NO_UNROLL
