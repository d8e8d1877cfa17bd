#pragma once

#include <set>
#include <vector>

#include "espalier/kernel/model/layout.hpp"

/// Whose poses and motions are asked for. Not for plugins.

namespace espalier::contact {

/// Bodies that somebody asks for and all that carry them, and which columns say how the rates of
/// their clusters move them: twists in world axes about the origin of the first body of a way from
/// the ground.
class ESPALIER_API PlacedBodies {
 public:
  struct Column {
    bool turns = true, shifts = true;  ///< its angular and its linear part may differ from zero
  };
  PlacedBodies() = default;
  /// @param bodies  each with all that carry it
  PlacedBodies(const Model& model, const std::set<int>& bodies);

  const std::vector<int>& bodies() const { return bodies_; }  ///< parents first
  /// Of all bodies, one after the other: first_column(body) + k is that of rate k of the body's
  /// cluster.
  const std::vector<Column>& columns() const { return columns_; }
  int first_column(int body) const { return first_column_[body]; }
  /// The first body of a body's way from the ground.
  int root_of(int body) const { return root_of_[body]; }

 private:
  std::vector<int> bodies_, first_column_, root_of_;
  std::vector<Column> columns_;
};

/// A body and what moves it.
struct ESPALIER_API BodyWay {
  int body = 0;
  std::vector<int> way;      ///< bodies from it to the ground
  std::vector<int> support;  ///< independent rates that move it, ascending
  /// Of each rate of the support: the column that says how it moves the body; -1: not at all.
  std::vector<int> columns;

  /// Writes columns. @param placed  has the body
  void find_columns(const Model& model, const PlacedBodies& placed);
};

}  // namespace espalier::contact
