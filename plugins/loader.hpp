#pragma once

#include <memory>
#include <string>
#include <vector>

#include "espalier/plugins/registry.hpp"

namespace espalier {

/// A plugin that was loaded.
struct LoadedPlugin {
  std::string name, version;    ///< as the plugin says
  std::string file;             ///< the library that runs, absolute, without symbolic links
  std::string instruction_set;  ///< "baseline", "x86-64-v3", "x86-64-v4"
};

/// Loads plugins into a Registry. Safe to call from several threads. Libraries are never unloaded.
class ESPALIER_API Loader {
 public:
  explicit Loader(Registry& registry);  ///< loads into this registry
  ~Loader();

  /// Loads one library. Where a sibling compiled for a wider instruction set that this processor
  /// has stands beside it (x.v3.so beside x.so), that one is taken; the environment variable
  /// ESPALIER_INSTRUCTION_SET (baseline, x86-64-v3, x86-64-v4) caps the choice. The same library
  /// twice, by whatever path, is no error.
  /// @throws PluginError naming file, expected and found; DuplicateName naming both origins. The
  ///         registry stays as it was.
  void load(const std::string& file);

  /// Loads every plugin (*.so) of a folder, in the order of their names. One with a valid index
  /// beside it (x.so.index, written when it is built) is opened when the registry is first asked
  /// for something in it; that it is refused then is a warning of the log. A folder that does not
  /// exist has none. Of a plugin that is there for instruction sets alone (x.v3.so without x.so)
  /// the widest that can run here is taken. As on any search path, the first wins: a file of the
  /// same name as a plugin that was loaded from elsewhere is passed over.
  /// @return messages of the plugins that were refused, if `keep_going`; else they are thrown
  std::vector<std::string> load_folder(const std::string& folder, bool keep_going = false);

  /// Loads every plugin of several folders. A file in one of the first folders stands for all of
  /// its name in later ones. The last folders are loaded first: a plugin that registers a name
  /// which one of them has is refused, not theirs.
  /// @return and throws as load_folder()
  std::vector<std::string> load_path(const std::vector<std::string>& folders,
                                     bool keep_going = false);

  /// Where plugins are searched, in this order: `first` (command line), ESPALIER_PLUGIN_PATH
  /// (separated by ':'), and the folder espalier/plugins beside the espalier library, installed or
  /// built. Absolute, without repetitions.
  static std::vector<std::string> search_path(const std::vector<std::string>& first = {});

  /// In the order of loading, those that are opened later included.
  std::vector<LoadedPlugin> loaded() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  ///< promises of plugins keep it
};

}  // namespace espalier
