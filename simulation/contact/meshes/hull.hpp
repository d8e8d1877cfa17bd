#pragma once

#include <vector>

#include "espalier/kernel/export.hpp"
#include "espalier/kernel/spatial/vec3.hpp"

/// Convex hulls of points, whole or with few corners.

namespace espalier::contact {

/// Corners of a convex hull, and its faces where it has a volume.
struct ConvexHull {
  std::vector<int> corners;  ///< among the points, as they were found
  std::vector<int> faces;    ///< three points each, counter-clockwise from outside
};

/// Convex hull of points, corner by corner: each time the point that lies furthest outside of a
/// face of what there is. Stopped early, it is the hull of that many corners.
///
/// Points that lie outside by less than a part in 10^7 of the cloud's size, what files of meshes
/// round to, are not told from points on the hull. Points in a plane give the corners of a polygon,
/// points on a line two, one place one.
/// @param most  corners at most; 0: all
/// Source: Barber, Dobkin, Huhdanpaa (1996).  Cost: O(n log n) of n points.
ESPALIER_API ConvexHull convex_hull(const std::vector<Vec3<double>>& points, int most = 0);

/// Largest distance of a point from the hull of some of them: what is lost where these stand for
/// all. [m]
/// @param hull  as convex_hull() gives it for the same points
ESPALIER_API double hull_gap(const std::vector<Vec3<double>>& points, const ConvexHull& hull);

/// How far a point lies inside of the hull's faces; negative outside. [m] Zero for a hull without
/// volume.
ESPALIER_API double hull_depth(const std::vector<Vec3<double>>& points, const ConvexHull& hull,
                               const Vec3<double>& x);

}  // namespace espalier::contact
