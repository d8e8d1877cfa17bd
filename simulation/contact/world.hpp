#pragma once

#include <string>
#include <vector>

#include "espalier/kernel/format.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/simulation/contact/meshes/mesh_shape.hpp"
#include "espalier/simulation/contact/shape.hpp"

namespace espalier::contact {

/// What of a model's shapes is not as the file has it.
struct WorldReport {
  /// Links and kinds of shapes that touch nothing, with the reason where it is not the kind.
  std::vector<std::string> left_out;
  std::vector<MeshHull> meshes;  ///< taken as their convex hulls
};

/// What a model's file says of contact: its collision shapes, their friction, and links that do
/// not touch. Meshes are taken as their convex hulls; ellipsoids, and meshes whose file is missing,
/// are left out and named.
/// @param model        the robot
/// @param surface      of shapes, where they do not say their friction
/// @param[out] report  or null
/// @param reading      where meshes are looked for, besides beside the model's file
/// @throws InvalidModel for meshes that are unreadable
ESPALIER_API World world_of(const Model& model, const Surface& surface = {},
                            WorldReport* report = nullptr, const ReadOptions& reading = {});

}  // namespace espalier::contact
