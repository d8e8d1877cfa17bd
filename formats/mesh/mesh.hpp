#pragma once

#include <optional>
#include <string>
#include <vector>

#include "espalier/kernel/format.hpp"
#include "espalier/kernel/model/geometry.hpp"
#include "espalier/kernel/spatial/inertia.hpp"

/// Files of meshes: where they are and what is in them. Nothing is opened before somebody asks.

namespace espalier {

/// The file of a mesh: `file://`, `package://name/...` (in the search paths, in ROS_PACKAGE_PATH
/// and in the folders above the robot's file), absolute, or relative to the robot's file and the
/// search paths.
/// @param robot_file  the file that names it
/// @return nothing if there is none, or if it lies outside of these folders without leave
std::optional<std::string> find_mesh(const std::string& uri, const std::string& robot_file,
                                     const ReadOptions& options);

/// Triangles in metres of the robot, scale applied.
struct TriangleMesh {
  std::vector<Vec3<double>> vertices;
  std::vector<int> triangles;  ///< three vertices each, counter-clockwise from outside
};

/// Reads STL, OBJ, COLLADA, PLY by assimp. @throws InvalidModel naming the file
TriangleMesh load_mesh(const std::string& path, const Vec3<double>& scale);

/// Mass properties of what a closed surface encloses, about the origin.
/// Source: Mirtich (1996), by signed tetrahedra.
RigidInertia<double> solid_inertia(const TriangleMesh& mesh, double density);

}  // namespace espalier
