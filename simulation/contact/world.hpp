#pragma once

#include <string>
#include <vector>

#include "espalier/kernel/model/model.hpp"
#include "espalier/simulation/contact/shape.hpp"

namespace espalier::contact {

/// What a model's file says of contact: its collision shapes, their friction, and links that do
/// not touch. Ellipsoids and meshes have no closed form: they are left out and named.
/// @param surface       of shapes, where they do not say their friction
/// @param[out] left_out  names of links and kinds, or null
ESPALIER_API World world_of(const Model& model, const Surface& surface = {},
                            std::vector<std::string>* left_out = nullptr);

}  // namespace espalier::contact
