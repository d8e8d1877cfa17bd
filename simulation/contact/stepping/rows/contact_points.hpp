#pragma once

#include <cmath>
#include <vector>

#include "espalier/simulation/contact/problems/step.hpp"
#include "simulation/contact/stepping/link_columns.hpp"

namespace espalier::contact {

/// Where solids are in a step, and the points at which some lane's are near each other.
template <class T>
class ContactPoints {
 public:
  explicit ContactPoints(const Plan& plan) : plan_(plan), poses_(plan.solids().size()) {
    for (std::size_t k = 0; k < poses_.size(); ++k) {
      if (plan.solids()[k].body == 0) poses_[k] = Transform<T>::from(plan.solids()[k].X);
    }
  }

  /// Writes the state's points, and lists those that some lane is near.
  /// @param links  placed
  void find(StepState<T>& s, const LinkColumns<T>& links, const Collision<T>& collision) {
    place(s, links);
    s.contacts.clear();
    s.depth = T(0.0), s.deep = false;
    const T margin(plan_.world().margin);
    const T slop(plan_.options().slop);
    for (const Plan::Pair& pair : plan_.pairs()) {
      const Plan::Solid &a = plan_.solids()[pair.a], &b = plan_.solids()[pair.b];
      if (std::isfinite(pair.reach) && !meet(pair, margin)) {
        for (int k = 0; k < pair.count; ++k) s.near[pair.first + k] = Mask<T>::none();
        continue;
      }
      collision.collide(a.placed.shape, poses_[pair.a], b.placed.shape, poses_[pair.b],
                        s.touch.data() + pair.first);
      for (int k = 0; k < pair.count; ++k) {
        const int point = pair.first + k;
        const T& gap = s.touch[point].gap;
        s.near[point] = less(gap, margin);
        if (!s.near[point].any()) continue;
        s.contacts.push_back(point);
        s.depth = larger(select(s.near[point], -gap / T(pair.too_deep), T(0.0)), s.depth);
        s.deep = s.deep || (pair.surface.stiffness == 0.0 && less(gap, -slop).any());
      }
    }
  }

  /// Whether a surface of a pair moves against its link, after find().
  bool runs(const Plan::Pair& pair) const {
    return plan_.solids()[pair.a].runs || plan_.solids()[pair.b].runs;
  }
  /// How the surface of a pair's first solid slides against that of the second one while their
  /// links rest, world axes, after find().
  Vec3<T> slide(const Plan::Pair& pair) const { return velocity(pair.a) - velocity(pair.b); }

 private:
  void place(const StepState<T>& s, const LinkColumns<T>& links) {
    for (std::size_t k = 0; k < poses_.size(); ++k) {
      const Plan::Solid& solid = plan_.solids()[k];
      if (solid.body == 0) {
        poses_[k].r = Vec3<T>::from(solid.X.r) + s.ground;
      } else if (solid.placed.shape.kind == Shape::Kind::sphere && !solid.runs) {
        const Transform<T>& X = links.X(solid.body);  // looks the same however it is turned
        poses_[k] = {X.E, X.r + transpose_times(X.E, solid.X.r)};
      } else {
        poses_[k] = solid.X * links.X(solid.body);
      }
    }
  }
  /// Whether the spheres around two solids meet in some lane; NaN meets nothing.
  bool meet(const Plan::Pair& pair, const T& margin) const {
    const Vec3<T> d = poses_[pair.a].r - poses_[pair.b].r;
    const T reach = T(pair.reach) + margin;
    return less(dot(d, d), reach * reach).any();
  }
  Vec3<T> velocity(int solid) const {
    return transpose_times(poses_[solid].E, plan_.solids()[solid].placed.velocity);
  }

  const Plan& plan_;
  std::vector<Transform<T>> poses_;
};

}  // namespace espalier::contact
