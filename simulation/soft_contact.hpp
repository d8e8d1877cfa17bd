#pragma once

#include <memory>
#include <string>
#include <vector>

#include "espalier/kernel/problems/kinematics/forward_kinematics.hpp"
#include "espalier/simulation/simulation.hpp"

namespace espalier {

/// A point of a link that the ground can carry.
struct ContactPoint {
  std::string link;              ///< that it is fixed to
  Vec3<double> offset{0, 0, 0};  ///< from the link's origin, link axes [m]
};

/// A plane that yields, and how much.
struct SoftGround {
  Vec3<double> normal{0, 0, 1};  ///< out of the ground, world axes; its length does not matter
  double height = 0.0;           ///< of the plane along the normal from the world's origin [m]
  double stiffness = 2e4;        ///< of each point [N/m]
  /// Part of the normal force that a velocity adds: force = stiffness depth (1 + damping rate)
  /// while depth is above zero, rate being that of the depth [s/m]. It vanishes with the depth, so
  /// that the force does not jump at touchdown (Hunt and Crossley, 1975); it never pulls.
  double damping = 5.0;
  double friction = 0.7;  ///< Coulomb's coefficient
  /// Friction is friction * normal force * v / sqrt(v² + slip_rate²): what should stick creeps
  /// below this rate. Explicit steps have to be shorter than about 2.7 slip_rate m / (friction *
  /// force), m being the mass that is felt at the point. [m/s]
  double slip_rate = 0.005;
};

/// A soft ground under points of a robot, as part of a simulation. Allocates nothing after its
/// construction.
class ESPALIER_API SoftContact final : public Environment {
 public:
  /// @param kinematics  of the simulation's model
  /// @param points      of links, at which the ground pushes
  /// @param ground      its surface, stiffness and friction
  /// @throws UnknownName for a link; InvalidModel for no kinematics, no points, a normal without
  ///         direction, a stiffness or slip rate that is not positive, negative damping or
  ///         friction, or a number that is not finite
  SoftContact(std::unique_ptr<Kinematics<double>> kinematics, std::vector<ContactPoint> points,
              const SoftGround& ground = {});

  void act(double t, const double* q, const double* v, Wrenches<double>& wrenches) override;

  /// Forces of the ground on the points at a state, world axes [N]; valid until the next call of
  /// this or of act(), which is not disturbed otherwise. @throws SizeMismatch
  const std::vector<Vec3<double>>& forces(In<double> q, In<double> v);

 private:
  Vec3<double> force_at(const Vec3<double>& position, const Vec3<double>& velocity) const;

  std::unique_ptr<Kinematics<double>> kinematics_;
  std::vector<ContactPoint> points_;
  std::vector<const Link*> links_;  ///< of the points
  SoftGround ground_;               ///< with a unit normal
  std::vector<double> rest_;        ///< zero accelerations
  std::vector<Vec3<double>> forces_;
};

}  // namespace espalier
