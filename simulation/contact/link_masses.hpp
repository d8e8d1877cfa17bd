#pragma once

#include <span>
#include <string>
#include <vector>

#include "espalier/simulation/contact/plan.hpp"

/// Links whose mass differs from robot to robot. Not for plugins.

namespace espalier::contact {

/// Links that are heavier or lighter than the model's, each by a factor of every robot's own. A
/// link counts with all that is welded to it: what moves as one is scaled as one, mass and inertia
/// alike.
class ESPALIER_API LinkMasses {
 public:
  struct Piece {
    std::string link;
    BodyWay at;
    RigidInertia<double> inertia;  ///< of the model, body frame; a rotor's own where it is folded
  };
  /// @throws UnknownName; InvalidModel for a link that is welded to the ground, has no mass, or is
  ///         named twice, also as what is welded to another
  LinkMasses(const Plan& plan, std::span<const std::string> links);

  const std::vector<Piece>& pieces() const { return pieces_; }
  const PlacedBodies& placed() const { return placed_; }

 private:
  std::vector<Piece> pieces_;
  PlacedBodies placed_;
};

}  // namespace espalier::contact
