#pragma once

#include <vector>

#include "espalier/kernel/model/motion/body_placements.hpp"

namespace espalier {

/// Where bodies, links, shapes and frames of a model are: forward kinematics for those who draw and
/// touch. Apart from every algorithm. Belongs to one thread.
class ESPALIER_API Placements {
 public:
  explicit Placements(ModelPtr model);  ///< of the robot; shares it

  /// Computes the placement of every body by the recursion X_i = X_J(q_i) X_parent.
  /// @param q  spanning positions, size nq
  /// Cost: O(n), no allocation.
  void update(const double* q);

  /// From the world's frame: E takes world coordinates to the thing's, r is its origin [m, world
  /// axes]. Valid for the q of the last update(). The ground is body 0.
  const Transform<double>& body(int i) const { return work_.placed[i]; }
  /// @param i  among Model::links()
  Transform<double> link(int i) const;
  /// @param i  among Model::shapes()
  Transform<double> shape(int i) const;
  /// @param i  among Model::frames()
  Transform<double> frame(int i) const;

  const Model& model() const { return *model_; }  ///< the robot

 private:
  ModelPtr model_;
  const PackCode* packs_;  ///< the model's
  detail::BodyPlacements work_;
  std::vector<Motion<double>> S_, bias_;  ///< that joints write and nobody reads
};

}  // namespace espalier
