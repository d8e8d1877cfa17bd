#pragma once

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "algorithms/chains/columns/row_lanes.hpp"
#include "algorithms/chains/kernels.hpp"
#include "algorithms/chains/plan.hpp"
#include "algorithms/segments/free_body.hpp"

namespace espalier {

/// The bodies of a branching tree side by side: bodies of one level, each in a lane of a row, and
/// where possible each child in the lane of its parent, so that a row reads and adds to the row
/// before as a whole.
template <int lanes>
class TurningRows {
 public:
  struct Place {
    int row = -1, lane = 0;  ///< row -1: the ground, or the floating root
    bool operator==(const Place&) const = default;
  };
  struct Row {
    std::array<int, lanes> body;  ///< 0: idle
    /// Per step on the way to the ground, from the parents on: places of the bodies there. Those of
    /// idle lanes are others', so that they move as these do.
    std::vector<std::array<Place, lanes>> ways;
  };

  /// Whether all bodies, but for a floating root, turn about z, and no rotor spins on any.
  static bool can_pass(const Model& model) {
    if (!model.is_tree() || !model.rotors().empty() || !model.bodies_with_equations().empty()) {
      return false;
    }
    const int root = floating_root(model, model.active_body_count());
    for (int i = root + 1; i <= model.active_body_count(); ++i) {
      if (!are_revolute(model.runs()[model.body(i).run])) return false;
    }
    return model.active_body_count() > root;
  }
  /// @param model  can_pass() is true
  explicit TurningRows(const Model& model)
      : root(floating_root(model, model.active_body_count())),
        children_(model.active_body_count() + 1),
        height_(children_.size(), 0),
        place_(children_.size()) {
    for (int i = model.active_body_count(); i > root; --i) {
      const int p = model.body(i).parent;
      children_[p].push_back(i);
      height_[p] = std::max(height_[p], height_[i] + 1);
    }
    for (std::vector<int>& of_body : children_) {  // the longest way first
      std::stable_sort(of_body.begin(), of_body.end(),
                       [&](int a, int b) { return height_[a] > height_[b]; });
    }
    add_level(divided(children_[root]));
    for (std::size_t first = 0; first < rows.size();) {
      const std::size_t end = rows.size();
      std::vector<Lanes> groups;
      for (; first < end; ++first) add_children(rows[first].body, groups);
      add_level(std::move(groups));
    }
    for (Row& row : rows) find_ways(model, row);
  }

  /// Whether at least half of the lanes are in use.
  bool pays(const Model& model) const {
    return static_cast<int>(rows.size()) * lanes <= 2 * (model.active_body_count() - root);
  }

  int root;  ///< floating body; 0: none
  std::vector<Row> rows;

 private:
  using Lanes = std::array<int, lanes>;

  static int used(const Lanes& bodies) {
    return lanes - static_cast<int>(std::count(bodies.begin(), bodies.end(), 0));
  }
  static std::vector<Lanes> divided(const std::vector<int>& bodies) {
    std::vector<Lanes> groups;
    for (std::size_t k = 0; k < bodies.size(); ++k) {
      if (k % lanes == 0) groups.push_back({});
      groups.back()[k % lanes] = bodies[k];
    }
    return groups;
  }
  /// Children in the lanes of their parents, as many groups as a parent has children. Of one or two
  /// parents with many, four of each stand together: they share all that they read on their way.
  void add_children(const Lanes& parents, std::vector<Lanes>& groups) const {
    std::array<std::size_t, lanes> together{};
    for (int k = 0; k < lanes && 2 * used(parents) <= lanes; ++k) {
      const std::vector<int>& of_parent = children_[parents[k]];
      for (; parents[k] > 0 && of_parent.size() >= together[k] + lanes; together[k] += lanes) {
        std::copy_n(of_parent.begin() + static_cast<long>(together[k]), lanes,
                    groups.emplace_back().begin());
      }
    }
    for (std::size_t number = 0;; ++number) {
      Lanes group{};
      for (int k = 0; k < lanes; ++k) {
        const std::size_t child = together[k] + number;
        if (parents[k] == 0 || child >= children_[parents[k]].size()) continue;
        group[k] = children_[parents[k]][child];
      }
      if (used(group) == 0) return;
      groups.push_back(group);
    }
  }
  /// Rows of a level: groups that leave lanes free take up others.
  void add_level(std::vector<Lanes> groups) {
    std::stable_sort(groups.begin(), groups.end(),
                     [](const Lanes& a, const Lanes& b) { return used(a) > used(b); });
    const std::size_t first = rows.size();
    for (const Lanes& group : groups) {
      const auto with_room =
          std::find_if(rows.begin() + static_cast<long>(first), rows.end(),
                       [&](const Row& row) { return used(row.body) + used(group) <= lanes; });
      if (with_room == rows.end()) {
        rows.push_back({group, {}});
      } else {
        join(group, with_room->body);
      }
    }
    for (std::size_t r = first; r < rows.size(); ++r) {
      for (int k = 0; k < lanes; ++k) {
        if (rows[r].body[k] > 0) place_[rows[r].body[k]] = {static_cast<int>(r), k};
      }
    }
  }
  static void join(const Lanes& group, Lanes& bodies) {
    for (int k = 0; k < lanes; ++k) {
      if (group[k] == 0) continue;
      const int at =
          bodies[k] == 0
              ? k
              : static_cast<int>(std::find(bodies.begin(), bodies.end(), 0) - bodies.begin());
      bodies[at] = group[k];
    }
  }
  void find_ways(const Model& model, Row& row) const {
    const int used_lane = static_cast<int>(
        std::find_if(row.body.begin(), row.body.end(), [](int b) { return b > 0; }) -
        row.body.begin());
    Lanes at = row.body;
    for (;;) {
      std::array<Place, lanes> places;
      for (int k = 0; k < lanes; ++k) {
        if (row.body[k] > 0) at[k] = model.body(at[k]).parent;
        if (row.body[k] > 0) places[k] = place_[at[k]];
      }
      if (places[used_lane].row < 0) return;
      for (int k = 0; k < lanes; ++k) {
        if (row.body[k] > 0) continue;
        places[k] = {places[used_lane].row, k};
        for (int l = 0; l < lanes; ++l) {  // beside others in its own lane, if those are
          if (row.body[l] > 0 && places[l] != Place{places[used_lane].row, l}) {
            places[k] = places[used_lane];
          }
        }
      }
      row.ways.push_back(places);
    }
  }

  std::vector<std::vector<int>> children_;  ///< per body
  std::vector<int> height_;                 ///< per body: of its subtree
  std::vector<Place> place_;                ///< per body
};

/// Where the lanes of a row find the bodies at a step of their ways.
template <class T>
struct RowStep {
  static constexpr int lanes = RowLanes<T>::size;
  using Place = typename TurningRows<lanes>::Place;

  RowStep() = default;
  explicit RowStep(const std::array<Place, lanes>& places)
      : row(places[0].row),
        shared(std::count(places.begin(), places.end(), places[0]) == lanes),
        place(places) {
    for (int k = 0; k < lanes; ++k) {
      if (places[k] != Place{places[0].row, k}) row = -1;
    }
  }

  int row = -1;         ///< of all lanes, each in its own; -1: apart, at their places
  bool shared = false;  ///< one body for all lanes
  std::array<Place, lanes> place;
};

/// Numbers first, first + 1, ... of what rows show, of the bodies at a step.
/// @param of  of(row): its numbers, a real array, since lanes are picked out of it by number
template <int first, int count, class T, class Of, class V>
ESPALIER_ALWAYS_INLINE void read_lanes(const RowStep<T>& step, Of&& of, V* out) {
  constexpr int lanes = RowStep<T>::lanes;
  if (step.row >= 0) {
    const V* all = of(step.row);
    for (int n = 0; n < count; ++n) out[n] = all[first + n];
    return;
  }
  const T* at[lanes];
  for (int k = 0; k < lanes; ++k) {
    at[k] = &row_of<T>(of(step.place[k].row), lanes * first + step.place[k].lane);
  }
  if (step.shared) {
    for (int n = 0; n < count; ++n) out[n] = V(at[0][lanes * n]);
    return;
  }
  for (int n = 0; n < count; ++n) {
    out[n] = side_by_side<T>([&](int k) { return at[k][lanes * n]; });
  }
}

}  // namespace espalier
