#include <pybind11/stl.h>

#include <algorithm>
#include <filesystem>

#include "espalier/kernel/format.hpp"
#include "espalier/kernel/model/mesh_files.hpp"
#include "robot.hpp"

// Where the meshes of a robot are: files name them relative to their own folder, which Python's
// programs leave by os.chdir(), by pickles and by files in other folders.

namespace espalier::python {

namespace {

namespace fs = std::filesystem;

template <class F>
void each_shape(Description& robot, F&& f) {
  for (LinkDescription& link : robot.links) {
    for (auto* shapes : {&link.visuals, &link.collisions}) {
      for (ShapeDescription& shape : *shapes) f(link, shape);
    }
  }
}

/// Calls f(link, mesh, file) for the meshes that are where the robot's files say.
template <class F>
void each_mesh_found(Description& robot, F&& f) {
  each_shape(robot, [&](const LinkDescription& link, ShapeDescription& shape) {
    auto* const mesh = std::get_if<Mesh>(&shape.shape);
    if (mesh == nullptr) return;
    const auto file = find_mesh(mesh->file, shape.where.file, {});
    if (file) f(link, *mesh, fs::absolute(*file).lexically_normal());
  });
}

}  // namespace

void keep_places(Description& robot) {
  each_shape(robot, [](const LinkDescription&, ShapeDescription& shape) {
    if (!shape.where.file.empty()) shape.where.file = fs::absolute(shape.where.file).string();
  });
}

void bind_mesh_places(py::module_& module) {
  auto d = py::class_<Description, std::shared_ptr<Description>>(module.attr("Description"));
  d.def("_shape_files", [](Description& robot) {
    std::vector<std::string> out;
    each_shape(robot, [&](const LinkDescription&, const ShapeDescription& shape) {
      out.push_back(std::holds_alternative<Mesh>(shape.shape) ? shape.where.file : "");
    });
    return out;
  });
  d.def("_set_shape_files", [](Description& robot, const std::vector<std::string>& files) {
    std::size_t k = 0;
    each_shape(robot, [&](const LinkDescription&, ShapeDescription& shape) {
      if (k < files.size() && !files[k].empty()) shape.where.file = files[k];
      ++k;
    });
  });
  d.def(
      "_with_mesh_folders",
      [](const Description& robot) {
        auto copy = std::make_shared<Description>(robot);
        std::vector<std::string> folders;
        each_mesh_found(*copy, [&](const LinkDescription&, Mesh& mesh, const fs::path& file) {
          const std::string folder = file.parent_path().string();
          const auto k = std::find(folders.begin(), folders.end(), folder) - folders.begin();
          if (k == static_cast<std::ptrdiff_t>(folders.size())) folders.push_back(folder);
          mesh.file = (fs::path("meshes" + std::to_string(k)) / file.filename()).string();
        });
        return py::make_tuple(copy, folders);
      },
      "A copy whose meshes are in folders meshes0, meshes1, ..., and what these stand for.");
  d.def("_meshes_lost_at", [](Description& robot, const std::string& path) {
    std::vector<std::string> out;
    each_mesh_found(robot,
                    [&](const LinkDescription& link, const Mesh& mesh, const fs::path& file) {
                      const auto there = find_mesh(mesh.file, path, {});
                      std::error_code error;
                      if (there && fs::equivalent(*there, file, error)) return;
                      const std::string text = "'" + mesh.file + "' of link '" + link.name + "'";
                      if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(text);
                    });
    return out;
  });
}

}  // namespace espalier::python
