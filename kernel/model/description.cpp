#include "espalier/kernel/model/description.hpp"

namespace espalier {

RigidInertia<double> Inertial::about_link() const {
  return RigidInertia<double>::from_com(mass, origin.xyz, congruence(rpy_to_E(origin.rpy), I));
}

}  // namespace espalier
