#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/export.hpp"
#include "espalier/kernel/model/model.hpp"

namespace espalier {

/// Where a robot is constrained or controlled: rows that speak of the twist of a point fixed in a
/// link. A row is six numbers, angular first, that multiply the twist: its value is the row of the
/// task's velocity J v, and as a wrench it is the row of J^T.
struct EndEffector {
  /// What rows are fixed in.
  enum class Axes {
    link,  ///< rows are fixed in the link's axes; their rates are components of the spatial
           ///< acceleration of the point's frame
    world  ///< rows are fixed in world axes; their rates are components of the angular and of the
           ///< point's ordinary acceleration
  };
  using Row = std::array<double, 6>;  ///< angular, then linear

  std::string link;              ///< that it is a point of
  Vec3<double> offset{0, 0, 0};  ///< of the point from the link's origin, link axes [m]
  std::vector<Row> rows;         ///< one or more
  Axes axes = Axes::link;        ///< of the rows

  /// All six components of the point's twist ("6d").
  ESPALIER_API static EndEffector weld(std::string_view link,
                                       const Vec3<double>& offset = {0, 0, 0},
                                       Axes axes = Axes::link);
  /// The three components of the point's velocity ("3d").
  ESPALIER_API static EndEffector contact(std::string_view link,
                                          const Vec3<double>& offset = {0, 0, 0},
                                          Axes axes = Axes::world);
};

/// A weld on every link that moves and that no other link hangs on, at the link's origin: what
/// tools take where nobody says which end-effectors a robot has.
ESPALIER_API std::vector<EndEffector> tips(const Model& model);

/// End-effectors as algorithms want them: bodies and wrenches instead of links and rows.
class ESPALIER_API Task {
 public:
  /// One end-effector.
  struct Part {
    int body = 0;        ///< 0: the ground; then all rows of J are zero
    int first = 0;       ///< of its rows among those of the task
    bool world = false;  ///< rows are in world axes, about `point`; else body axes, body's origin
    Vec3<double> point;  ///< in the body's frame
    std::vector<Force<double>> rows;  ///< as wrenches

    /// Number of rows.
    int size() const { return static_cast<int>(rows.size()); }
  };

  /// @throws UnknownName for a link; SizeMismatch where there are no end-effectors or no rows;
  ///         InvalidModel for numbers that are not finite
  Task(const Model& model, const std::vector<EndEffector>& end_effectors);

  int size() const { return size_; }  ///< rows in all
  /// In the order of the setup.
  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
  int size_ = 0;
};

}  // namespace espalier
