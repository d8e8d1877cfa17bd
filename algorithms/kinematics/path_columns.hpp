#pragma once

#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include "algorithms/kinematics/path_turns.hpp"
#include "algorithms/kinematics/store_six.hpp"
#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/kernel/spatial/quad_frame.hpp"

namespace espalier {

/// The Jacobian of one link from the link to the ground: X = (E, r) from a body's frame to the
/// link's gives its joint's columns X S and goes on to the parent. Nothing off the path is touched.
/// E is kept by columns, and r in the link's axes, p = E r, which are what a rate needs:
///   X (e_a; 0) = (E e_a; E e_a x p),  X (0; e_a) = (0; E e_a),  X P = (E E_P, p + E E_P r_P).
/// Cost: O(d), d the depth of the link.  Source: Featherstone (2008), section 3.2.
template <class T>
class PathColumns {
 public:
  PathColumns(const Model& model, const std::vector<bool>& turning)
      : model_(model), nv_(model.nv()), joints_(model.body_count() + 1) {
    for (int i = 1; i <= model.body_count(); ++i) {
      const Body& body = model.body(i);
      const Cluster& cluster = model.clusters()[body.cluster];
      Joint& joint = joints_[i];
      joint = {body.placement, body.parent, body.v + cluster.v - cluster.spanning_v};
      joint.tied = cluster.constrained;
      joint.turns = turning[body.run];
      joint.free = model.runs()[body.run].subspace == SubspaceKind::free && !joint.tied;
      joint.depth = joints_[body.parent].depth + (joint.free ? 2 : 1);
    }
  }

  /// Bodies between one, included, and the ground; a floating root takes as long as two.
  int depth(int body) const { return joints_[body].depth; }

  /// @param turns   those of the path are placed
  /// @param motion  updated at the same positions
  /// @param[out] J  6 x nv, zero before
  void write(const Link& link, const PathTurns<T>& turns, const SpanningMotion<T>& motion,
             T* J) const {
    Place X;
    for (int k = 0; k < 3; ++k) {
      X.E[k] = column(T(link.X.E.row[0][k]), T(link.X.E.row[1][k]), T(link.X.E.row[2][k]));
    }
    X.p = rotated(X, link.X.r);
    for (int i = link.body; i != 0; i = joints_[i].parent) {
      const Joint& joint = joints_[i];
      if (joint.turns && !joint.tied) {
        put(J + joint.rate, X.E[2], cross(X.E[2], X.p));
      } else if (joint.free) {
        write_root(X, J + joint.rate);
      } else {
        add_joint(i, Place(X), motion, J);  // a copy: X stays in registers
      }
      if (joint.parent == 0) break;
      if (joint.turns) {
        X = to_parent(X, turns.sine(i), turns.cosine(i), joint.placement);
      } else {
        X = to_parent(X, motion.joints.X[i]);
      }
    }
  }

 private:
  /// Three numbers in the link's axes; of doubles, side by side.
  using Column = std::conditional_t<std::is_same_v<T, double>, Quad, Vec3<T>>;
  struct Place {
    std::array<Column, 3> E;
    Column p;  ///< from the body to the link
  };
  struct Joint {
    Transform<double> placement;
    int parent = 0, rate = 0;  ///< independent, if it is not tied
    int depth = 0;
    bool tied = false;   ///< in a cluster that a loop or coupling ties
    bool turns = false;  ///< about z, by PathTurns
    bool free = false;   ///< six rates, each along an axis of the body
  };

  static Column column(const T& x, const T& y, const T& z) {
    if constexpr (std::is_same_v<T, double>) {
      return Quad(x, y, z, 0.0);
    } else {
      return {x, y, z};
    }
  }
  template <class A>
  static Column times(const A& a, const Column& x) {
    if constexpr (std::is_same_v<T, double>) {
      return Quad(a) * x;
    } else {
      return scale(a, x);
    }
  }
  template <class A>
  static Column rotated(const Place& X, const Vec3<A>& m) {
    return times(m.x, X.E[0]) + times(m.y, X.E[1]) + times(m.z, X.E[2]);
  }

  template <class A>
  static Place to_parent(const Place& X, const Transform<A>& P) {
    Place to;
    for (int j = 0; j < 3; ++j) {
      to.E[j] = rotated(X, Vec3<A>{P.E.row[0][j], P.E.row[1][j], P.E.row[2][j]});
    }
    to.p = X.p + rotated(to, P.r);
    return to;
  }
  static Place to_parent(const Place& X, const T& s, const T& c, const Transform<double>& P) {
    const Place turned{
        {times(c, X.E[0]) - times(s, X.E[1]), times(s, X.E[0]) + times(c, X.E[1]), X.E[2]}, X.p};
    return to_parent(turned, P);
  }

  /// @param J  top of the column
  [[gnu::always_inline]] void put(T* J, const Column& w, const Column& v) const {
    const long nv = nv_;
    for (int k = 0; k < 3; ++k) J[k * nv] = w[k], J[(3 + k) * nv] = v[k];
  }
  /// X itself. @param J  top of the first column
  [[gnu::always_inline]] void write_root(const Place& X, T* J) const {
    const std::array<Column, 3> v{cross(X.E[0], X.p), cross(X.E[1], X.p), cross(X.E[2], X.p)};
    if constexpr (std::is_same_v<T, double>) {
      const std::array<Quad, 3> E = transposed(X.E), V = transposed(v);
      for (int i = 0; i < 3; ++i) {
        double *angular = J + i * nv_, *linear = J + (3 + i) * nv_;
        E[i].store(angular);  // the last number is zero, as that column is
        store_six(V[i], E[i], linear);
      }
    } else {
      for (int k = 0; k < 3; ++k) {
        put(J + k, X.E[k], v[k]);
        for (int i = 0; i < 3; ++i) J[(3 + i) * nv_ + 3 + k] = X.E[k][i];
      }
    }
  }
  /// The columns of a joint of any type.
  [[gnu::noinline]] void add_joint(int i, const Place& X, const SpanningMotion<T>& motion,
                                   T* J) const {
    const Body& body = model_.body(i);
    const bool tied = joints_[i].tied;
    T* const at = J + joints_[i].rate;
    with_subspace(model_.runs()[body.run], [&]<class Subspace>(SubspaceOps<Subspace>) {
      if constexpr (SubspaceOps<Subspace>::dense) {
        for (int k = 0; k < Subspace::size; ++k) {
          const Motion<T>& S = motion.joints.S[body.v + k];
          const Column w = rotated(X, S.w), v = rotated(X, S.v) + cross(w, X.p);
          tied ? add_dependent(body, k, motion, w, v, J) : put(at + k, w, v);
        }
      } else {
        const Column zero = column(T(0.0), T(0.0), T(0.0));
        [&]<int... k>(std::integer_sequence<int, k...>) {
          const auto add = [&](int axis, int j) __attribute__((always_inline)) {
            const Column& e = X.E[axis % 3];
            const Column& w = axis < 3 ? e : zero;
            const Column v = axis < 3 ? cross(e, X.p) : e;
            tied ? add_dependent(body, j, motion, w, v, J) : put(at + j, w, v);
          };
          (add(Subspace::index[k], k), ...);
        }
        (std::make_integer_sequence<int, Subspace::size>());
      }
    });
  }
  /// A column of a body's joint times its row of the cluster's G.
  [[gnu::noinline]] void add_dependent(const Body& body, int k, const SpanningMotion<T>& motion,
                                       const Column w, const Column v, T* J) const {
    const Cluster& c = model_.clusters()[body.cluster];
    const T* G = motion.G(c) + c.row(body.v + k) * c.nv;
    for (int r = 0; r < 3; ++r) {
      for (int j = 0; j < c.nv; ++j) {
        J[r * nv_ + c.v + j] += G[j] * w[r], J[(3 + r) * nv_ + c.v + j] += G[j] * v[r];
      }
    }
  }

  const Model& model_;
  long nv_;
  std::vector<Joint> joints_;  ///< per body
};

}  // namespace espalier
