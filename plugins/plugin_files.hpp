#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "espalier/kernel/export.hpp"

/// The files of plugins: a library, its siblings for other instruction sets, and folders of them.

namespace espalier::detail {

/// Two paths lead to one file if they have one of these.
struct ESPALIER_API FileIdentity {
  std::string path;  ///< canonical
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = 0;   ///< 0 of one that a list of its folder tells
  time_t time = 0;  ///< of its last change

  /// Asks the system.
  explicit FileIdentity(std::string canonical);
  /// As a list of its folder tells.
  FileIdentity(std::string canonical, dev_t dev, ino_t ino)
      : path(std::move(canonical)), device(dev), inode(ino) {}
  bool as_large_and_old(const FileIdentity& other) const {
    return size == other.size && time == other.time;
  }
  bool same_file(const FileIdentity& other) const {
    return path == other.path || (inode != 0 && inode == other.inode && device == other.device);
  }
};

/// Which files are there: of a folder that is read once, or asked one by one.
class Files {
 public:
  Files() = default;
  /// Reads a folder.
  /// @param path  of the folder, canonical
  /// @throws PluginError if it is unreadable
  Files(const std::string& folder, const std::string& path);

  /// Of a folder that was read: the names of its files that end with .so, in order.
  std::vector<std::string> libraries() const;
  /// Whether a file of this folder, given by its name alone, has to be resolved.
  bool is_link(const std::string& name) const;
  bool is_regular(const std::string& path) const;
  bool exists(const std::string& path) const;
  /// Of a regular file that is there; nothing else.
  std::optional<FileIdentity> identity(const std::string& path) const;

 private:
  struct Item {
    std::string name;
    unsigned char type = 0;  ///< as readdir tells it
    ino_t inode = 0;
  };
  const Item* find(const std::string& path) const;

  std::string folder_;       ///< with a '/' at its end; empty: asked one by one
  std::vector<Item> items_;  ///< in order of names
  dev_t device_ = 0;         ///< of the folder
};

/// The path of a file without symbolic links. @throws PluginError if it is not there
std::string resolved_library(const std::string& file);

/// The library to load in place of `file`: its widest sibling that can run here.
std::string widest_sibling(const std::string& file, const Files& files);

/// The libraries that are one plugin: a file and its siblings for other instruction sets.
std::vector<FileIdentity> variants_of(FileIdentity file, const Files& files);

/// Whether a folder's library stands for its plugin: a plain one does, and one for an instruction
/// set does if there is neither a plain sibling nor a wider one that can run here.
/// @throws PluginError if the plugin is there for wider instruction sets only
bool stands_for_plugin(const std::string& file, const Files& files);

/// The name of a plugin's plain file, which all its variants share.
std::string plain_name(const std::string& file);

}  // namespace espalier::detail
