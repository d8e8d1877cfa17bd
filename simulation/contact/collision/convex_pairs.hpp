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
/// corners of the patch where faces or edges lie on each other. Those that coincide are absent. Gaps
/// of solids with flat faces are right to a micrometre, to 0.2 mm where one is curved.
/// @param A, B        world to shape
/// @param[out] touch  convex_points of them
/// Source: van den Bergen (2004), chapter 4; Bullet 3.24 at double precision.
void nearest_points(const Shape& a, const Transform<double>& A, const Shape& b,
                    const Transform<double>& B, Touch<double>* touch);

/// Closed forms where there are any, Bullet for all other pairs of convex solids: boxes, cylinders
/// and hulls on each other, spheres and capsules on cylinders and hulls.
template <class T>
class ConvexPairs final : public Collision<T> {
 public:
  explicit ConvexPairs(ModelPtr model) : Collision<T>(model), closed_(std::move(model)) {}

  int points(const Shape& a, const Shape& b) const override {
    const int known = closed_.points(a, b);
    if (known > 0) return known;
    return terrain(a) || terrain(b) ? 0 : convex_points;
  }

  void collide(const Shape& a, const Transform<T>& A, const Shape& b, const Transform<T>& B,
               Touch<T>* touch) const override {
    if (closed_.points(a, b) > 0) return closed_.collide(a, A, b, B, touch);
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
