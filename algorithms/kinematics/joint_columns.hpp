#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "algorithms/kinematics/path_turns.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/kernel/model/motion/tree_kinematics.hpp"
#include "espalier/kernel/spatial/quad_frame.hpp"

namespace espalier {

/// Columns of the joints' motion subspaces in the frame of the root body of their tree, as a
/// structure of arrays. That frame moves with the robot: far from the world's origin no digits are
/// lost. Bodies are placed when somebody asks for them, with all that are above them.
template <class T>
class JointColumns {
 public:
  using Frame = KeptFrame<T>;

  explicit JointColumns(const Model& model, const std::vector<bool>& turning)
      : model_(model),
        joints_(model.body_count() + 1),
        X_(joints_.size()),
        stride_(model.spanning_nv() + Quad::size - 1),  // who reads four may read beyond the last
        S_(6 * stride_) {
    for (int i = 1; i <= model.body_count(); ++i) {
      const Body& body = model.body(i);
      joints_[i] = {body.placement, body.parent, body.v, turning[body.run]};
    }
    X_[0] = Frame::identity();
  }

  /// The joints have moved.
  void move() { ++now_; }

  /// Places a body and all between it and its root.
  /// @param turns   of the joints that turn, all placed after the last move()
  /// @param joints  the others, at the same positions
  void place(int body, const PathTurns<T>& turns, const TreeKinematics<T>& joints) {
    if (is_placed(body)) return;
    if (!is_placed(joints_[body].parent)) place_above(body, turns, joints);
    place_next(body, turns, joints);
  }

  /// From the root's frame to a placed body's; the ground is its own root.
  const Frame& placement(int body) const { return X_[body]; }
  /// Component r of the columns of placed bodies, by spanning rate.
  const T* component(int r) const { return S_.data() + r * stride_; }
  long stride() const { return stride_; }  ///< from one component to the next
  /// Column of a spanning rate of a placed body, root's frame.
  Motion<T> column(int rate) const {
    Motion<T> m;
    for (int r = 0; r < 6; ++r) m[r] = component(r)[rate];
    return m;
  }

 private:
  struct Joint {
    Transform<double> placement;
    int parent = 0, rate = 0;  ///< spanning
    bool turns = false;        ///< about z, by PathTurns
    unsigned long placed = 0;  ///< when
  };

  bool is_placed(int body) const { return body == 0 || joints_[body].placed == now_; }
  [[gnu::noinline]] void place_above(int body, const PathTurns<T>& turns,
                                     const TreeKinematics<T>& joints) {
    place(joints_[body].parent, turns, joints);
  }
  /// A body whose parent is placed.
  void place_next(int body, const PathTurns<T>& turns, const TreeKinematics<T>& joints) {
    Joint& joint = joints_[body];
    joint.placed = now_;
    const Frame& above = X_[joint.parent];
    if (joint.parent != 0 && joint.turns) {
      const Frame X = turned(turns.sine(body), turns.cosine(body), joint.placement * above);
      X_[body] = X;
      return put(joint.rate, axis(X));
    }
    X_[body] = joint.parent == 0 ? Frame::identity() : joints.X[body] * above;
    put_any(body, joints);
  }
  /// The columns of a joint of any type.
  [[gnu::noinline]] void put_any(int body, const TreeKinematics<T>& joints) {
    const Body& b = model_.body(body);
    with_subspace(model_.runs()[b.run], [&](auto ops) {
      using Ops = decltype(ops);
      const Motion<T>* S = joints.S.data() + b.v;
      for (int k = 0; k < Ops::n; ++k) {
        const Motion<T> column = Ops::column(S, k);
        put(b.v + k, b.parent == 0 ? column : inverse_times(X_[body], column));
      }
    });
  }
  /// X^-1 of a turn about z.
  static Motion<T> axis(const Frame& X) {
    if constexpr (std::is_same_v<T, double>) {
      return {three(X.E[2]), three(cross(X.r, X.E[2]))};
    } else {
      return {X.E.row[2], cross(X.r, X.E.row[2])};
    }
  }
  static Motion<T> inverse_times(const Frame& X, const Motion<T>& S) {
    if constexpr (std::is_same_v<T, double>) {
      const Quad w = X.transpose_times(S.w);
      return {three(w), three(X.transpose_times(S.v) + cross(X.r, w))};
    } else {
      return X.inverse_times(S);
    }
  }
  void put(int rate, const Motion<T>& m) {
    for (int r = 0; r < 6; ++r) S_[r * stride_ + rate] = m[r];
  }

  const Model& model_;
  std::vector<Joint> joints_;  ///< per body
  std::vector<Frame> X_;       ///< per body: from its root's frame
  unsigned long now_ = 1;
  long stride_;
  std::vector<T> S_;  ///< per component: by spanning rate
};

}  // namespace espalier
