#pragma once

#include <string>
#include <vector>

#include "cli/session.hpp"
#include "espalier/simulation/contact/world.hpp"

namespace espalier::cli {

/// The world of `--ground`: "plane", or a JSON file.
///
///   {"friction": 0.7, "restitution": 0, "stiffness": 0, "damping": 0,     of all that say no other
///    "plane": {"height": 0, "rpy": [0, 0, 0]},                            this one if neither is
///    given "height_field": {"columns": 2, "rows": 2, "spacing": 1, "heights": [...], "xyz": [0, 0,
///    0]}, "shapes": [{"link": "foot", "sphere": radius | "box": [half edges] | "hull": [[x, y, z],
///    ...] | "mesh": "FILE" (taken as its convex hull) |
///                "capsule": [radius, half length] | "cylinder": [radius, half length],
///                "name": "toe", "xyz": [...], "rpy": [...], "friction": 0.7, ...}],
///    "self_collision": false, "exclude": [["link", "link"]], "margin": 0.02}
///
/// Without "shapes", the collision shapes of the model's file touch; "link": "" is the ground.
/// @throws Failure (wrong form: exit code 2), UnknownName, SizeMismatch; InvalidModel if nothing of
///         the robot can touch
/// @param[out] report  collision shapes that cannot touch, and meshes that are taken as hulls
/// @param reading      where meshes are looked for
contact::World read_ground(const Model& model, const std::string& plane_or_file,
                           contact::WorldReport& report, const ReadOptions& reading);

}  // namespace espalier::cli
