#pragma once

#include <string>

#include "espalier/plugins/plugin.hpp"

namespace espalier::detail {

/// Checks what a plugin says of itself, in the order in which it can be trusted: size, API version,
/// fingerprint, the rest.
/// @param file  names the plugin in messages
/// @throws PluginError naming file, expected and found
void check_plugin_header(const std::string& file, const PluginHeader* header);

/// Compares two fingerprints key by key.
/// @throws PluginError naming file, the first key that differs, expected and found
void check_fingerprint(const std::string& file, std::string_view found, std::string_view expected);

}  // namespace espalier::detail
