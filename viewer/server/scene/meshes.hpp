#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "espalier/kernel/model/layout.hpp"

namespace espalier::viewer {

/// The mesh files that a robot's shapes name and that may be shown. Clients name them by number, so
/// that no path ever comes from a client; a robot file cannot name a file outside its folders.
class MeshFiles {
 public:
  struct File {
    std::string name;            ///< as the robot file has it
    std::filesystem::path path;  ///< where it is, links resolved; empty if it is not shown
    std::string kind;            ///< "stl", "obj", "dae"
    std::string problem;         ///< why it is not shown; empty if it is
  };

  MeshFiles() = default;
  /// @param robot_file  the folder above its own is searched, for <package>/urdf and /meshes
  /// @param folders     searched besides, and allowed
  MeshFiles(const Model& model, const std::filesystem::path& robot_file,
            const std::vector<std::filesystem::path>& folders);

  const std::vector<File>& files() const { return files_; }
  /// Number of a mesh by the name in the robot file; -1 if it is none.
  int find(const std::string& name) const;
  /// The bytes of a file; nothing if there is none of this number, it is not shown, or a link was
  /// put in its place since.
  std::optional<std::string> read(std::size_t number) const;

 private:
  bool allowed(const std::filesystem::path& path) const;
  File locate(const std::string& name) const;

  std::vector<std::filesystem::path> folders_;  ///< canonical; what is not below them is refused
  std::vector<File> files_;
};

}  // namespace espalier::viewer
