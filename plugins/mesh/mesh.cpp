#include "espalier/plugins/mesh/mesh.hpp"

#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <algorithm>
#include <array>
#include <boost/dll/shared_library.hpp>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "espalier/kernel/errors.hpp"

namespace espalier {

namespace {

namespace fs = std::filesystem;

/// Larger files are not meshes of a robot.
constexpr std::uintmax_t largest_mesh = 256u << 20;

/// The library assimp, opened when the first mesh is read: with all that it needs it takes as long
/// to load as the rest of a program.
struct Assimp {
  static const Assimp& instance(const std::string& path) {
    try {
      static const Assimp it;
      return it;
    } catch (const std::system_error& error) {
      throw InvalidModel(path + ": library for meshes is missing (" + error.what() +
                         "), expected " ESPALIER_ASSIMP " (Debian: libassimp5)");
    }
  }

  boost::dll::shared_library library{ESPALIER_ASSIMP, boost::dll::load_mode::search_system_folders};
  decltype(&aiImportFile) import_file = &library.get<decltype(aiImportFile)>("aiImportFile");
  decltype(&aiReleaseImport) release = &library.get<decltype(aiReleaseImport)>("aiReleaseImport");
  decltype(&aiGetErrorString) error = &library.get<decltype(aiGetErrorString)>("aiGetErrorString");
};

/// Adds what a node and its children show, moved by `place`.
void collect(const aiScene& scene, const aiNode& node, const aiMatrix4x4& parent,
             const Vec3<double>& scale, TriangleMesh& out) {
  const aiMatrix4x4 place = parent * node.mTransformation;
  // A mirrored mesh has its triangles the other way round.
  const bool mirrored = (scale.x * scale.y * scale.z < 0.0) != (place.Determinant() < 0.0f);
  for (unsigned i = 0; i < node.mNumMeshes; ++i) {
    const aiMesh& mesh = *scene.mMeshes[node.mMeshes[i]];
    const int first = static_cast<int>(out.vertices.size());
    for (unsigned v = 0; v < mesh.mNumVertices; ++v) {
      const aiVector3D p = place * mesh.mVertices[v];
      out.vertices.push_back({p.x * scale.x, p.y * scale.y, p.z * scale.z});
    }
    for (unsigned f = 0; f < mesh.mNumFaces; ++f) {
      const aiFace& face = mesh.mFaces[f];
      if (face.mNumIndices != 3) continue;  // points and lines enclose nothing
      for (const int k : {0, mirrored ? 2 : 1, mirrored ? 1 : 2}) {
        out.triangles.push_back(first + static_cast<int>(face.mIndices[k]));
      }
    }
  }
  for (unsigned i = 0; i < node.mNumChildren; ++i) {
    collect(scene, *node.mChildren[i], place, scale, out);
  }
}

}  // namespace

TriangleMesh load_mesh(const std::string& path, const Vec3<double>& scale) {
  std::error_code error;
  if (fs::file_size(path, error) > largest_mesh || error) {
    throw InvalidModel(path + ": mesh is larger than 256 MB or unreadable, expected a mesh");
  }
  const Assimp& assimp = Assimp::instance(path);
  const std::unique_ptr<const aiScene, decltype(assimp.release)> scene(
      assimp.import_file(path.c_str(), aiProcess_Triangulate | aiProcess_JoinIdenticalVertices |
                                           aiProcess_SortByPType),
      assimp.release);
  if (scene == nullptr || scene->mRootNode == nullptr) {
    throw InvalidModel(path + ": mesh is unreadable (" + assimp.error() +
                       "), expected STL, OBJ, COLLADA or PLY");
  }
  TriangleMesh mesh;
  collect(*scene, *scene->mRootNode, aiMatrix4x4(), scale, mesh);
  for (const Vec3<double>& p : mesh.vertices) {
    if (std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z)) continue;
    throw InvalidModel(path + ": mesh has a vertex that is not finite, expected numbers");
  }
  return mesh;
}

namespace {

/// Sums over the triangles of a mesh.
struct Areas {
  Vec3<double> moment{0, 0, 0};
  double area = 0.0;

  explicit Areas(const TriangleMesh& mesh) {
    for (std::size_t t = 0; t + 2 < mesh.triangles.size(); t += 3) {
      const Vec3<double>&a = mesh.vertices[mesh.triangles[t]],
            &b = mesh.vertices[mesh.triangles[t + 1]], &c = mesh.vertices[mesh.triangles[t + 2]];
      const Vec3<double> n = scale(0.5, cross(b - a, c - a));
      const double size = std::sqrt(dot(n, n));
      area += size, moment += scale(size / 3.0, a + b + c);
    }
  }
};

}  // namespace

double surface_of(const TriangleMesh& mesh) { return Areas(mesh).area; }

bool is_closed(const TriangleMesh& mesh) {
  // Corners at one place are one, in units in which single precision tells them apart.
  double size = 0.0;
  for (const Vec3<double>& p : mesh.vertices) {
    size = std::max({size, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  }
  const double unit = size > 0.0 ? 1e6 / size : 1.0;
  std::map<std::array<long, 3>, int> places;
  std::vector<int> corner;
  for (const Vec3<double>& p : mesh.vertices) {
    const std::array<long, 3> place{std::lround(p.x * unit), std::lround(p.y * unit),
                                    std::lround(p.z * unit)};
    corner.push_back(places.emplace(place, static_cast<int>(places.size())).first->second);
  }
  std::map<std::pair<int, int>, int> edges;  // from a lower corner to a higher one, less those back
  std::set<std::array<int, 3>> seen;
  for (std::size_t t = 0; t + 2 < mesh.triangles.size(); t += 3) {
    std::array<int, 3> c{corner[mesh.triangles[t]], corner[mesh.triangles[t + 1]],
                         corner[mesh.triangles[t + 2]]};
    if (c[0] == c[1] || c[1] == c[2] || c[2] == c[0]) continue;  // without area
    for (int k = 0; k < 3; ++k) {
      const int from = c[k], to = c[(k + 1) % 3];
      edges[std::minmax(from, to)] += from < to ? 1 : -1;
    }
    std::rotate(c.begin(), std::min_element(c.begin(), c.end()), c.end());
    if (!seen.insert(c).second) return false;
  }
  return std::all_of(edges.begin(), edges.end(), [](const auto& e) { return e.second == 0; });
}

RigidInertia<double> solid_inertia(const TriangleMesh& mesh, double density) {
  // Of the tetrahedron from the middle to a triangle a, b, c: volume V = a·(b x c)/6, first moment
  // V (a + b + c)/4, second moments V/20 (s s^T + a a^T + b b^T + c c^T) with s = a + b + c.
  const Areas areas(mesh);
  const Vec3<double> middle =
      areas.area > 0.0 ? scale(1.0 / areas.area, areas.moment) : Vec3<double>{0, 0, 0};
  double V = 0.0;
  Vec3<double> h{0, 0, 0};
  double second[6] = {0, 0, 0, 0, 0, 0};  // xx, yy, zz, xy, xz, yz
  for (std::size_t t = 0; t + 2 < mesh.triangles.size(); t += 3) {
    const Vec3<double> a = mesh.vertices[mesh.triangles[t]] - middle,
                       b = mesh.vertices[mesh.triangles[t + 1]] - middle,
                       c = mesh.vertices[mesh.triangles[t + 2]] - middle;
    const double v = dot(a, cross(b, c)) / 6.0;
    const Vec3<double> s = a + b + c;
    V += v;
    h += scale(v / 4.0, s);
    for (const Vec3<double>& p : {s, a, b, c}) {
      const double w = v / 20.0;
      second[0] += w * p.x * p.x, second[1] += w * p.y * p.y, second[2] += w * p.z * p.z;
      second[3] += w * p.x * p.y, second[4] += w * p.x * p.z, second[5] += w * p.y * p.z;
    }
  }
  RigidInertia<double> I;
  I.m = density * V;
  I.h = scale(density, h);
  I.I.xx = density * (second[1] + second[2]);
  I.I.yy = density * (second[0] + second[2]);
  I.I.zz = density * (second[0] + second[1]);
  I.I.xy = -density * second[3], I.I.xz = -density * second[4], I.I.yz = -density * second[5];
  return congruence(Transform<double>{Mat3<double>::identity(), middle}, I);
}

}  // namespace espalier
