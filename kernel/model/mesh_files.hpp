#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "espalier/kernel/export.hpp"

/// Where the files of meshes are. Nothing is opened.

namespace espalier {

struct Description;
struct Finding;
struct ReadOptions;

/// Whether a path leads into a folder, as both are written.
ESPALIER_API bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

/// The file of a mesh: `file://`, `package://name/...` or `model://name/...` (in the search paths,
/// in ROS_PACKAGE_PATH and in the folders above the robot's file), absolute, or relative to the
/// robot's file and the search paths.
/// @param robot_file  the file that names it
/// @return nothing if there is none, or if it lies outside of these folders without leave
ESPALIER_API std::optional<std::string> find_mesh(const std::string& uri,
                                                  const std::string& robot_file,
                                                  const ReadOptions& options);

/// One warning for each shape whose mesh cannot be found, naming link and file.
ESPALIER_API std::vector<Finding> missing_meshes(const Description& robot,
                                                 const ReadOptions& options);

}  // namespace espalier
