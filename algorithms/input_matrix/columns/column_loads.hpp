#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/input_matrix/bias_forces.hpp"
#include "algorithms/input_matrix/columns/column_state.hpp"
#include "algorithms/segments/articulated_tree/articulated_tree.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

namespace espalier {

/// Loads on an articulated tree in the columns of an input matrix: contacts on bodies, motors on
/// rates, and in the column of the free acceleration the negative of what bodies need at vdot = 0.
/// Source: theory/input-matrix 3.1.
template <class T>
class ColumnLoads {
 public:
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;

  ColumnLoads(const ArticulatedTree<T>& tree, ColumnState<T>& state) : tree_(tree), state_(state) {
    row_of<T>(&against_, state_.free_lane()) = T(-1.0);
  }

  void add_contact(const Task::Part& part) {
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
    const int place = state_.plan.place[motor.column];
    drives_.push_back({&c, row, place});
    if (!c.constrained) state_.set_force(c.v + row, place, T(1.0));
  }
  /// @param bodies, rates  of the tree, to whose free motion the bias forces belong
  /// @param is_first       is_first(body, block) says whether nobody has written there, and notes
  /// it
  template <class IsFirst>
  void schedule(std::vector<int> bodies, std::vector<int> rates, IsFirst&& is_first) {
    bodies_ = std::move(bodies), rates_ = std::move(rates);
    for (Stamp& s : stamps_) s.first = is_first(s.body, s.block);
    for (const int i : bodies_) free_first_.push_back(is_first(i, state_.free_block()));
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
      write(state_.wrenches(s.body)[s.block], f, s.first);
    }
    const int block = state_.free_block();
    for (std::size_t at = 0; at < bodies_.size(); ++at) {
      const int i = bodies_[at];
      const Mat3<T>& E = tree_.attitude(i);
      const Force<T>& f = bias.wrench(i);
      const Force<T> w{transpose_times(E, f.n), transpose_times(E, f.f)};
      Force<V> free;
      for (int k = 0; k < 6; ++k) free[k] = w[k] * against_;
      write(state_.wrenches(i)[block], free, free_first_[at]);
    }
    const T* needed = bias.rates();
    for (const int j : rates_) {
      state_.set_force(j, state_.plan.free, needed == nullptr ? tau[j] : tau[j] - needed[j]);
    }
    for (const Drive& d : drives_) {
      if (!d.cluster->constrained) continue;
      const T* G = motion.G(*d.cluster) + d.row * d.cluster->nv;
      for (int j = 0; j < d.cluster->nv; ++j) state_.set_force(d.cluster->v + j, d.place, G[j]);
    }
  }

 private:
  /// Rows of contacts on one body, in the lanes of one block; the other lanes are zero.
  struct Stamp {
    int body, block;
    bool world;  ///< as in Task::Part
    bool first;  ///< nothing has been written there yet
    Vec3<V> point;
    Force<V> rows;
  };
  /// A motor: a force on a rate, which on a cluster that constraints tie is one on all its rates.
  struct Drive {
    const Cluster* cluster;
    int row;  ///< of G; or of the independent rates, where the cluster is not constrained
    int place;
  };

  const ArticulatedTree<T>& tree_;
  ColumnState<T>& state_;
  std::vector<Stamp> stamps_;
  std::vector<Drive> drives_;
  std::vector<int> bodies_, rates_;
  std::vector<bool> free_first_;  ///< per body of bodies_
  V against_ = V(0.0);            ///< -1 in the lane of the free acceleration
};

}  // namespace espalier
