#pragma once

#include <string>
#include <vector>

#include "espalier/kernel/export.hpp"
#include "espalier/kernel/model/geometry.hpp"
#include "espalier/kernel/model/mesh_files.hpp"
#include "espalier/kernel/spatial/inertia.hpp"

/// What is in files of meshes, for formats and for contact. Nothing is opened before somebody asks.

namespace espalier {

/// Triangles in metres of the robot, scale applied.
struct TriangleMesh {
  std::vector<Vec3<double>> vertices;
  std::vector<int> triangles;  ///< three vertices each, counter-clockwise from outside
};

/// Reads STL, OBJ, COLLADA, PLY by assimp.
/// @throws InvalidModel naming the file, also where assimp is not installed
ESPALIER_API TriangleMesh load_mesh(const std::string& path, const Vec3<double>& scale);

/// Area of all triangles [m²].
ESPALIER_API double surface_of(const TriangleMesh& mesh);

/// Whether a surface encloses something: every edge of its triangles is gone along as often in one
/// direction as in the other, and no triangle is there twice.
ESPALIER_API bool is_closed(const TriangleMesh& mesh);

/// Mass properties of what a closed surface encloses, about the origin. An open one is closed
/// towards the middle of its area, so that they do not depend on where the origin is.
/// Source: Mirtich (1996), by signed tetrahedra.
ESPALIER_API RigidInertia<double> solid_inertia(const TriangleMesh& mesh, double density);

}  // namespace espalier
