#include "viewer/server/scene/meshes.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <sstream>

#include "espalier/kernel/errors.hpp"

namespace espalier::viewer {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t largest_mesh = 64u << 20;  // [bytes], what a browser still loads

std::string lower_ending(const fs::path& path) {
  std::string ending = path.extension().string();
  if (!ending.empty()) ending.erase(0, 1);
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending;
}

/// "package://arm/meshes/a.stl" and "model://..." without scheme, "file:///a" as a path.
std::string without_scheme(const std::string& name) {
  for (const char* scheme : {"package://", "model://", "file://"}) {
    if (name.starts_with(scheme)) return name.substr(std::string_view(scheme).size());
  }
  return name;
}

}  // namespace

MeshFiles::MeshFiles(const Model& model, const fs::path& robot_file,
                     const std::vector<fs::path>& folders) {
  std::error_code error;
  for (const fs::path& folder : folders) {
    const fs::path canonical = fs::canonical(folder, error);
    if (error || !fs::is_directory(canonical, error)) {
      throw InvalidModel("viewer: mesh folder is '" + folder.string() +
                         "', expected a folder that exists");
    }
    folders_.push_back(canonical);
  }
  const fs::path own = fs::canonical(robot_file, error).parent_path();
  if (!error) {
    folders_.push_back(own);
    // <package>/urdf/robot.urdf names meshes in <package>/meshes. A folder right below the root
    // would allow the whole disk.
    const fs::path above = own.parent_path();
    if (above.has_relative_path()) folders_.push_back(above);
  }
  for (const PlacedShape& placed : model.shapes()) {
    const Mesh* mesh = std::get_if<Mesh>(&placed.shape.shape);
    if (mesh != nullptr && find(mesh->file) < 0) files_.push_back(locate(mesh->file));
  }
}

bool MeshFiles::allowed(const fs::path& path) const {
  return std::any_of(folders_.begin(), folders_.end(), [&](const fs::path& folder) {
    return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first ==
           folder.end();
  });
}

MeshFiles::File MeshFiles::locate(const std::string& name) const {
  File file{name, {}, lower_ending(name), {}};
  if (file.kind != "stl" && file.kind != "obj" && file.kind != "dae") {
    file.problem = "format is '" + file.kind + "', expected stl, obj or dae";
    return file;
  }
  const fs::path wanted = without_scheme(name);
  std::vector<fs::path> places;
  for (const fs::path& folder : folders_) {
    places.push_back(folder / wanted);
    // package://arm/meshes/a.stl where the folder is the package itself.
    if (wanted.is_relative() && wanted.begin() != wanted.end()) {
      places.push_back(folder / wanted.lexically_relative(*wanted.begin()));
    }
  }
  bool outside = false;
  for (const fs::path& place : places) {
    std::error_code error;
    const fs::path canonical = fs::canonical(place, error);
    if (error || !fs::is_regular_file(canonical, error)) continue;
    if (!allowed(canonical) || lower_ending(canonical) != file.kind) {
      outside = true;
      continue;
    }
    if (fs::file_size(canonical, error) > largest_mesh) {
      file.problem = "size is " + std::to_string(fs::file_size(canonical, error)) +
                     " bytes, expected at most " + std::to_string(largest_mesh);
      return file;
    }
    file.path = canonical;
    return file;
  }
  file.problem = outside
                     ? "path leads out of the robot's folders, expected one inside (name "
                       "another folder by --search or --mesh-folder)"
                     : "file is missing, expected a file in the robot's folder or a search path "
                       "(name its folder by --search or --mesh-folder)";
  return file;
}

int MeshFiles::find(const std::string& name) const {
  const auto it = std::find_if(files_.begin(), files_.end(),
                               [&](const File& file) { return file.name == name; });
  return it == files_.end() ? -1 : static_cast<int>(it - files_.begin());
}

std::optional<std::string> MeshFiles::read(std::size_t number) const {
  if (number >= files_.size() || files_[number].path.empty()) return std::nullopt;
  std::error_code error;
  const fs::path now = fs::canonical(files_[number].path, error);
  if (error || now != files_[number].path || fs::file_size(now, error) > largest_mesh) {
    return std::nullopt;
  }
  std::ifstream stream(now, std::ios::binary);
  std::ostringstream bytes;
  bytes << stream.rdbuf();
  if (!stream) return std::nullopt;
  return bytes.str();
}

}  // namespace espalier::viewer
