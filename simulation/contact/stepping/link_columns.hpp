#pragma once

#include <algorithm>
#include <vector>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/simulation/contact/placed_bodies.hpp"

namespace espalier::contact {

/// Which of the six unit motions, angular first, a column of S is.
template <class Ops>
struct UnitAxis;
template <int... axis>
struct UnitAxis<SubspaceOps<Axes<axis...>>> {
  static constexpr int of(int column) { return Axes<axis...>::index[column]; }
};

/// Where placed bodies are, and how the rates of their clusters move them, once for all that asks:
/// twists in world axes about the first body of each one's way.
template <class T>
class LinkColumns {
 public:
  /// Both outlive it.
  LinkColumns(const Model& model, const PlacedBodies& placed)
      : model_(model),
        placed_(placed),
        X_(model.body_count() + 1),
        columns_(placed.columns().size()) {
    X_[0] = Transform<T>::identity();
  }

  void place(const SpanningMotion<T>& motion) {
    for (const int i : placed_.bodies()) {
      const Transform<T>& X = motion.joints.X[i];
      X_[i] = model_.body(i).parent == 0 ? X : X * X_[model_.body(i).parent];
    }
  }
  /// After place().
  void move(const SpanningMotion<T>& motion) {
    for (const int i : placed_.bodies()) move(motion, i);
  }

  /// From the world's frame, of a placed body.
  const Transform<T>& X(int body) const { return X_[body]; }
  /// Of the body about which a body's columns are.
  const Vec3<T>& origin(int body) const { return X_[placed_.root_of(body)].r; }
  /// As PlacedBodies::columns() has them.
  const Motion<T>& operator[](int column) const { return columns_[column]; }

 private:
  /// How the rates of a placed body's cluster move it.
  void move(const SpanningMotion<T>& motion, int i) {
    const Body& body = model_.body(i);
    const Cluster& c = model_.clusters()[body.cluster];
    Motion<T>* out = columns_.data() + placed_.first_column(i);
    if (c.constrained) {
      const Body& parent = model_.body(body.parent);
      if (body.parent != 0 && parent.cluster == body.cluster) {
        std::copy_n(columns_.data() + placed_.first_column(body.parent), c.nv, out);
      } else {
        std::fill_n(out, c.nv, Motion<T>::zero());
      }
    }
    const Transform<T>& X = X_[i];
    const Vec3<T> arm = X_[placed_.root_of(i)].r - X.r;
    with_subspace(model_.runs()[body.run], [&](auto ops) {
      using Ops = decltype(ops);
      for (int j = 0; j < Ops::n; ++j) {
        const Motion<T> column = in_world<Ops>(X.E, arm, motion.joints.S.data() + body.v, j);
        const int row = c.row(body.v + j);
        if (!c.constrained) {
          out[row] = column;
          continue;
        }
        const T* G = motion.G(c) + static_cast<std::size_t>(row) * c.nv;
        for (int l = 0; l < c.nv; ++l) out[l] += scale(G[l], column);
      }
    });
  }
  /// Column j of S in world axes about the point that is the arm away.
  template <class Ops>
  static Motion<T> in_world(const Mat3<T>& E, const Vec3<T>& arm, const Motion<T>* S, int j) {
    if constexpr (Ops::dense) {
      const Vec3<T> w = transpose_times(E, S[j].w);
      return {w, transpose_times(E, S[j].v) + cross(w, arm)};
    } else {
      const int axis = UnitAxis<Ops>::of(j);
      if (axis >= 3) return {Vec3<T>::zero(), E.row[axis - 3]};
      return {E.row[axis], cross(E.row[axis], arm)};
    }
  }

  const Model& model_;
  const PlacedBodies& placed_;
  std::vector<Transform<T>> X_;
  std::vector<Motion<T>> columns_;
};

}  // namespace espalier::contact
