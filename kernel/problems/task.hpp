#pragma once

#include <vector>

#include "espalier/kernel/problems/setup.hpp"

namespace espalier {

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
