#pragma once

#include <array>
#include <utility>

#include "espalier/simulation/contact/collision/closed_form.hpp"

namespace espalier::contact {

/// Points of a pair of convex solids that have no closed form.
inline constexpr int convex_points = 5;

/// Points where two convex solids are nearest, up to five.
///
/// The first is where Bullet's GJK and EPA find them nearest. The others are where they are nearest
/// when the first solid is tilted by a hundredth of a radian, to either side about two axes: the
/// corners of the patch where faces or edges lie on each other. Those that coincide are absent.
/// Gaps of solids with flat faces are right to a micrometre, to 0.2 mm where one is curved.
/// @param A, B        world to shape
/// @param[out] touch  convex_points of them
/// Source: van den Bergen (2004), chapter 4; Bullet 3.24 at double precision.
void nearest_points(const Shape& a, const Transform<double>& A, const Shape& b,
                    const Transform<double>& B, Touch<double>* touch);

/// Closed forms where there are any, Bullet for all other pairs of convex solids: boxes, cylinders
/// and hulls on each other, spheres and capsules on cylinders and hulls. Hulls have all their
/// corners, on planes by a point more: the lowest.
template <class T>
class ConvexPairs final : public Collision<T> {
 public:
  explicit ConvexPairs(ModelPtr model) : Collision<T>(model), closed_(std::move(model)) {}

  int points(const Shape& a, const Shape& b) const override {
    const int known = closed_.points(a, b);
    if (known > 0) return known + (rich_on_plane(a, b) || rich_on_plane(b, a) ? 1 : 0);
    return terrain(a) || terrain(b) ? 0 : convex_points;
  }

  void collide(const Shape& a, const Transform<T>& A, const Shape& b, const Transform<T>& B,
               Touch<T>* touch) const override {
    const int known = closed_.points(a, b);
    if (known > 0) {
      closed_.collide(a, A, b, B, touch);
      if (rich_on_plane(a, b)) touch[known] = lowest(a, A, B);
      if (rich_on_plane(b, a)) {
        touch[known] = lowest(b, B, A);
        touch[known].normal = -touch[known].normal;
      }
      return;
    }
    for (int k = 0; k < lane_count<T>; ++k) {
      std::array<Touch<double>, convex_points> one;
      nearest_points(a, lane_of(A, k), b, lane_of(B, k), one.data());
      for (int i = 0; i < convex_points; ++i) {
        for (int c = 0; c < 3; ++c) {
          set_lane(touch[i].point[c], k, one[i].point[c]);
          set_lane(touch[i].normal[c], k, one[i].normal[c]);
        }
        set_lane(touch[i].gap, k, one[i].gap);
      }
    }
  }

 private:
  /// A hull with more corners than closed forms take: the lowest of all is a point besides.
  static bool rich_on_plane(const Shape& a, const Shape& b) {
    return a.kind == Shape::Kind::hull && !a.whole.empty() && b.kind == Shape::Kind::plane;
  }
  /// Absent where it is one of the few.
  static Touch<T> lowest(const Shape& a, const Transform<T>& A, const Transform<T>& B) {
    const Vec3<T> n = B.E.row[2], down = A.E * n;
    const auto reach = [&](const std::vector<Vec3<double>>& corners, Vec3<T>& at) {
      T least(1e300);
      for (const Vec3<double>& x : corners) {
        const T here = dot(down, Vec3<T>::from(x));
        const Mask<T> lower = less(here, least);
        least = select(lower, here, least);
        for (int k = 0; k < 3; ++k) at[k] = select(lower, T(x[k]), at[k]);
      }
      return least;
    };
    Vec3<T> corner = Vec3<T>::zero(), known = Vec3<T>::zero();
    const T least = reach(a.whole, corner), least_known = reach(a.vertices, known);
    const Vec3<T> at = A.r + transpose_times(A.E, corner);
    T gap = dot(n, at - B.r);
    const Vec3<T> point = at - scale(T(0.5) * gap, n);
    gap = select(less_equal(least_known, least), T(Collision<T>::absent), gap);
    return {point, n, gap};
  }
  static bool terrain(const Shape& s) {
    return s.kind == Shape::Kind::plane || s.kind == Shape::Kind::height_field;
  }
  static Transform<double> lane_of(const Transform<T>& X, int k) {
    Transform<double> out;
    for (int i = 0; i < 3; ++i) {
      out.r[i] = lane(X.r[i], k);
      for (int j = 0; j < 3; ++j) out.E.row[i][j] = lane(X.E.row[i][j], k);
    }
    return out;
  }

  ClosedForm<T> closed_;
};

}  // namespace espalier::contact
