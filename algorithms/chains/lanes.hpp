#pragma once

#include <algorithm>
#include <vector>

namespace espalier {

/// Bodies that are computed at once, one in each lane of a pack, level by level. Where possible a
/// body's parent is in the same lane of the group before.
class ChainLanes {
 public:
  struct Candidate {
    int body, parent, level;
  };
  struct Group {
    std::vector<int> body;      ///< per lane; -1: idle
    int before = -1;            ///< group that holds the parents of the lanes that follow it
    std::vector<bool> follows;  ///< per lane
  };

  /// @param candidates  in the order of their levels  @param lanes  of a pack; below two: no groups
  ChainLanes(const std::vector<Candidate>& candidates, int lanes) : lanes_(lanes) {
    if (lanes < 2) return;
    std::size_t last_group = 0;  // the first of the level before
    for (std::size_t begin = 0; begin < candidates.size();) {
      std::size_t end = begin;
      while (end < candidates.size() && candidates[end].level == candidates[begin].level) ++end;
      std::vector<Candidate> level(candidates.begin() + begin, candidates.begin() + end);
      const std::size_t first_group = groups_.size();
      for (std::size_t g = last_group; g < first_group; ++g) follow(static_cast<int>(g), level);
      while (level.size() > 1) {
        Group group = idle();
        for (int k = 0; k < lanes_ && !level.empty(); ++k) {
          group.body[k] = level.front().body;
          level.erase(level.begin());
        }
        groups_.push_back(std::move(group));
      }
      last_group = first_group;
      begin = end;
    }
  }

  const std::vector<Group>& groups() const { return groups_; }

 private:
  Group idle() const {
    return {std::vector<int>(lanes_, -1), -1, std::vector<bool>(lanes_, false)};
  }

  /// Children of a group's bodies in the same lanes; in lanes that idle there, others.
  void follow(int before, std::vector<Candidate>& level) {
    Group group = idle();
    const std::vector<int> parents = groups_[before].body;
    int count = 0;
    for (int k = 0; k < lanes_; ++k) {
      const auto child = std::find_if(level.begin(), level.end(), [&](const Candidate& c) {
        return parents[k] >= 0 && c.parent == parents[k];
      });
      if (child == level.end()) continue;
      group.body[k] = child->body, group.follows[k] = true;
      level.erase(child);
      ++count;
    }
    if (count == 0) return;
    for (int k = 0; k < lanes_ && !level.empty(); ++k) {
      if (parents[k] >= 0) continue;
      // A body that follows another group stays with it.
      const auto other = std::find_if(level.begin(), level.end(), [&](const Candidate& c) {
        return std::none_of(groups_.begin(), groups_.end(), [&](const Group& g) {
          return std::find(g.body.begin(), g.body.end(), c.parent) != g.body.end() &&
                 &g != &groups_[before];
        });
      });
      if (other == level.end()) break;
      group.body[k] = other->body;
      level.erase(other);
      ++count;
    }
    group.before = before;
    if (count > 1) {
      groups_.push_back(std::move(group));
    } else {  // a pack with one lane in use is no faster
      level.insert(level.begin(), {single(group), -1, 0});
    }
  }
  static int single(const Group& group) {
    return *std::find_if(group.body.begin(), group.body.end(), [](int b) { return b >= 0; });
  }

  int lanes_;
  std::vector<Group> groups_;
};

}  // namespace espalier
