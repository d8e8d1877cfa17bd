#pragma once

#include <algorithm>
#include <vector>

#include "algorithms/input_matrix/chains/leaf_chains.hpp"
#include "algorithms/input_matrix/columns/column_plan.hpp"
#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

namespace espalier {

/// Contacts on bodies of serial chains, as wrenches in the chains' frames, and the poses of bodies
/// that contacts or watchers need.
template <class T>
class ChainContacts {
 public:
  using V = typename RowLanes<T>::V;
  static constexpr int lanes = RowLanes<T>::size;

  /// A body whose attitude is needed.
  struct Pose {
    int body, chain, index;
    Mat3<T> E, E_chain;  ///< world to the axes of the model, and of the chain
    Vec3<T> r;           ///< from the body's origin to that of the chain's frame, world axes
  };
  /// Rows of contacts on one body, in the lanes of one block; the other lanes are zero.
  struct Stamp {
    int body, chain, index, block;
    bool world;     ///< as in Task::Part
    int pose;       ///< if in world axes
    Vec3<V> point;  ///< chain's frame
    Force<V> rows;  ///< chain's or world axes
  };
  explicit ChainContacts(const ChainColumns<T>& columns) : columns_(columns) {}

  const std::vector<Stamp>& stamps() const { return stamps_; }
  const Pose& pose(int index) const { return poses_[index]; }
  /// Rows of a contact on a body of a chain.
  void add_contact(const Task::Part& part, const ColumnPlan& plan) {
    const Place at = place_of(part.body);
    const Transform<double>& F = columns_.plan().body(part.body).F;
    for (int k = 0; k < part.size(); ++k) {
      const int place = plan.place[part.first + k], block = place / lanes;
      auto stamp = std::find_if(stamps_.begin(), stamps_.end(), [&](const Stamp& s) {
        return s.body == part.body && s.block == block && s.world == part.world;
      });
      if (stamp == stamps_.end()) {
        const int frame = part.world ? add_pose(part.body) : -1;
        stamps_.push_back({part.body, at.chain, at.index, block, part.world, frame, Vec3<V>::zero(),
                           Force<V>::zero()});
        stamp = stamps_.end() - 1;
      }
      const Force<double> row = part.world ? part.rows[k] : F.force_to(part.rows[k]);
      const Vec3<double> point = F.E * (part.point - F.r);
      for (int i = 0; i < 6; ++i) row_of<T>(&stamp->rows[i], place % lanes) = T(row[i]);
      for (int i = 0; i < 3; ++i) row_of<T>(&stamp->point[i], place % lanes) = T(point[i]);
    }
  }

  /// @returns  index of a body's pose, which is added unless it is there
  int add_pose(int body) {
    for (std::size_t k = 0; k < poses_.size(); ++k) {
      if (poses_[k].body == body) return static_cast<int>(k);
    }
    const Place at = place_of(body);
    poses_.push_back(
        {body, at.chain, at.index, Mat3<T>::identity(), Mat3<T>::identity(), Vec3<T>::zero()});
    return static_cast<int>(poses_.size()) - 1;
  }

  /// Computes these poses. After LeafChains::eliminate().
  void place() {
    for (Pose& p : poses_) {
      const Transform<double>& F = columns_.plan().body(p.body).F;
      p.E_chain = columns_.attitude(p.chain, p.index);
      p.E = Mat3<T>::from(F.E.transposed()) * p.E_chain;
      p.r = scale(F.r.z, p.E.row[2]);
    }
  }
  /// World to body axes, of a body that is watched.
  const Mat3<T>& attitude(int body) const {
    return std::find_if(poses_.begin(), poses_.end(), [&](const Pose& p) { return p.body == body; })
        ->E;
  }

  /// A contact's rows about the origin of the chain's frame.
  Force<V> wrench(const Stamp& s) const {
    if (!s.world) return s.rows;
    const Mat3<T> E = poses_[s.pose].E_chain;
    Force<V> f{E * s.rows.n, E * s.rows.f};
    f.n += cross(s.point, f.f);
    return f;
  }

 private:
  struct Place {
    int chain, index;
  };
  Place place_of(int body) const {
    return {columns_.plan().chain_of[body], columns_.plan().index_in[body]};
  }

  const ChainColumns<T>& columns_;
  std::vector<Stamp> stamps_;
  std::vector<Pose> poses_;
};

}  // namespace espalier
