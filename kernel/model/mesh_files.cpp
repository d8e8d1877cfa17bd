#include "espalier/kernel/model/mesh_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "espalier/kernel/format.hpp"

namespace espalier {

namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

}  // namespace

bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto whole = [](const fs::path& p) {
    return fs::absolute(p.empty() ? "." : p).lexically_normal();
  };
  const fs::path way = whole(path).lexically_relative(whole(folder));
  return !way.empty() && *way.begin() != "..";
}

namespace {

/// Where a file may be looked for, and the folders that it has to lie in.
struct Places {
  std::vector<fs::path> from, allowed;

  void add(const fs::path& folder) { from.push_back(folder), allowed.push_back(folder); }
  /// A package by its own folder: names begin with the package's.
  void add_package(const fs::path& folder) {
    from.push_back(folder.parent_path()), allowed.push_back(folder);
  }
};

/// Of `package://name/...` and `model://name/...`: search paths, the environment's, and packages
/// above the robot's file.
Places places_of_package(const fs::path& own, const fs::path& package, const ReadOptions& options) {
  Places places;
  for (const std::string& folder : options.search_paths) places.add(folder);
  for (const char* variable : {"ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH"}) {
    const char* value = std::getenv(variable);
    std::istringstream list(value == nullptr ? "" : value);
    for (std::string folder; std::getline(list, folder, ':');) {
      if (folder.empty()) continue;
      places.add(folder);
      // The path may name the package itself.
      const fs::path itself = (fs::path(folder) / "").parent_path();
      if (itself.filename() == package) places.add_package(itself);
    }
  }
  if (package == ".." || package == ".") return places;  // nobody's name
  // A robot's file mostly lies inside the package that it names, or in one beside it.
  std::error_code error;
  fs::path above = fs::absolute(own, error).lexically_normal();
  for (int i = 0; i < 6 && !error && above.has_relative_path(); ++i) {
    if (above.filename() == package) places.add_package(above);
    above = above.parent_path();
    if (is_file(above / package / "package.xml")) places.add_package(above / package);
  }
  return places;
}

}  // namespace

std::optional<std::string> find_mesh(const std::string& uri, const std::string& robot_file,
                                     const ReadOptions& options) {
  const fs::path own = fs::path(robot_file).parent_path();
  fs::path name = uri;
  Places places;
  if (uri.starts_with("package://") || uri.starts_with("model://")) {
    name = fs::path(uri.substr(uri.find("://") + 3)).relative_path();
    if (!name.empty()) places = places_of_package(own, *name.begin(), options);
  } else {
    if (uri.starts_with("file://")) name = uri.substr(7);
    places.add(own);
    for (const std::string& folder : options.search_paths) places.add(folder);
  }
  if (name.empty()) return std::nullopt;
  for (const fs::path& place : places.from) {
    const fs::path path = place / name;  // an absolute name stays what it is
    const bool inside = options.outside ||
                        std::any_of(places.allowed.begin(), places.allowed.end(),
                                    [&](const fs::path& folder) { return lies_in(path, folder); });
    if (inside && is_file(path)) return path.lexically_normal().string();
  }
  return std::nullopt;
}

std::vector<Finding> missing_meshes(const Description& robot, const ReadOptions& options) {
  std::vector<Finding> findings;
  for (const LinkDescription& link : robot.links) {
    for (const auto* shapes : {&link.visuals, &link.collisions}) {
      for (const ShapeDescription& shape : *shapes) {
        const auto* mesh = std::get_if<Mesh>(&shape.shape);
        if (mesh == nullptr || find_mesh(mesh->file, robot.where.file, options)) continue;
        const std::string where = shape.where.text();
        const std::string text =
            "link '" + link.name + "'" + (where.empty() ? "" : " (" + where + ")") + ": mesh is '" +
            mesh->file +
            "', which is missing, expected a file in the robot's folder or a search path (name its "
            "folder by --search, or allow others by --outside; dynamics does not need it)";
        // Shapes of one line that show the same file are said once.
        if (findings.empty() || findings.back().text != text) {
          findings.push_back({Finding::Severity::warning, text, where, false});
        }
      }
    }
  }
  return findings;
}

}  // namespace espalier
