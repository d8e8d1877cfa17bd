#pragma once

#include "espalier/kernel/problems/algorithm.hpp"
#include "espalier/simulation/contact/shape.hpp"

namespace espalier::contact {

/// Where two solids are nearest, one point of several.
template <class T>
struct Touch {
  Vec3<T> point;   ///< half-way between both surfaces, world [m]
  Vec3<T> normal;  ///< unit vector from the second solid to the first, world
  T gap;           ///< distance along the normal, negative where they overlap [m]
};

/// Points of two solids that may touch.
///
/// A pair of solids has a fixed number of points in a fixed order (feature numbers), whatever
/// their poses, so that one robot a lane can be computed on and impulses of the last step find
/// their points again. A point that is absent has a gap beyond all margins.
template <class T>
class ESPALIER_API Collision : public Algorithm {
 public:
  static constexpr std::string_view problem = "collision";
  /// Gap of a point that is absent [m].
  static constexpr double absent = 1e9;
  using Algorithm::Algorithm;

  /// How many points a pair has; 0: it cannot be computed on.
  virtual int points(const Shape& a, const Shape& b) const = 0;
  /// Computes the points of a pair that points() knows.
  /// @param A, B        world to shape
  /// @param[out] touch  points(a, b) of them
  /// Cost: O(1), height fields and hulls included.
  virtual void collide(const Shape& a, const Transform<T>& A, const Shape& b, const Transform<T>& B,
                       Touch<T>* touch) const = 0;

  /// @throws Unsupported: shapes have no place among named inputs
  void solve(const InputViews& in, Results& out) override;
};

extern template class Collision<double>;
extern template class Collision<Pack>;

}  // namespace espalier::contact
