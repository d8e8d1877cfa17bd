#pragma once

#include <vector>

#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/model/loops/constraint.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"

namespace espalier {

/// From independent to spanning rates at one state, qd = G v and qdd = G vdot + g, and how these
/// vary with the state: all that derivatives of dynamics need to know of constraints.
///
/// With d_k the derivative along independent direction k of a cluster, constraints kept:
///   V e_k = d_k (G v),  W e_k = dg / dv_k,  P e_k = d_k (G vdot + g),  H(t)_jk = t^T d_k (G e_j).
/// The variation of (q, qd, qdd) is (G, V, P) e_k along q_k, (0, G, W) e_k along v_k and
/// (0, 0, G) e_k along vdot_k. All are 0 where G is constant.
///
/// Laws are differentiated by Taylor and dual numbers, loop joints by the variation of their
/// frames. Source: theory/derivatives 13.1; (13.3) for laws, (13.4) for loop joints.
template <class T>
class ESPALIER_API SpanningVariation {
 public:
  explicit SpanningVariation(const Model& model);

  /// Joints, G, qd, g, d_k (G e_j), V and W.
  /// @param q  spanning positions, on closed loops
  /// @param v  independent rates, or nullptr for rest
  void update(const T* q, const T* v);
  /// qdd and P after update(). @param vdot  independent accelerations, or nullptr for zero
  void accelerate(const T* vdot);

  /// Least singularity margin of the loops at the position of the last update(), a lower bound by
  /// Frobenius norms; 1 where there are none. Overwrites what accelerate() needs of update().
  T margin();

  TreeKinematics<T> joints;

  const T* q() const { return q_; }
  const T* qd() const { return qd_.data(); }    ///< size spanning_nv
  const T* qdd() const { return qdd_.data(); }  ///< likewise
  /// Whether V, W, P and H of a cluster may differ from zero.
  static bool varies(const Cluster& c) { return c.constraint != nullptr; }
  /// rows() x nv of a constrained cluster, row-major; V, W and P where it varies().
  const T* G(const Cluster& c) const { return G_.data() + c.G_start; }
  const T* V(const Cluster& c) const { return V_.data() + c.G_start; }
  const T* W(const Cluster& c) const { return W_.data() + c.G_start; }
  const T* P(const Cluster& c) const { return P_.data() + c.G_start; }
  /// H_jk += t^T d_k (G e_j). @param t  forces on all spanning rates
  void add_H(const Cluster& c, const T* t, T* H, int stride) const;
  /// out += H^T x. @param x, out  of the cluster's coordinates
  void add_H_transposed(const Cluster& c, const T* t, const T* x, T* out) const;

  /// out = G x, and out = G^T x, for vectors of the model.
  void expand(const T* x, T* out) const;
  void reduce(const T* x, T* out) const;

  // Rows of the constraint of a cluster that varies(), after update(); vectors are over its
  // columns.
  /// How the first two derivatives of phi by t vary with e, at t = e = 0, on the path
  /// q + e x + t (qd + e xd) + t²/2 qdd: phi''(qd, x), where xd is zero, and
  /// phi'''(qd, qd, x) + 2 phi''(qd, xd) + phi''(qdd, x).
  /// @param[out] d, dd  per row
  void vary_rows(const Cluster& c, const T* qd, const T* qdd, const T* x, const T* xd, T* d, T* dd);
  /// Motion that takes up a change of the rows, independent joints held: out = -Kd^+ r.
  /// Overwrites r.
  void follow_rows(const Cluster& c, T* r, T* out);

  /// S'[x] of a body whose joint's subspace varies, and the variation of its bias.
  /// @param x, xd  rates of the joint
  void vary_joint(int body, const T* x, const T* xd, Motion<T>* dS, Motion<T>& dbias) const;
  bool subspace_varies(int body) const { return joint_varies_[body]; }

 private:
  /// Motion of a point or direction with its variation: by t, by e, by both, twice by t, and that
  /// by e.
  struct Path {
    Vec3<T> x, t, e, et, tt, ett;
  };
  struct Frame {
    Motion<T> v, a, theta, dv, da;  ///< of the body, about the supporting body's origin
    Mat3<T> E;
    Path origin;
    Path direction(const Vec3<double>& in_frame) const;
  };
  struct BodyMotion {
    Motion<T> v, vJ, a, theta, psi1, psi2;
  };
  struct LoopState {
    const Cluster* cluster;
    ConstraintWorkspace<T> work;
    std::vector<T> solution;  ///< of a right-hand side by columns, where K has blocks
    std::size_t D = 0;        ///< where its d_k (G e_j) starts: rows x nv x nv
  };

  void second_order(LoopState& loop, const T* qd, const T* qdd, const T* x, const T* xd, T* d,
                    T* dd);
  void vary_laws(LoopState& loop, const T* qd, const T* qdd, const T* x, const T* xd, T* d, T* dd);
  void vary_plane(LoopState& loop, const T* qd, const T* qdd, const T* x, const T* xd, T* d, T* dd);
  void vary_loops(LoopState& loop, const T* qd, const T* qdd, const T* x, const T* xd, T* d, T* dd);
  Frame frame(const Cluster& c, const ConstraintWorkspace<T>& w, int body,
              const Transform<double>& place) const;
  /// Dependent columns of -Kd^+ r into rows of out. Overwrites r.
  void solve(LoopState& loop, T* r, T* out, int stride) const;

  const T* D(const Cluster& c) const {
    return D_.data() + loops_[loop_of_[&c - model_.clusters().data()]].D;
  }

  const Model& model_;
  const T* q_ = nullptr;
  std::vector<LoopState> loops_;
  std::vector<const Cluster*> constant_;
  std::vector<int> loop_of_;  ///< per cluster: which of loops_, -1 for none
  std::vector<bool> joint_varies_;
  std::vector<T> G_, V_, W_, P_, D_, qd_, qdd_, g_, zero_;
  std::vector<T> unit_, rates_, accelerations_, column_, column_rate_;  ///< of one cluster
  std::vector<T> d_, dd_, law_;
  std::vector<BodyMotion> motion_;
};

#define ESPALIER_EXTERN(T) extern template class SpanningVariation<T>;
ESPALIER_SCALARS(ESPALIER_EXTERN)
#undef ESPALIER_EXTERN
/// Once more along a direction: second derivatives of dynamics.
extern template class ESPALIER_API SpanningVariation<Dual<double>>;

}  // namespace espalier
