#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "espalier/kernel/spatial/vec3.hpp"

namespace espalier {

class Model;
struct Cluster;
class ClusterConstraint;

/// The loops of a cluster in which all joints are revolute about parallel axes and every loop is
/// closed by a pin, so that all that matters happens in one plane: four-bars, six-bars,
/// pantographs. K, two rows for each loop, and k come from sums of complex numbers instead of
/// spatial algebra.
///
/// Plane: perpendicular to the axes; its axes u, w and its origin are fixed in the supporting body,
/// at its origin. Source: theory/clusters 5.5, planar four-bar, for any number of bars.
struct PlanarLoops {
  struct Bar {
    int parent = -1;      ///< bar, -1: the supporting body
    double x = 0, y = 0;  ///< its joint, axes of the parent
  };
  struct Pin {
    int predecessor = -1, successor = -1;      ///< bars, -1: the supporting body
    double px = 0, py = 0, sx = 0, sy = 0;     ///< the pin in the axes of each
    std::vector<std::pair<int, double>> path;  ///< bars between the two, +1 towards successor
  };
  Vec3<double> u{0, 0, 0}, w{0, 0, 0};  ///< axes of the plane in the supporting body
  std::vector<Bar> bars;
  std::vector<Pin> pins;

  /// Memory at one scalar.
  template <class T>
  struct Workspace {
    struct Pose {
      T c, s;    ///< of the bar's x axis in the plane
      T x, y;    ///< its joint
      T ax, ay;  ///< acceleration of its joint at qdd = 0
      T ww;      ///< square of its angular velocity
      T omega;
    };
    std::vector<Pose> bars;
    std::vector<T> pins;  ///< x, y of each, on the successor
  };

  /// The loops of a cluster, if they are planar.
  static std::optional<PlanarLoops> find(const Model& model, const Cluster& cluster,
                                         const ClusterConstraint& constraint);
};

}  // namespace espalier
