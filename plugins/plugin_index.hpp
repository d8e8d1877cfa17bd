#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/plugins/plugin_files.hpp"
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
std::optional<PluginIndex> read_plugin_index(const FileIdentity& library);

/// The indices of all plugins of a folder in one file (plugins.index), which a program's start
/// reads in place of one file for each. What it says of a library is checked as its own index is;
/// of a library that it does not know, or knows as another one, the own index counts.
class ESPALIER_API FolderIndex {
 public:
  FolderIndex() = default;
  /// Reads that of a folder; empty where there is none.
  explicit FolderIndex(const std::string& folder);
  /// The index of a library, asked for by its file name.
  /// @param library  as it is now
  std::optional<PluginIndex> of(std::string_view name, const FileIdentity& library) const;

 private:
  std::unique_ptr<const std::string> text_;
  /// File name, its index; in order of names.
  std::vector<std::pair<std::string_view, std::string_view>> parts_;
};

/// Puts the indices of a folder's plugins into its one file.
ESPALIER_API void write_folder_index(const std::string& folder);

/// Opens a plugin and writes its index; removes an index of a plugin that cannot be opened alone.
/// @return false if there is none now
ESPALIER_API bool write_plugin_index(const std::string& library);

}  // namespace espalier::detail
