#pragma once

#include <algorithm>
#include <array>
#include <type_traits>
#include <vector>

#include "algorithms/kinematics/joint_turns.hpp"
#include "espalier/kernel/model/subspace.hpp"
#include "espalier/kernel/model/tree_kinematics.hpp"

namespace espalier {

/// Columns of the joints' motion subspaces in the frame of the root body of their tree, as a
/// structure of arrays. That frame moves with the robot: far from the world's origin no digits are
/// lost. Bodies are placed when somebody asks for them, with all that are above them.
template <class T>
class JointColumns {
 public:
  explicit JointColumns(const Model& model)
      : model_(model), X_(model.body_count() + 1), placed_(model.body_count() + 1, 0) {
    X_[0] = Transform<T>::identity();
    for (std::vector<T>& component : S_) component.resize(model.spanning_nv());
  }

  /// The joints have moved.
  void move() { ++now_; }

  /// Places a body and all between it and its root.
  /// @param turns   of the joints that turn, all placed after the last move()
  /// @param joints  the others, at the same positions
  void place(int body, const JointTurns<T>& turns, const TreeKinematics<T>& joints) {
    if (body == 0 || placed_[body] == now_) return;
    const Body& b = model_.body(body);
    const bool root = b.parent == 0;
    if (root) {
      X_[body] = Transform<T>::identity();
    } else {
      place(b.parent, turns, joints);
      const bool turning = turns.runs()[b.run];
      X_[body] = (turning ? RotationZ<T>{turns.sine(body), turns.cosine(body)} * b.placement
                          : joints.X[body]) *
                 X_[b.parent];
    }
    with_subspace(model_.runs()[b.run], [&](auto ops) {
      using Ops = decltype(ops);
      const Motion<T>* S = joints.S.data() + b.v;
      for (int k = 0; k < Ops::n; ++k) {
        put(b.v + k, root ? Ops::column(S, k) : in_root(ops, X_[body], S, k));
      }
    });
    placed_[body] = now_;
  }

  /// From the root's frame to a placed body's; the ground is its own root.
  const Transform<T>& placement(int body) const { return X_[body]; }
  /// Column of a spanning rate of a placed body, root's frame.
  Motion<T> column(int rate) const {
    Motion<T> m;
    for (int r = 0; r < 6; ++r) m[r] = S_[r][rate];
    return m;
  }

  /// X S for the columns of the rates first to end - 1.
  /// @param[out] J  where the first of them starts, 6 rows with `stride` numbers between them
  void carry(const Transform<T>& X, int first, int end, T* J, int stride) const {
    if constexpr (std::is_same_v<T, double>) {
      if (end - first >= Quad::size) {
        for (int at = first; at < end; at += Quad::size) {
          const int j = std::min(at, end - Quad::size);  // up to three are done twice
          Motion<Quad> m;
          for (int r = 0; r < 6; ++r) m[r] = Quad::load(S_[r].data() + j);
          m = X * m;
          for (int r = 0; r < 6; ++r) m[r].store(J + r * stride + j - first);
        }
        return;
      }
    }
    for (int j = first; j < end; ++j) {
      const Motion<T> m = X * column(j);
      for (int r = 0; r < 6; ++r) J[r * stride + j - first] = m[r];
    }
  }

 private:
  /// X^-1 S for column k of S; of one axis without the part of it that is zero.
  template <class Ops>
  static Motion<T> in_root(Ops, const Transform<T>& X, const Motion<T>* S, int k) {
    if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
      return {X.E.row[2], cross(X.r, X.E.row[2])};
    } else if constexpr (std::is_same_v<Ops, SubspaceOps<PrismaticAxes>>) {
      return {Vec3<T>::zero(), X.E.row[2]};
    } else {
      return X.inverse_times(Ops::column(S, k));
    }
  }
  void put(int rate, const Motion<T>& m) {
    for (int r = 0; r < 6; ++r) S_[r][rate] = m[r];
  }

  const Model& model_;
  std::vector<Transform<T>> X_;        ///< per body: from its root's frame
  std::vector<unsigned long> placed_;  ///< per body: when
  unsigned long now_ = 1;
  std::array<std::vector<T>, 6> S_;  ///< per component: by spanning rate
};

}  // namespace espalier
