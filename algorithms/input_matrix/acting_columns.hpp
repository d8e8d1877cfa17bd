#pragma once

#include <algorithm>
#include <vector>

#include "espalier/kernel/problems/operational_space/input_matrix.hpp"

namespace espalier {

/// Columns that are propagated through a robot in place of those of a setup. Rows of contacts on
/// one link are wrenches on it, so their columns are combinations of the columns of six unit
/// wrenches. Where a link has many rows, only these six are propagated.
/// Source: theory/input-matrix 3.6.
class ActingColumns {
 public:
  /// From this many rows on, six columns and their combinations are cheaper.
  static constexpr int many = 9;

  /// A row that is a combination.
  struct Row {
    int column;  ///< of the setup
    Force<double> wrench;
    Vec3<double> point;
  };
  /// Rows on one link, all in its axes or all in world axes, as in Task::Part.
  struct Crowd {
    int body, first;  ///< first: of its unit wrenches among the propagated columns
    bool world;
    std::vector<Row> rows;
  };

  explicit ActingColumns(const InputColumns& all) : of_setup_(all.size(), -1) {
    for (const InputColumns::Motor& motor : all.motors()) of_setup_[motor.column] = 0;
    for (const Task::Part& part : all.contacts()) {
      if (rows_beside(all, part) < many || part.body == 0) {
        std::fill_n(of_setup_.begin() + part.first, part.size(), 0);
      } else {
        add(crowd_of(part), part);
      }
    }
    for (int& column : of_setup_) column = column < 0 ? -1 : size_++;
    motors_ = all.motors();
    for (InputColumns::Motor& motor : motors_) motor.column = of_setup_[motor.column];
    for (const Task::Part& part : all.contacts()) {
      if (of_setup_[part.first] < 0) continue;
      contacts_.push_back(part);
      contacts_.back().first = of_setup_[part.first];
    }
    for (Crowd& crowd : crowds_) {
      crowd.first = size_;
      contacts_.push_back({crowd.body, size_, crowd.world, Vec3<double>::zero(), {}});
      for (int i = 0; i < 6; ++i) {
        contacts_.back().rows.push_back(Force<double>::zero());
        contacts_.back().rows.back()[i] = 1.0;
      }
      size_ += 6;
    }
  }

  /// Number of propagated columns.
  int size() const { return size_; }
  const std::vector<InputColumns::Motor>& motors() const { return motors_; }
  const std::vector<Task::Part>& contacts() const { return contacts_; }
  const std::vector<Crowd>& crowds() const { return crowds_; }
  /// Per column of the setup: its propagated column; -1: it is a combination.
  const std::vector<int>& of_setup() const { return of_setup_; }

 private:
  static bool beside(const Task::Part& a, const Task::Part& b) {
    return a.body == b.body && a.world == b.world;
  }
  static int rows_beside(const InputColumns& all, const Task::Part& part) {
    int rows = 0;
    for (const Task::Part& other : all.contacts()) rows += beside(other, part) ? other.size() : 0;
    return rows;
  }
  Crowd& crowd_of(const Task::Part& part) {
    for (Crowd& crowd : crowds_) {
      if (crowd.body == part.body && crowd.world == part.world) return crowd;
    }
    return crowds_.emplace_back(Crowd{part.body, 0, part.world, {}});
  }
  static void add(Crowd& crowd, const Task::Part& part) {
    for (int k = 0; k < part.size(); ++k) {
      crowd.rows.push_back({part.first + k, part.rows[k], part.point});
    }
  }

  int size_ = 0;
  std::vector<InputColumns::Motor> motors_;
  std::vector<Task::Part> contacts_;  ///< and unit wrenches
  std::vector<Crowd> crowds_;
  std::vector<int> of_setup_;
};

}  // namespace espalier
