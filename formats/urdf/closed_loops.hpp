#pragma once

#include <string>
#include <string_view>

#include "espalier/kernel/model/description.hpp"

namespace espalier::formats {

/// Adds the loops that a file of the same name with the ending .yaml, beside a URDF, lists as
/// Gepetto's example-parallel-robots do (arXiv 2504.04767):
///
///     closed_loop: [[frame_A, frame_B], ...]   links, or joints that carry them
///     type: ['6d', '3d', ...]                  welded, or held together at their origins
///     name_mot: [joint, ...]                   joints that motors drive
///     joint_name: [joint, ...]                 joints whose types the URDF cannot say
///     joint_type: [SPHERICAL, FIXED, UJOINT_XY, ...]
///
/// Files without `closed_loop`, as those of Espalier, are not touched.
/// @throws InvalidModel naming the file and what is wrong in it
void read_closed_loops(const std::string& urdf_file, Description& robot);
/// The same from a text. @param file  for messages
void read_closed_loops(std::string_view text, const std::string& file, Description& robot);

}  // namespace espalier::formats

/// What the plugin for YAML reads of such a file; in C's way of naming, to be found by its name.
extern "C" __attribute__((visibility("default"))) void espalier_read_closed_loops(
    std::string_view text, const std::string& file, espalier::Description& robot);
