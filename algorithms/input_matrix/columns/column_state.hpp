#pragma once

#include <vector>

#include "algorithms/chains/columns/row_lanes.hpp"
#include "algorithms/input_matrix/columns/column_plan.hpp"
#include "espalier/kernel/spatial/spatial.hpp"

namespace espalier {

/// What the columns of an input matrix do to a robot: wrenches on bodies, which collect inward, and
/// accelerations, which spread outward; block by block, a column in each lane.
/// Frames: world axes, body origins.
template <class T>
struct ColumnState {
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;

  /// @param bodies  with the ground  @param nv  independent rates
  ColumnState(ColumnPlan column_plan, int bodies, int nv)
      : plan(std::move(column_plan)),
        blocks(plan.blocks),
        F(static_cast<std::size_t>(bodies) * blocks, Force<V>::zero()),
        a(F.size(), Motion<V>::zero()),
        rates(static_cast<std::size_t>(nv) * blocks, V(0.0)),
        forces(rates.size(), V(0.0)) {}

  Force<V>* wrenches(int body) { return F.data() + static_cast<std::size_t>(body) * blocks; }
  Motion<V>* motion(int body) { return a.data() + static_cast<std::size_t>(body) * blocks; }
  V* rate(int rate) { return rates.data() + static_cast<std::size_t>(rate) * blocks; }
  V* force(int rate) { return forces.data() + static_cast<std::size_t>(rate) * blocks; }
  /// A force of one column on a rate.
  void set_force(int rate, int place, const T& value) { row_of<T>(force(rate), place) = value; }
  /// Block and lane of the free acceleration.
  int free_block() const { return plan.free / lanes; }
  int free_lane() const { return plan.free % lanes; }

  ColumnPlan plan;
  int blocks;
  std::vector<Force<V>> F;       ///< per body and block
  std::vector<Motion<V>> a;      ///< likewise
  std::vector<V> rates, forces;  ///< per independent rate and block
};

/// The first to write need not add, and nothing has to be cleared.
template <class V>
void write(Force<V>& to, const Force<V>& f, bool first) {
  if (first) {
    to = f;
  } else {
    to += f;
  }
}

}  // namespace espalier
