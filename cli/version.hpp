#pragma once

#include <string>
#include <vector>

namespace espalier::cli {

/// What was built: version, commit, compiler, and the plugins with their instruction sets.
/// @param plugin_folders  searched first
std::string version_text(const std::vector<std::string>& plugin_folders);

}  // namespace espalier::cli
