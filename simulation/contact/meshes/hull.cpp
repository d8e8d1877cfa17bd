#include "espalier/simulation/contact/meshes/hull.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

namespace espalier::contact {

namespace {

using V = Vec3<double>;

/// Part of a cloud's size that its numbers are good for: files of meshes have floats.
constexpr double resolution = 1e-7;

double hull_length(const V& x) { return std::sqrt(dot(x, x)); }

/// Decides between points that are as far out as each other: their last one in a direction that is
/// no face's or edge's of a likely solid, which is a corner of all that are equal.
double last(const V& x) { return 0.7549 * x.x + 0.5698 * x.y + 0.3247 * x.z; }

/// The point where a convex function is largest, up to a difference.
template <class F>
std::pair<int, double> furthest(const std::vector<V>& points, double equal, F&& f) {
  double most = -std::numeric_limits<double>::infinity();
  for (const V& x : points) most = std::max(most, f(x));
  int best = -1;
  for (int i = 0; i < static_cast<int>(points.size()); ++i) {
    if (f(points[i]) < most - equal) continue;
    if (best < 0 || last(points[i]) > last(points[best])) best = i;
  }
  return {best, most};
}

class QuickHull {
 public:
  QuickHull(const std::vector<V>& points, double size) : points_(points), eps_(resolution * size) {}

  /// From a tetrahedron on.
  void grow(const std::array<int, 4>& start, int most) {
    ConvexHull& h = hull_;
    h.corners.assign(start.begin(), start.end());
    std::vector<int> all(points_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(i);
    const auto [a, b, c, d] = start;
    const V n = cross(points_[b] - points_[a], points_[c] - points_[a]);
    // The first face looks away from d.
    const bool away = dot(n, points_[d] - points_[a]) < 0.0;
    const int x = away ? b : c, y = away ? c : b;
    std::vector<int> fresh = {add_face(a, x, y), add_face(a, d, x), add_face(x, d, y),
                              add_face(y, d, a)};
    share(all, fresh);
    while (!queue_.empty() && (most <= 0 || static_cast<int>(h.corners.size()) < most)) {
      const auto [distance, face] = queue_.top();
      queue_.pop();
      if (faces_[face].alive && distance == faces_[face].most) insert(face);
    }
    for (const Face& f : faces_) {
      if (f.alive) h.faces.insert(h.faces.end(), f.corner.begin(), f.corner.end());
    }
  }
  ConvexHull take() { return std::move(hull_); }

 private:
  struct Face {
    std::array<int, 3> corner;
    V normal;
    double offset = 0.0;
    std::vector<int> outside;  ///< points that this face has to look after
    int furthest = -1;
    double most = 0.0;
    bool alive = true, visible = false;
  };

  static std::uint64_t edge(int a, int b) {
    return static_cast<std::uint64_t>(a) << 32 | static_cast<std::uint32_t>(b);
  }
  double above(const Face& f, int point) const { return dot(f.normal, points_[point]) - f.offset; }

  int add_face(int a, int b, int c) {
    Face f;
    f.corner = {a, b, c};
    const V n = cross(points_[b] - points_[a], points_[c] - points_[a]);
    f.normal = scale(1.0 / hull_length(n), n);
    f.offset = dot(f.normal, points_[a]);
    const int id = static_cast<int>(faces_.size());
    edges_[edge(a, b)] = edges_[edge(b, c)] = edges_[edge(c, a)] = id;
    faces_.push_back(std::move(f));
    return id;
  }

  /// Gives each point to the face that it is furthest above; those above none are inside.
  void share(const std::vector<int>& loose, const std::vector<int>& fresh) {
    for (const int i : loose) {
      int owner = -1;
      double most = eps_;
      for (const int id : fresh) {
        const double here = above(faces_[id], i);
        if (here > most) most = here, owner = id;
      }
      if (owner < 0) continue;
      faces_[owner].outside.push_back(i);
      faces_[owner].most = std::max(faces_[owner].most, most);
    }
    for (const int id : fresh) {
      Face& f = faces_[id];
      for (const int i : f.outside) {
        if (above(f, i) < f.most - eps_) continue;
        if (f.furthest < 0 || last(points_[i]) > last(points_[f.furthest])) f.furthest = i;
      }
      if (f.furthest >= 0) queue_.push({f.most, id});
    }
  }

  /// Takes the furthest point of a face: all faces that see it give way to new ones around it.
  void insert(int seed) {
    const int point = faces_[seed].furthest;
    std::vector<int> seen = {seed}, loose;
    std::vector<std::pair<int, int>> horizon;
    faces_[seed].visible = true;
    for (std::size_t k = 0; k < seen.size(); ++k) {
      for (int e = 0; e < 3; ++e) {
        const std::array<int, 3> c = faces_[seen[k]].corner;
        const int a = c[e], b = c[(e + 1) % 3];
        const auto beyond = edges_.find(edge(b, a));
        if (beyond == edges_.end()) continue;
        Face& other = faces_[beyond->second];
        if (other.visible) continue;
        if (above(other, point) > eps_) {
          other.visible = true;
          seen.push_back(beyond->second);
        } else {
          horizon.emplace_back(a, b);
        }
      }
    }
    for (const int id : seen) {
      Face& f = faces_[id];
      f.alive = false;
      for (int e = 0; e < 3; ++e) edges_.erase(edge(f.corner[e], f.corner[(e + 1) % 3]));
      for (const int i : f.outside) {
        if (i != point) loose.push_back(i);
      }
      std::vector<int>().swap(f.outside);
    }
    std::vector<int> fresh;
    for (const auto& [a, b] : horizon) fresh.push_back(add_face(a, b, point));
    hull_.corners.push_back(point);
    share(loose, fresh);
  }

  const std::vector<V>& points_;
  double eps_;
  ConvexHull hull_;
  std::vector<Face> faces_;
  std::unordered_map<std::uint64_t, int> edges_;  ///< the face to the left of each
  std::priority_queue<std::pair<double, int>> queue_;
};

/// Of points in a plane: the hull of a cone on them, without its tip. Both sides have faces.
ConvexHull flat_hull(std::vector<V> points, const std::array<int, 3>& start, double size,
                     int most) {
  const auto [a, b, c] = start;
  const V n = cross(points[b] - points[a], points[c] - points[a]);
  const V middle = scale(1.0 / 3.0, points[a] + points[b] + points[c]);
  const int tip = static_cast<int>(points.size());
  points.push_back(middle + scale(size / hull_length(n), n));
  QuickHull quick(points, size);
  quick.grow({a, b, c, tip}, most <= 0 ? 0 : most + 1);
  const ConvexHull cone = quick.take();
  ConvexHull flat;
  for (const int i : cone.corners) {
    if (i != tip) flat.corners.push_back(i);
  }
  for (std::size_t k = 0; k < cone.faces.size(); k += 3) {
    const int x = cone.faces[k], y = cone.faces[k + 1], z = cone.faces[k + 2];
    if (x == tip || y == tip || z == tip) continue;
    flat.faces.insert(flat.faces.end(), {x, y, z, x, z, y});
  }
  return flat;
}

double distance_from_segment(const V& a, const V& b, const V& x) {
  const V d = b - a;
  const double along = dot(d, d);
  const double t = along > 0.0 ? std::clamp(dot(d, x - a) / along, 0.0, 1.0) : 0.0;
  return hull_length(x - a - scale(t, d));
}

double distance_from_triangle(const V& a, const V& b, const V& c, const V& x) {
  const V n = cross(b - a, c - a);
  const bool within = dot(cross(b - a, x - a), n) >= 0.0 && dot(cross(c - b, x - b), n) >= 0.0 &&
                      dot(cross(a - c, x - c), n) >= 0.0;
  if (within && dot(n, n) > 0.0) return std::abs(dot(n, x - a)) / hull_length(n);
  return std::min({distance_from_segment(a, b, x), distance_from_segment(b, c, x),
                   distance_from_segment(c, a, x)});
}

double cloud_size(const std::vector<V>& points) {
  double size = 0.0;
  for (const V& x : points) {
    for (int k = 0; k < 3; ++k) size = std::max(size, std::abs(x[k]));
  }
  return size;
}

/// The hull with points on its edges and faces among its corners, where such a one was as far out
/// as a corner.
ConvexHull rough_hull(const std::vector<V>& points, int most) {
  const double size = cloud_size(points), least = resolution * size;
  const int a = furthest(points, least, [](const V& x) { return x.x; }).first;
  const auto [b, length] =
      furthest(points, least, [&](const V& x) { return hull_length(x - points[a]); });
  if (!(length > least)) return {{a}, {a, a, a}};
  const V along = scale(1.0 / length, points[b] - points[a]);
  const auto [c, width] =
      furthest(points, least, [&](const V& x) { return hull_length(cross(along, x - points[a])); });
  if (!(width > least)) return {{a, b}, {a, b, b}};
  const V across = cross(along, points[c] - points[a]);
  const V n = scale(1.0 / hull_length(across), across);
  const auto [d, height] =
      furthest(points, least, [&](const V& x) { return std::abs(dot(n, x - points[a])); });
  if (!(height > least)) return flat_hull(points, {a, b, c}, size, most);
  QuickHull quick(points, size);
  quick.grow({a, b, c, d}, most);
  return quick.take();
}

/// Corners that are outside of the hull of those with which they share faces.
std::vector<int> true_corners(const std::vector<V>& points, const ConvexHull& hull) {
  std::unordered_map<int, std::set<int>> around;
  for (std::size_t k = 0; k < hull.faces.size(); k += 3) {
    for (std::size_t i = k; i < k + 3; ++i) {
      for (std::size_t j = k; j < k + 3; ++j) {
        if (hull.faces[i] != hull.faces[j]) around[hull.faces[i]].insert(hull.faces[j]);
      }
    }
  }
  const double least = 2.0 * resolution * cloud_size(points);
  std::vector<int> corners;
  for (const int corner : hull.corners) {
    std::vector<V> others;
    for (const int i : around[corner]) others.push_back(points[i]);
    if (!others.empty()) {
      const ConvexHull link = rough_hull(others, 0);
      others.push_back(points[corner]);
      if (hull_gap(others, link) <= least) continue;
    }
    corners.push_back(corner);
  }
  return corners;
}

}  // namespace

ConvexHull convex_hull(const std::vector<V>& points, int most) {
  if (points.empty()) return {};
  ConvexHull rough = rough_hull(points, 0);
  const std::vector<int> corners = true_corners(points, rough);
  const bool few = most > 0 && static_cast<int>(corners.size()) > most;
  if (corners.size() == rough.corners.size() && !few) return rough;
  std::vector<V> kept;
  for (const int i : corners) kept.push_back(points[i]);
  ConvexHull hull = rough_hull(kept, few ? most : 0);
  for (int& i : hull.corners) i = corners[i];
  for (int& i : hull.faces) i = corners[i];
  return hull;
}

double hull_gap(const std::vector<V>& points, const ConvexHull& hull) {
  double most = 0.0;
  // What is well inside of a solid; no point is inside of a flat one.
  const double inside = 1e-9 * cloud_size(points);
  for (const V& x : points) {
    if (hull_depth(points, hull, x) > inside) continue;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < hull.faces.size(); k += 3) {
      least =
          std::min(least, distance_from_triangle(points[hull.faces[k]], points[hull.faces[k + 1]],
                                                 points[hull.faces[k + 2]], x));
    }
    most = std::max(most, least);
  }
  return most;
}

double hull_depth(const std::vector<V>& points, const ConvexHull& hull, const V& x) {
  double depth = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < hull.faces.size(); k += 3) {
    const V& a = points[hull.faces[k]];
    const V n = cross(points[hull.faces[k + 1]] - a, points[hull.faces[k + 2]] - a);
    const double length = hull_length(n);
    depth = std::min(depth, length > 0.0 ? dot(n, a - x) / length : -hull_length(x - a));
  }
  return depth;
}

}  // namespace espalier::contact
