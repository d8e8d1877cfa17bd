#pragma once

#include <map>
#include <optional>
#include <string>

#include "espalier/kernel/spatial/inertia.hpp"
#include "formats/mjcf/elements.hpp"

namespace espalier::mjcf {

/// Of a geom that does not say them, as MuJoCo has them [m].
constexpr double usual_friction = 1.0, usual_torsional_friction = 0.005,
                 usual_rolling_friction = 0.0001;

/// What <asset> says of a mesh, a height field and a material, by name.
struct MeshAsset {
  std::string file;
  Vec3<double> scale{1, 1, 1};
  Transform<double> reference = Transform<double>::identity();  ///< refpos, refquat
  bool shell = false;  ///< whether its mass is on its surface
  SourceLocation where;
};
struct Assets {
  std::map<std::string, MeshAsset, std::less<>> meshes;
  std::map<std::string, HeightField, std::less<>> fields;
  std::map<std::string, Color, std::less<>> materials;
};

/// A <geom>: its shape and, where bodies are weighed by their geoms, its mass.
struct Geom {
  ShapeDescription shape;  ///< origin in the body's frame
  bool visual = true, collision = true, shell = false;
  int group = 0;
};

/// `condim`: how many dimensions its contacts have, 1, 3, 4 or 6.
int condim_of(const Element& e);

/// The geom's shape in its body's frame.
Geom read_geom(const Element& e, const Assets& assets);

/// Mass properties from `mass`, or `density` and volume, about the body's origin, body axes.
/// @param robot_file, options  for meshes, which are opened
/// @param[out] doubt  what is to be told of a mesh, or ""
/// @throws InvalidModel where a mesh is missing, or encloses nothing
RigidInertia<double> inertia_of(const Element& e, const Geom& geom, const ReadOptions& options,
                                const std::string& robot_file, std::string& doubt);

/// Inertia about the centre of mass from that about the origin.
Inertial inertial_of(const RigidInertia<double>& I);

}  // namespace espalier::mjcf
