#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "espalier/host/host.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"
#include "espalier/kernel/problems/dynamics/joint_wrenches.hpp"
#include "espalier/kernel/problems/kinematics/jacobian.hpp"
#include "viewer/server/json.hpp"

namespace espalier::viewer {

/// What bearings and rods of a robot bear, and what its motors can give. Belongs to one thread.
class Forces {
 public:
  /// @param description  of the model
  /// @throws as Host::create() where an algorithm for joint wrenches or Jacobians is missing
  Forces(const Host& host, const Description& description, const CompileOptions& options,
         ModelPtr model);

  /// What joints transmit in a motion that motors on the independent rates make.
  ///   {"joints": [{"name", "body", "at", "force", "moment", "determined"}],
  ///    "rods": [{"body", "from", "to", "tension"}]}
  /// on bodies, in their axes [N, N·m], 0: the world; tension is negative where a rod is
  /// compressed.
  /// @param q, v, vdot  as of JointWrenches, of the model
  /// @throws InvalidModel where the position is too near to a dead point to say
  Json reactions(In<double> q, In<double> v, In<double> vdot);

  /// Forces [N] on a link's origin that motors within their limits bear at rest, weight apart:
  /// those f with |J^T f| <= tau_max for each motor. Directions in which the linkage itself bears
  /// any force are left out. {"link", "body", "at", "kind": "polytope" or "ellipsoid", "rank",
  /// "points": vertices of the hull, world axes, "words"}.
  /// @param link  among Model::links()  @throws SizeMismatch for a link that is none
  Json strength(In<double> q, int link);

 private:
  /// A point of a body, and the axes in which a wrench there is given: from the body's.
  struct Place {
    int body = 0;
    Vec3<double> at{0, 0, 0};
    Mat3<double> E;
  };
  std::optional<Place> place_of(const std::string& joint) const;
  std::vector<int> rates_of_pinned() const;
  Vec3<double> in_world(int body, Vec3<double> p, bool direction) const;
  void add_bars(const Json& joints, Json& rods) const;
  void add_rods(const Json& joints, Json& rods) const;
  std::vector<double> limits(std::vector<double>& q, bool& known) const;

  ModelPtr model_, pinned_;  ///< the second with pins for laws
  Description pinned_description_;
  std::vector<int> rates_;  ///< of the model, for each of the second's
  std::unique_ptr<JointWrenches<double>> wrenches_;
  std::unique_ptr<BodyJacobians<double>> jacobians_;
  TreeKinematics<double> kinematics_;
};

}  // namespace espalier::viewer
