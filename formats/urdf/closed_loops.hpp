#pragma once

#include <string>

#include "espalier/kernel/model/description.hpp"

namespace espalier::formats {

/// Adds the loops that a file of the same name with the ending .yaml, beside a URDF, lists as
/// Gepetto's example-parallel-robots do (arXiv 2504.04767):
///
///     closed_loop: [[frame_A, frame_B], ...]   frames of joints of the URDF
///     type: ['6d', '3d', ...]                  welded, or held together at their origins
///     name_mot: [joint, ...]                   joints that motors drive
///     joint_name: [joint, ...]                 joints whose types the URDF cannot say
///     joint_type: [SPHERICAL, FIXED, ...]
///
/// Files without `closed_loop`, as those of Espalier, are not touched.
/// @throws InvalidModel naming the file and what is wrong in it
void read_closed_loops(const std::string& urdf_file, Description& robot);

}  // namespace espalier::formats
