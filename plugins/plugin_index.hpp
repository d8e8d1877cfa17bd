#pragma once

#include <optional>
#include <string>
#include <vector>

#include "espalier/plugins/registry.hpp"

/// What is in a plugin, in a text file beside it (x.so.index), so that a program opens a plugin
/// when something of it is asked for, not at its start.

namespace espalier::detail {

struct PluginIndex {
  std::string name, version;  ///< of the plugin
  /// That it registers. The problem of a format is file name endings with blanks between them.
  std::vector<Registry::Name> names;
};

/// The index of a library; nothing where there is none, or where it tells of another library: its
/// size, time of change, API version and fingerprint have to be those of now.
ESPALIER_API std::optional<PluginIndex> read_plugin_index(const std::string& library);

/// Opens a plugin and writes its index; removes an index of a plugin that cannot be opened alone.
/// @return false if there is none now
ESPALIER_API bool write_plugin_index(const std::string& library);

}  // namespace espalier::detail
