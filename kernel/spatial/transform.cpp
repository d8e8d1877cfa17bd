#include "espalier/kernel/spatial/transform.hpp"

#include <cmath>

namespace espalier {

Transform<double> Pose::transform() const { return {rpy_to_E(rpy), xyz}; }

Pose Pose::from(const Transform<double>& X) {
  // E^T = Rz(yaw) Ry(pitch) Rx(roll). Roll is read after yaw has been turned back, so that the
  // three together give E to rounding even where pitch is +-90 degrees and yaw is arbitrary.
  const Mat3<double>& E = X.E;
  const double cos_pitch = std::hypot(E(0, 0), E(0, 1));
  const double pitch = std::atan2(-E(0, 2), cos_pitch);
  // Below this the two entries are rounding errors of a vertical x axis.
  const double yaw = cos_pitch < 1e-15 ? 0.0 : std::atan2(E(0, 1), E(0, 0));
  const double s = std::sin(yaw), c = std::cos(yaw);
  const double roll = std::atan2(s * E(2, 0) - c * E(2, 1), c * E(1, 1) - s * E(1, 0));
  return {X.r, {roll, pitch, yaw}};
}

bool Pose::operator==(const Pose& other) const {
  for (int i = 0; i < 3; ++i) {
    if (xyz[i] != other.xyz[i] || rpy[i] != other.rpy[i]) return false;
  }
  return true;
}

}  // namespace espalier
