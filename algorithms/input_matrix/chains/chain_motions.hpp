#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/input_matrix/chains/chain_way.hpp"
#include "algorithms/input_matrix/columns/column_state.hpp"

namespace espalier {

/// Motions of columns outward through serial chains that carry nothing, where their rates do not
/// come without them (ChainRates).
/// Frames: chains have their own, ColumnState world axes.
/// Source: theory/input-matrix 3.1 and 3.5.
template <class T>
class ChainMotions {
 public:
  using V = typename RowLanes<T>::V;
  using Column = typename ChainColumns<T>::Column;
  static constexpr int lanes = RowLanes<T>::size;
  static constexpr int unit_blocks = ChainColumns<T>::unit_blocks;

  ChainMotions(const ChainColumns<T>& columns, const ChainContacts<T>& contacts)
      : columns_(columns), contacts_(contacts) {
    for (Motion<V>& m : units_) m = Motion<V>::zero();
    for (V& z : zero_) z = V(0.0);
    for (int i = 0; i < 6; ++i) row_of<T>(&units_[i / lanes][i], i % lanes) = T(1.0);
  }
  /// @param nv    independent rates
  /// @param rest  whether from_rest() will be called
  void resize(int nv, int blocks, bool rest) {
    eta_.resize(static_cast<std::size_t>(nv) * unit_blocks);
    if (rest) rest_.resize(static_cast<std::size_t>(nv) * blocks);
    m_.resize(std::max(blocks, unit_blocks));
  }

  /// Rates of the blocks that act on a chain while its parent is at rest.
  /// @param added  to what stands there
  void from_rest(const Column& chain, const ChainWay<T>& way, bool added, ColumnState<T>& state) {
    const int begin = way.begin[0], end = way.end, B = state.blocks;
    if (begin == end) return;
    V* const rates = added ? rest_.data() : state.rates.data();
    const int count = static_cast<int>(chain.bodies.size());
    columns_.start(chain, begin, end, way.z.data(), m_.data(), rates, B);
    for (int k = 1; k < count; ++k) {
      columns_.outward(chain, k, begin, end, way.z.data() + k * static_cast<std::size_t>(B),
                       m_.data(), rates, B, k + 1 < count);
    }
    for (int k = 0; k < count && added; ++k) {
      V* const out = state.rate(chain.bodies[k].rate);
      const V* const own = rates + static_cast<std::size_t>(chain.bodies[k].rate) * B;
      for (int b = begin; b < end; ++b) out[b] += own[b];
    }
  }
  /// All blocks of a chain whose motion somebody asks for.
  void outward(const Column& chain, const ChainWay<T>& way, ColumnState<T>& state) {
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
  /// What six unit motions of the parent do to the rates of a chain, to way.g.
  void unit_motions(const Column& chain, ChainWay<T>& way) {
    for (int b = 0; b < unit_blocks; ++b) m_[b] = columns_.at_base(chain, units_[b]);
    for (std::size_t k = 0; k < chain.bodies.size(); ++k) {
      columns_.outward(chain, static_cast<int>(k), 0, unit_blocks, zero_, m_.data(), eta_.data(),
                       unit_blocks, true);
      const V* eta = eta_.data() + static_cast<std::size_t>(chain.bodies[k].rate) * unit_blocks;
      for (int i = 0; i < 6; ++i) row_of<T>(&way.g[k][i], 0) = row_of<T>(eta, i);
    }
  }

 private:
  void show(const typename ChainContacts<T>::Pose& p, ColumnState<T>& state) const {
    Motion<V>* a = state.motion(p.body);
    for (int b = 0; b < state.blocks; ++b) {
      const Vec3<V> w = transpose_times(p.E_chain, m_[b].w);
      a[b] = {w, transpose_times(p.E_chain, m_[b].v) + cross(p.r, w)};
    }
  }

  const ChainColumns<T>& columns_;
  const ChainContacts<T>& contacts_;
  std::vector<V> eta_;   ///< per rate and block of unit motions
  std::vector<V> rest_;  ///< as ColumnState::rates, of chains whose parent is at rest
  std::vector<Motion<V>> m_;
  Motion<V> units_[unit_blocks];
  V zero_[unit_blocks];
};

}  // namespace espalier
