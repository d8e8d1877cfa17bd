#pragma once

#include <cmath>

#include "espalier/kernel/spatial/vec3.hpp"

/// How large the numbers of a robot may be, and of what is fixed to its links.

namespace espalier::detail {

/// Products of larger numbers, mass times length and ratio squared, overflow: no robot is so large.
constexpr double most_number = 1e60;
inline bool finite(double x) { return std::abs(x) <= most_number; }
inline bool finite(const Vec3<double>& v) { return finite(v.x) && finite(v.y) && finite(v.z); }
/// Lengths of placements [m]: beyond, moments of inertia about a far point drown those about a near
/// one; what is meant is another unit.
constexpr double most_length = 1e8;
inline bool near(double x) { return std::abs(x) <= most_length; }
inline bool near(const Vec3<double>& v) { return near(v.x) && near(v.y) && near(v.z); }
/// Of rotors and other armatures [kg·m², kg]: more holds a joint, which is what "fixed" is for.
constexpr double most_armature = 1e15;

}  // namespace espalier::detail
