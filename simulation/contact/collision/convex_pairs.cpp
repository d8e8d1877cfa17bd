#include "simulation/contact/collision/convex_pairs.hpp"

#include <BulletCollision/CollisionShapes/btConvexInternalShape.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkEpaPenetrationDepthSolver.h>
#include <BulletCollision/NarrowPhaseCollision/btGjkPairDetector.h>
#include <BulletCollision/NarrowPhaseCollision/btPointCollector.h>
#include <BulletCollision/NarrowPhaseCollision/btVoronoiSimplexSolver.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "espalier/plugin.hpp"

namespace espalier::contact {

namespace {

using V = Vec3<double>;
using X = Transform<double>;

/// Tilt that finds the corners of a patch [rad]: faces that meet at a larger angle touch at an
/// edge.
constexpr double tilt = 0.01;
/// Points nearer to each other than a curved surface rolls by that tilt are one.
constexpr double same_point = 4.0 * tilt;

btVector3 bullet(const V& v) { return {v.x, v.y, v.z}; }
V ours(const btVector3& v) { return {v.x(), v.y(), v.z()}; }
btTransform bullet(const X& x) {
  const auto& e = x.E;  // Bullet's basis turns the shape's axes into the world's
  return btTransform(btMatrix3x3(e.row[0].x, e.row[1].x, e.row[2].x, e.row[0].y, e.row[1].y,
                                 e.row[2].y, e.row[0].z, e.row[1].z, e.row[2].z),
                     bullet(x.r));
}
V world(const X& x, const V& p) { return x.r + transpose_times(x.E, p); }
V unit(const V& v) { return scale(1.0 / std::sqrt(dot(v, v)), v); }

/// Our shape as Bullet asks for it: by its support points. Spheres and capsules are a point and a
/// segment within a margin; nothing is taken from the heap.
class Support final : public btConvexInternalShape {
 public:
  explicit Support(const Shape& shape) : shape_(shape) {
    m_shapeType = CUSTOM_CONVEX_SHAPE_TYPE;
    const bool rounded = shape.kind == Shape::Kind::sphere || shape.kind == Shape::Kind::capsule;
    setMargin(rounded ? shape.radius : 0.0);
  }

  btVector3 localGetSupportingVertexWithoutMargin(const btVector3& d) const override {
    const auto side = [](double x, double of) { return x < 0.0 ? -of : of; };
    switch (shape_.kind) {
      case Shape::Kind::sphere:
        return {0, 0, 0};
      case Shape::Kind::capsule:
        return {0, 0, side(d.z(), shape_.half_length)};
      case Shape::Kind::box:
        return {side(d.x(), shape_.half.x), side(d.y(), shape_.half.y), side(d.z(), shape_.half.z)};
      case Shape::Kind::cylinder: {
        const double across = std::hypot(d.x(), d.y());
        const double k = across > 0.0 ? shape_.radius / across : 0.0;
        return {k > 0.0 ? k * d.x() : shape_.radius, k * d.y(), side(d.z(), shape_.half_length)};
      }
      default: {
        double most = -std::numeric_limits<double>::infinity();
        const V* best = shape_.corners().data();
        for (const V& x : shape_.corners()) {
          const double here = dot(x, ours(d));
          if (here > most) most = here, best = &x;
        }
        return bullet(*best);
      }
    }
  }
  btVector3 localGetSupportingVertex(const btVector3& d) const override {
    const btVector3 core = localGetSupportingVertexWithoutMargin(d);
    return d.fuzzyZero() ? core : core + getMargin() * d.normalized();
  }
  void batchedUnitVectorGetSupportingVertexWithoutMargin(const btVector3* d, btVector3* out,
                                                         int count) const override {
    for (int i = 0; i < count; ++i) out[i] = localGetSupportingVertexWithoutMargin(d[i]);
  }
  void calculateLocalInertia(btScalar /*mass*/, btVector3& inertia) const override {
    inertia.setZero();  // nobody asks: Bullet moves nothing here
  }
  const char* getName() const override { return "espalier"; }

  /// Radius of a sphere about the origin that holds the shape.
  double extent() const {
    switch (shape_.kind) {
      case Shape::Kind::hull: {
        double most = 0.0;
        for (const V& x : shape_.corners()) most = std::max(most, dot(x, x));
        return std::sqrt(most);
      }
      case Shape::Kind::box:
        return std::sqrt(dot(shape_.half, shape_.half));
      default:
        return shape_.radius + shape_.half_length;
    }
  }

 private:
  const Shape& shape_;
};

struct Nearest {
  bool found = false;
  V on_a, on_b, normal;  ///< normal from b to a
  double gap = 0.0;
};

Nearest nearest(const Support& a, const X& A, const Support& b, const X& B) {
  btVoronoiSimplexSolver simplex;
  btGjkEpaPenetrationDepthSolver depth;
  btGjkPairDetector detector(&a, &b, &simplex, &depth);
  btGjkPairDetector::ClosestPointInput input;
  input.m_transformA = bullet(A), input.m_transformB = bullet(B);
  btPointCollector found;
  detector.getClosestPoints(input, found, nullptr);
  if (!found.m_hasResult) return {};
  Nearest out{
      true, {}, ours(found.m_pointInWorld), ours(found.m_normalOnBInWorld), found.m_distance};
  out.on_a = out.on_b + scale(out.gap, out.normal);
  return out;
}

/// The pose after a turn by a small angle about an axis through a point.
X turned(const X& pose, const V& axis, double angle, const V& about) {
  const double s = std::sin(angle), c = std::cos(angle);
  const auto turn = [&](const V& x) {
    return scale(c, x) + scale(s, cross(axis, x)) + scale((1.0 - c) * dot(axis, x), axis);
  };
  X out;
  out.r = about + turn(pose.r - about);
  for (int i = 0; i < 3; ++i) out.E.row[i] = turn(pose.E.row[i]);
  return out;
}

/// A tangent of the normal that turns with the solid: the part across it of the solid's axis that
/// is most across, so that features keep their numbers while it moves.
V tangent(const X& A, const V& n) {
  int best = 0;
  for (int i = 1; i < 3; ++i) {
    if (std::abs(dot(A.E.row[i], n)) < std::abs(dot(A.E.row[best], n)) - 0.1) best = i;
  }
  const V& axis = A.E.row[best];
  const V along = unit(axis - scale(dot(axis, n), n));
  return unit(along + cross(n, along));
}

}  // namespace

void nearest_points(const Shape& shape_a, const Transform<double>& A, const Shape& shape_b,
                    const Transform<double>& B, Touch<double>* touch) {
  const Support a(shape_a), b(shape_b);
  for (int k = 0; k < convex_points; ++k)
    touch[k] = {{0, 0, 0}, {0, 0, 1}, Collision<double>::absent};
  if (!std::isfinite(dot(A.r, A.r) + dot(B.r, B.r) + dot(A.E.row[0], B.E.row[0]))) {
    touch[0].gap = std::numeric_limits<double>::quiet_NaN();  // the step's verdict names it
    return;
  }
  const Nearest first = nearest(a, A, b, B);
  if (!first.found) return;
  const V n = first.normal;
  const auto put = [&](int k, const V& on_a, const V& on_b) {
    const double gap = dot(n, on_a - on_b);
    touch[k] = {on_a - scale(0.5 * gap, n), n, gap};
  };
  put(0, first.on_a, first.on_b);

  const double size = std::min(a.extent(), b.extent());
  const V t = tangent(A, n);
  // Apart by more than the tilt lets them sink into each other, so that GJK alone finds the points.
  const double lift = 2.0 * tilt * a.extent() - std::min(first.gap, 0.0);
  int corners = 0;
  for (int k = 1; k < convex_points; ++k) {
    const V axis = k < 3 ? t : cross(n, t);
    X tilted = turned(A, axis, (k & 1) != 0 ? tilt : -tilt, first.on_a);
    tilted.r = tilted.r + scale(lift, n);
    const Nearest there = nearest(a, tilted, b, B);
    if (!there.found) continue;
    const V on_a = world(A, tilted.E * (there.on_a - tilted.r));
    const V at = on_a - scale(0.5 * dot(n, on_a - there.on_b), n);
    const auto is_there = [&](int i) {
      const V d = touch[i].point - at;
      return touch[i].gap < Collision<double>::absent && std::sqrt(dot(d, d)) < same_point * size;
    };
    bool known = false;
    for (int i = 1; i < k; ++i) known = known || is_there(i);
    if (known) continue;
    put(k, on_a, there.on_b);
    ++corners;
  }
  if (corners >= 2) {
    touch[0].gap = Collision<double>::absent;  // it lies between the corners
  } else {
    for (int k = 1; k < convex_points; ++k) touch[k].gap = Collision<double>::absent;
  }
}

}  // namespace espalier::contact

ESPALIER_PLUGIN("collision-bullet", "0.2.0") {
  using namespace espalier;
  using namespace espalier::contact;
  Entry& e = registrar.add(
      Kind::algorithm, {.name = "bullet",
                        .summary = "closed forms, and Bullet for all other pairs of convex solids",
                        .source = "Ericson (2005), chapter 5; van den Bergen (2004), chapter 4",
                        .cost = "O(1) per pair"});
  e.problem = Collision<double>::problem;
  e.capabilities = {
      .couplings = true, .loops = true, .several_supports = true, .joint_supplied_dynamics = true};
  e.algorithm[ScalarTraits<double>::index] = [](const Setup& s) {
    return std::make_unique<ConvexPairs<double>>(s.model);
  };
  e.algorithm[ScalarTraits<Pack>::index] = [](const Setup& s) {
    return std::make_unique<ConvexPairs<Pack>>(s.model);
  };
}
