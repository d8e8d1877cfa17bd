#pragma once

#include <vector>

#include "algorithms/segments/articulated_tree/articulated_tree.hpp"
#include "espalier/kernel/problems/task.hpp"

namespace espalier {

/// The rows of a task in lanes, and the way that each end-effector's rows take to the ground.
template <class T>
class TaskRows {
 public:
  using V = typename RowLanes<T>::V;

  /// Where rows pass: a node, and its bodies that they speak of there.
  struct Stop {
    int node;
    std::vector<int> sites;
  };
  struct Part {
    const Task::Part* part;
    int blocks;
    std::vector<Force<V>> rows;  ///< constant: see Task::Part
    std::vector<Stop> way;       ///< from the link to the ground; empty on the ground
  };

  TaskRows(const Task& task, const ArticulatedTree<T>& tree) : size_(task.size()) {
    constexpr int lanes = RowLanes<T>::size;
    for (const Task::Part& part : task.parts()) {
      Part p{&part, blocks_of<T>(part.size()), {}, {}};
      p.rows.assign(p.blocks, Force<V>::zero());
      for (int i = 0; i < part.size(); ++i) {
        for (int k = 0; k < 6; ++k)
          row_of<T>(&p.rows[i / lanes][k], i % lanes) = T(part.rows[i][k]);
      }
      if (part.body != 0) {
        p.way.push_back({tree.node_of(part.body), {part.body}});
        for (;;) {
          const auto& node = tree.nodes()[p.way.back().node];
          if (node.supports.empty()) break;
          p.way.push_back({node.parent, node.supports});
        }
      }
      parts_.push_back(std::move(p));
    }
  }

  int size() const { return size_; }
  const std::vector<Part>& parts() const { return parts_; }

  /// The rows of a part as wrenches about its body's origin, world axes, at the tree's last update.
  /// @param[out] K  blocks of them
  void place(const ArticulatedTree<T>& tree, const Part& p, Force<V>* K) const {
    const Mat3<T>& E = tree.attitude(p.part->body);
    if (p.part->world) {
      const Vec3<T> point = transpose_times(E, p.part->point);
      for (int b = 0; b < p.blocks; ++b) {
        K[b] = {p.rows[b].n + cross(point, p.rows[b].f), p.rows[b].f};
      }
    } else {
      for (int b = 0; b < p.blocks; ++b) {
        K[b] = {transpose_times(E, p.rows[b].n), transpose_times(E, p.rows[b].f)};
      }
    }
  }

  /// Writes row i of one part times block b of another into J M^-1 J^T, and its mirror image.
  void write(const Part& first, int i, const Part& second, int b, const V& x, T* out) const {
    constexpr int lanes = RowLanes<T>::size;
    const long m = size_, row = first.part->first + i;
    const int last = std::min(lanes, second.part->size() - b * lanes);
    for (int l = 0; l < last; ++l) {
      const long column = second.part->first + b * lanes + l;
      out[row * m + column] = out[column * m + row] = row_of<T>(&x, l);
    }
  }

  /// The stops at which two ways first meet, from their links.
  struct Meeting {
    bool anywhere;  ///< false: they have nothing but the ground in common
    std::size_t first, second;
  };
  static Meeting meeting(const Part& first, const Part& second) {
    std::size_t i = first.way.size(), k = second.way.size();
    if (i == 0 || k == 0 || first.way.back().node != second.way.back().node) return {false, 0, 0};
    while (i > 1 && k > 1 && first.way[i - 2].node == second.way[k - 2].node) --i, --k;
    return {true, i - 1, k - 1};
  }

  /// Folded rotors that the task speaks of.
  static std::vector<int> rotors(const Model& model, const Task& task) {
    std::vector<int> bodies;
    for (const Task::Part& part : task.parts()) {
      if (part.body > model.active_body_count() &&
          std::find(bodies.begin(), bodies.end(), part.body) == bodies.end()) {
        bodies.push_back(part.body);
      }
    }
    return bodies;
  }

 private:
  int size_;
  std::vector<Part> parts_;
};

}  // namespace espalier
