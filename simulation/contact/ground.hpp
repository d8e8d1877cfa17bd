#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "espalier/simulation/contact/contact_simulation.hpp"
#include "espalier/simulation/contact/world.hpp"

/// Grounds as text: what `simulate --ground` and Python's `ground=` take.

namespace espalier::contact {

/// The plane z = 0 and the collision shapes of the model's file. A floor of the file at the same
/// place takes the plane's.
/// @param model        the robot
/// @param[out] report  collision shapes that cannot touch, and meshes that are taken as hulls
/// @param reading      where meshes are looked for
/// @throws InvalidModel if nothing of the robot can touch
ESPALIER_API World plane_ground(const Model& model, WorldReport& report,
                                const ReadOptions& reading = {});

/// A ground in JSON:
///
///   {"friction": 0.7, "restitution": 0, "stiffness": 0, "damping": 0,     of all that say no other
///    "torsional_friction": 0, "rolling_friction": 0,                               likewise [m]
///    "plane": {"height": 0, "rpy": [0, 0, 0], "velocity": [0, 0, 0]},
///                                                                   this one if neither is given
///    "height_field": {"columns": 2, "rows": 2, "spacing": 1, "heights": [...], "xyz": [0, 0, 0]},
///    "shapes": [{"link": "foot",
///                "sphere": radius | "box": [half edges] | "hull": [[x, y, z], ...] |
///                "mesh": "FILE" (taken as its convex hull) |
///                "capsule": [radius, half length] | "cylinder": [radius, half length],
///                "name": "toe", "xyz": [...], "rpy": [...], "friction": 0.7, ...,
///                "velocity": [0, 0, 0] (of a belt, the shape's axes)}],
///    "self_collision": false, "exclude": [["link", "link"]], "margin": 0.02}
///
/// Without "shapes", the collision shapes of the model's file touch; "link": "" is the ground.
/// @param model        the robot
/// @param json         the text
/// @param origin       file of the text, for messages and for meshes beside it
/// @param[out] report  as above
/// @param reading      as above
/// @throws InvalidModel for a wrong form, or if nothing of the robot can touch; UnknownName;
///         SizeMismatch
ESPALIER_API World read_ground(const Model& model, std::string_view json, const std::string& origin,
                               WorldReport& report, const ReadOptions& reading = {});

/// Two shapes that overlap.
struct Overlap {
  std::string first;   ///< name of a shape
  std::string second;  ///< name of the other
  double depth = 0.0;  ///< [m]
};
/// The shapes that overlap by most before anything moves, where that is more than 5 mm: what pushes
/// them apart is no physics.
/// @param trial  is moved by a step
/// @param q, v   where it starts
/// @param h      length of the step [s]
/// @return nothing where there are none, or where the mechanism is singular
ESPALIER_API std::optional<Overlap> overlap_at_start(ContactSimulation& trial, In<double> q,
                                                     In<double> v, double h);

}  // namespace espalier::contact
