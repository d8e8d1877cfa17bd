#pragma once

#include <array>
#include <utility>

#include "espalier/simulation/contact/problems/collision.hpp"
#include "espalier/simulation/contact/problems/lanes.hpp"

namespace espalier::contact {

/// Closed forms: sphere, capsule, box, cylinder and hull against plane and height field, sphere and
/// capsule against each other and against boxes.
///
/// A box touches the ground with its corners, a hull with its vertices, a cylinder with four points
/// of each rim, the lowest one first. A point touches the triangle of a height field that it is
/// above, the first or last cell's beyond the border, as if that were a plane: a solid whose points
/// are further apart than the cells does not feel the peaks between them.
template <class T>
class ClosedForm final : public Collision<T> {
 public:
  explicit ClosedForm(ModelPtr model) : Collision<T>(std::move(model)) {}

  int points(const Shape& a, const Shape& b) const override {
    if (on_terrain(a, b)) return terrain_points(a);
    if (on_terrain(b, a)) return terrain_points(b);
    if (rounded(a) && rounded(b)) return 1;
    if (rounded(a) && b.kind == Kind::box) return a.kind == Kind::sphere ? 1 : 3;
    if (rounded(b) && a.kind == Kind::box) return b.kind == Kind::sphere ? 1 : 3;
    return 0;
  }

  void collide(const Shape& a, const Transform<T>& A, const Shape& b, const Transform<T>& B,
               Touch<T>* touch) const override {
    if (on_terrain(a, b)) {
      terrain(a, A, b, B, touch);
    } else if (on_terrain(b, a)) {
      terrain(b, B, a, A, touch);
      turn(touch, terrain_points(b));
    } else if (rounded(a) && rounded(b)) {
      touch[0] = capsules(a, A, b, B);
    } else if (b.kind == Kind::box) {
      box(a, A, b, B, touch);
    } else {
      box(b, B, a, A, touch);
      turn(touch, points(a, b));
    }
  }

 private:
  using Kind = Shape::Kind;
  using V = Vec3<T>;

  /// A sphere whose centre is at the end of what was found.
  struct Ball {
    V centre;
    double radius;
  };

  static bool is_terrain(const Shape& s) {
    return s.kind == Kind::plane || s.kind == Kind::height_field;
  }
  static bool on_terrain(const Shape& a, const Shape& b) { return is_terrain(b) && !is_terrain(a); }
  static bool rounded(const Shape& s) { return s.kind == Kind::sphere || s.kind == Kind::capsule; }
  static int terrain_points(const Shape& a) {
    switch (a.kind) {
      case Kind::sphere:
        return 1;
      case Kind::capsule:
        return 2;
      case Kind::hull:
        return static_cast<int>(a.vertices.size());
      default:
        return 8;
    }
  }
  static void turn(Touch<T>* touch, int count) {
    for (int k = 0; k < count; ++k) touch[k].normal = -touch[k].normal;
  }
  static V world(const Transform<T>& X, const V& x) { return X.r + transpose_times(X.E, x); }
  static V axis(const Transform<T>& X) { return X.E.row[2]; }

  static void terrain(const Shape& a, const Transform<T>& A, const Shape& b, const Transform<T>& B,
                      Touch<T>* touch) {
    switch (a.kind) {
      case Kind::sphere:
        touch[0] = on_surface(b, B, {A.r, a.radius});
        return;
      case Kind::capsule:
        for (int k = 0; k < 2; ++k) {
          const double z = k == 0 ? a.half_length : -a.half_length;
          touch[k] = on_surface(b, B, {A.r + scale(T(z), axis(A)), a.radius});
        }
        return;
      case Kind::box:
        for (int k = 0; k < 8; ++k) {
          const V corner((k & 1) != 0 ? a.half.x : -a.half.x, (k & 2) != 0 ? a.half.y : -a.half.y,
                         (k & 4) != 0 ? a.half.z : -a.half.z);
          touch[k] = on_surface(b, B, {world(A, corner), 0.0});
        }
        return;
      case Kind::hull:
        for (std::size_t k = 0; k < a.vertices.size(); ++k) {
          touch[k] = on_surface(b, B, {world(A, V::from(a.vertices[k])), 0.0});
        }
        return;
      default:
        cylinder(a, A, b, B, touch);
    }
  }

  /// Four points of each rim: the lowest one, the one across, and the two between, so that a
  /// cylinder stands on its end as firmly as it lies on its side.
  static void cylinder(const Shape& a, const Transform<T>& A, const Shape& b, const Transform<T>& B,
                       Touch<T>* touch) {
    for (int end = 0; end < 2; ++end) {
      const V centre = A.r + scale(T(end == 0 ? a.half_length : -a.half_length), axis(A));
      const V n = A.E * on_surface(b, B, {centre, 0.0}).normal;  // in the cylinder's axes
      const T length = sqrt(n.x * n.x + n.y * n.y);
      // Standing upright every rim point is the lowest one: then that on the x axis.
      const Mask<T> upright = less(length, T(1e-9));
      const T inverse = T(-a.radius) / select(upright, T(1.0), length);
      const T x = select(upright, T(a.radius), n.x * inverse);
      const T y = select(upright, T(0.0), n.y * inverse);
      const V along_x = scale(x, A.E.row[0]) + scale(y, A.E.row[1]);
      const V along_y = scale(x, A.E.row[1]) - scale(y, A.E.row[0]);
      touch[4 * end] = on_surface(b, B, {centre + along_x, 0.0});
      touch[4 * end + 1] = on_surface(b, B, {centre - along_x, 0.0});
      touch[4 * end + 2] = on_surface(b, B, {centre + along_y, 0.0});
      touch[4 * end + 3] = on_surface(b, B, {centre - along_y, 0.0});
    }
  }

  static Touch<T> on_surface(const Shape& b, const Transform<T>& B, const Ball& ball) {
    if (b.kind == Kind::plane) {
      const V n = axis(B);
      return above(ball, n, dot(n, ball.centre - B.r) - T(ball.radius));
    }
    const V y = B.E * (ball.centre - B.r);
    V corner, n;
    triangle(b, y, corner, n);
    return above(ball, transpose_times(B.E, n), dot(n, y - corner) - T(ball.radius));
  }
  static Touch<T> above(const Ball& ball, const V& n, const T& gap) {
    return {ball.centre - scale(T(ball.radius) + T(0.5) * gap, n), n, gap};
  }

  /// Corner and normal of the triangle above or below which y is.
  static void triangle(const Shape& b, const V& y, V& corner, V& n) {
    for (int k = 0; k < lane_count<T>; ++k) {
      const double u = lane(y.x, k) / b.spacing, v = lane(y.y, k) / b.spacing;
      const int i = cell(u, b.columns), j = cell(v, b.rows);
      const double z00 = height(b, i, j), z11 = height(b, i + 1, j + 1);
      double sx, sy;  // slopes
      if (u - i > v - j) {
        const double z10 = height(b, i + 1, j);
        sx = (z10 - z00) / b.spacing, sy = (z11 - z10) / b.spacing;
      } else {
        const double z01 = height(b, i, j + 1);
        sx = (z11 - z01) / b.spacing, sy = (z01 - z00) / b.spacing;
      }
      const double inverse = 1.0 / std::sqrt(1.0 + sx * sx + sy * sy);
      set_lane(corner.x, k, i * b.spacing);
      set_lane(corner.y, k, j * b.spacing);
      set_lane(corner.z, k, z00);
      set_lane(n.x, k, -sx * inverse);
      set_lane(n.y, k, -sy * inverse);
      set_lane(n.z, k, inverse);
    }
  }
  static int cell(double u, int count) {
    // NaN goes to the first cell; its gap is NaN all the same.
    return u >= 1.0 ? (u < count - 1 ? static_cast<int>(u) : count - 2) : 0;
  }
  static double height(const Shape& b, int i, int j) {
    return b.heights[static_cast<std::size_t>(j) * b.columns + i];
  }

  /// Two balls; where their centres meet, the normal is the world's z.
  static Touch<T> balls(const Ball& a, const Ball& b) {
    const V d = a.centre - b.centre;
    const T length = sqrt(dot(d, d));
    const Mask<T> apart = less(T(1e-12), length);
    const T inverse = T(1.0) / select(apart, length, T(1.0));
    const V n(select(apart, d.x * inverse, T(0.0)), select(apart, d.y * inverse, T(0.0)),
              select(apart, d.z * inverse, T(1.0)));
    const T gap = length - T(a.radius) - T(b.radius);
    return {b.centre + scale(T(b.radius) + T(0.5) * gap, n), n, gap};
  }

  /// The nearest points of two segments. Source: Ericson (2005), section 5.1.9.
  static Touch<T> capsules(const Shape& a, const Transform<T>& A, const Shape& b,
                           const Transform<T>& B) {
    const double la = a.kind == Kind::capsule ? a.half_length : 0.0;
    const double lb = b.kind == Kind::capsule ? b.half_length : 0.0;
    const V u = axis(A), v = axis(B), d = A.r - B.r;
    const T uv = dot(u, v), ud = dot(u, d), vd = dot(v, d);
    const T sine2 = T(1.0) - uv * uv;
    // Parallel ones: the middle of a, as far as it is beside b.
    const Mask<T> parallel = less(sine2, T(1e-12));
    const T free = (uv * vd - ud) / select(parallel, T(1.0), sine2);
    T s = clip(select(parallel, T(0.0), free), T(-la), T(la));
    const T t = clip(vd + s * uv, T(-lb), T(lb));
    s = clip(t * uv - ud, T(-la), T(la));
    return balls({A.r + scale(s, u), a.radius}, {B.r + scale(t, v), b.radius});
  }

  /// A sphere, or the ends of a capsule and its point between them that is nearest to the box.
  static void box(const Shape& a, const Transform<T>& A, const Shape& b, const Transform<T>& B,
                  Touch<T>* touch) {
    if (a.kind == Kind::sphere) {
      touch[0] = on_box(b, B, {A.r, a.radius});
      return;
    }
    const V u = scale(T(a.half_length), axis(A));
    touch[0] = on_box(b, B, {A.r + u, a.radius});
    touch[1] = on_box(b, B, {A.r - u, a.radius});
    const V middle = B.E * (A.r - B.r), along = B.E * u;
    const T t = nearest(b.half, middle, along);
    touch[2] = on_box(b, B, {A.r + scale(t, u), a.radius});
    const Mask<T> at_end = less(T(1.0 - 1e-9), abs(t));
    touch[2].gap = select(at_end, T(Collision<T>::absent), touch[2].gap);
  }

  static Touch<T> on_box(const Shape& b, const Transform<T>& B, const Ball& ball) {
    const V y = B.E * (ball.centre - B.r);
    V d;
    for (int k = 0; k < 3; ++k) d[k] = y[k] - clip(y[k], T(-b.half[k]), T(b.half[k]));
    const T distance = sqrt(dot(d, d));
    // Inside, the nearest face.
    V face(T(0.0), T(0.0), T(0.0));
    T depth(-1e300);
    for (int k = 0; k < 3; ++k) {
      const T here = abs(y[k]) - T(b.half[k]);
      const Mask<T> nearer = less(depth, here);
      depth = select(nearer, here, depth);
      const T sign = select(less(y[k], T(0.0)), T(-1.0), T(1.0));
      for (int i = 0; i < 3; ++i) face[i] = select(nearer, i == k ? sign : T(0.0), face[i]);
    }
    const Mask<T> outside = less(T(0.0), distance);
    const T inverse = T(1.0) / select(outside, distance, T(1.0));
    V n;
    for (int k = 0; k < 3; ++k) n[k] = select(outside, d[k] * inverse, face[k]);
    const T gap = select(outside, distance, depth) - T(ball.radius);
    return above(ball, transpose_times(B.E, n), gap);
  }

  /// Where the segment middle + t along, |t| <= 1, is nearest to a box about the origin. Half the
  /// derivative of its squared distance is piecewise linear and does not fall: its zero lies
  /// between the last of the corners where it is not above zero and the first where it is not
  /// below.
  static T nearest(const Vec3<double>& half, const V& middle, const V& along) {
    T low(-1.0), at_low = slope(half, middle, along, low);
    T high(1.0), at_high = slope(half, middle, along, high);
    for (int k = 0; k < 3; ++k) {
      const Mask<T> moves = less(T(1e-12), abs(along[k]));
      const T inverse = T(1.0) / select(moves, along[k], T(1.0));
      for (const double side : {-half[k], half[k]}) {
        const T t = select(moves, clip((T(side) - middle[k]) * inverse, T(-1.0), T(1.0)), T(-1.0));
        const T f = slope(half, middle, along, t);
        const Mask<T> below = less_equal(f, T(0.0)) & less(low, t);
        low = select(below, t, low), at_low = select(below, f, at_low);
        const Mask<T> beyond = less_equal(T(0.0), f) & less(t, high);
        high = select(beyond, t, high), at_high = select(beyond, f, at_high);
      }
    }
    // Beyond an end, or in the middle of where the distance does not change.
    const T rise = at_high - at_low;
    const Mask<T> flat = less_equal(rise, T(0.0));
    const T between = low - at_low * (high - low) / select(flat, T(1.0), rise);
    T t = select(flat, T(0.5) * (low + high), between);
    t = select(less_equal(T(0.0), at_low) & less_equal(low, T(-1.0)) & ~flat, T(-1.0), t);
    t = select(less_equal(at_high, T(0.0)) & less_equal(T(1.0), high) & ~flat, T(1.0), t);
    return clip(t, T(-1.0), T(1.0));
  }
  static T slope(const Vec3<double>& half, const V& middle, const V& along, const T& t) {
    T sum(0.0);
    for (int k = 0; k < 3; ++k) {
      const T x = middle[k] + t * along[k];
      sum += along[k] * (x - clip(x, T(-half[k]), T(half[k])));
    }
    return sum;
  }
};

}  // namespace espalier::contact
