#pragma once

#include <string>

#include "espalier/simulation/contact/shape.hpp"

/// Meshes as solids that touch: their convex hulls.

namespace espalier::contact {

/// What became of a mesh.
struct MeshHull {
  std::string shape;        ///< name of the shape
  std::string file;         ///< as it was found
  int corners = 0, of = 0;  ///< that closed forms take, of those of the whole hull
  double gap = 0.0;  ///< largest distance of the whole hull's corners from the hull of the few [m]
  /// How deep the surface lies inside of its hull: of a convex mesh 0. What lies less deep than the
  /// gap is not noticed. [m]
  double hollow = 0.0;
};

/// A mesh's convex hull, about the middle of its box.
/// @param[out] middle  of the box, in the mesh's frame [m]
/// @param[out] summary  numbers and file; the shape's name is left
/// @throws InvalidModel naming the file, if it is unreadable, or holds no triangles or a number
/// that
///         is not finite
ESPALIER_API Shape mesh_shape(const std::string& path, const Vec3<double>& scale,
                              Vec3<double>& middle, MeshHull& summary);

}  // namespace espalier::contact
