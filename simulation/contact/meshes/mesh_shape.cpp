#include "espalier/simulation/contact/meshes/mesh_shape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/kernel/errors.hpp"
#include "espalier/plugins/mesh/mesh.hpp"
#include "espalier/simulation/contact/meshes/hull.hpp"

namespace espalier::contact {

namespace {

/// Part of its size that a mesh may be hollow by and be called convex: rounding, and scratches.
constexpr double scratch = 1e-3;

Vec3<double> box_middle(const std::vector<Vec3<double>>& points, double& size) {
  constexpr double far = std::numeric_limits<double>::infinity();
  Vec3<double> low{far, far, far}, high{-far, -far, -far};
  for (const Vec3<double>& x : points) {
    for (int k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], x[k]);
      high[k] = std::max(high[k], x[k]);
    }
  }
  size = std::sqrt(dot(high - low, high - low));
  return scale(0.5, low + high);
}

/// The deepest of all corners and middles of triangles.
double hollowness(const TriangleMesh& mesh, const std::vector<Vec3<double>>& points,
                  const ConvexHull& hull) {
  double most = 0.0;
  for (std::size_t t = 0; t + 2 < mesh.triangles.size(); t += 3) {
    const Vec3<double>&a = mesh.vertices[mesh.triangles[t]],
          &b = mesh.vertices[mesh.triangles[t + 1]], &c = mesh.vertices[mesh.triangles[t + 2]];
    for (const Vec3<double>& x : {a, b, c, scale(1.0 / 3.0, a + b + c)}) {
      most = std::max(most, hull_depth(points, hull, x));
    }
  }
  return most;
}

}  // namespace

Shape mesh_shape(const std::string& path, const Vec3<double>& scale, Vec3<double>& middle,
                 MeshHull& summary) {
  TriangleMesh mesh = load_mesh(path, scale);
  if (mesh.triangles.empty()) {
    throw InvalidModel("contact: number of triangles of mesh '" + path +
                       "' is 0, expected some (a solid that touches)");
  }
  for (const Vec3<double>& x : mesh.vertices) {
    if (std::isfinite(x.x) && std::isfinite(x.y) && std::isfinite(x.z)) continue;
    throw InvalidModel("contact: a corner of mesh '" + path + "' is not finite, expected numbers");
  }
  double size = 0.0;
  middle = box_middle(mesh.vertices, size);
  for (Vec3<double>& x : mesh.vertices) x = x - middle;
  std::vector<Vec3<double>> corners;
  for (const int i : convex_hull(mesh.vertices).corners) corners.push_back(mesh.vertices[i]);
  const ConvexHull few = convex_hull(corners, Shape::most_corners);
  Shape shape;
  shape.kind = Shape::Kind::hull;
  for (const int i : few.corners) shape.vertices.push_back(corners[i]);
  summary.file = path;
  summary.corners = static_cast<int>(few.corners.size());
  summary.of = static_cast<int>(corners.size());
  summary.gap = hull_gap(corners, few);
  const double deepest = hollowness(mesh, corners, few);
  summary.hollow = deepest > scratch * size ? deepest : 0.0;
  if (corners.size() > shape.vertices.size()) shape.whole = std::move(corners);
  return shape;
}

}  // namespace espalier::contact
