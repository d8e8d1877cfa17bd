#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "espalier/kernel/model/motion/spanning_motion.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/simulation/contact/link_masses.hpp"
#include "simulation/contact/stepping/link_columns.hpp"

namespace espalier::contact {

/// What links of other masses than the model's add to its mass matrix and bias forces, lane by
/// lane: both are linear in inertias, so that a link whose inertia is f I adds that of a link
/// (f - 1) I. All in world axes about the first body of each way from the ground:
///
///   M += J^T dI J,  h += J^T (dI a + v x* dI v),  dI = (f - 1) I
///
/// with v and a the twist of the link and its acceleration at the given vdot, gravity included.
/// Clusters and folded rotors are in J; a lane of factor 1 adds zeros.
/// Cost: O(d^2) a link, d its depth.
/// Source: Featherstone (2008), sections 5.3 and 6.2.
template <class T>
class MassChange {
 public:
  MassChange(const Model& model, std::shared_ptr<const LinkMasses> links)
      : model_(model),
        masses_(std::move(links)),
        links_(model, masses_->placed()),
        v_(model.body_count() + 1),
        a_(model.body_count() + 1),
        inertia_(masses_->pieces().size()),
        qdd_(model.spanning_nv()) {
    for (const LinkMasses::Piece& piece : masses_->pieces()) {
      momentum_.resize(std::max(momentum_.size(), piece.at.support.size()));
    }
  }

  const LinkMasses& masses() const { return *masses_; }
  /// Of a piece, about the origin of its way's first body, world axes; after add().
  const RigidInertia<T>& inertia(std::size_t piece) const { return inertia_[piece]; }
  /// How clusters' rates move the pieces and what carries them; after add().
  const LinkColumns<T>& links() const { return links_; }

  /// @param motion   updated, rotors placed
  /// @param vdot     independent accelerations of which h is the bias
  /// @param factors  of all pieces
  /// @param[in,out] M  nv x nv, row-major, the lower triangle
  /// @param[in,out] h  nv
  void add(const SpanningMotion<T>& motion, const T* vdot, const Vec3<double>& gravity,
           const T* factors, T* M, T* h) {
    links_.place(motion);
    links_.move(motion);
    accelerate(motion, vdot, gravity);
    const std::size_t nv = model_.nv();
    for (std::size_t p = 0; p < inertia_.size(); ++p) {
      const LinkMasses::Piece& piece = masses_->pieces()[p];
      const BodyWay& at = piece.at;
      inertia_[p] = changed(piece, factors[p] - T(1.0));
      const RigidInertia<T>& dI = inertia_[p];
      const Force<T> force = dI * a_[at.body] + cross_star(v_[at.body], dI * v_[at.body]);
      for (std::size_t i = 0; i < at.support.size(); ++i) {
        if (at.columns[i] < 0) continue;
        const Motion<T>& column = links_[at.columns[i]];
        momentum_[i] = dI * column;
        h[at.support[i]] += dot(column, force);
        T* row = M + at.support[i] * nv;
        for (std::size_t j = 0; j <= i; ++j) {
          if (at.columns[j] >= 0) row[at.support[j]] += dot(column, momentum_[j]);
        }
      }
    }
  }

 private:
  /// dI in world axes about the way's first body.
  RigidInertia<T> changed(const LinkMasses::Piece& piece, const T& change) const {
    const RigidInertia<double>& I = piece.inertia;
    const RigidInertia<T> own{change * T(I.m), scale(change, I.h), scaled(change, I.I)};
    const Transform<T>& X = links_.X(piece.at.body);
    return congruence(Transform<T>{X.E, X.r - links_.origin(piece.at.body)}, own);
  }
  static Sym3<T> scaled(const T& x, const Sym3<double>& I) {
    return {x * T(I.xx), x * T(I.xy), x * T(I.xz), x * T(I.yy), x * T(I.yz), x * T(I.zz)};
  }

  /// Twists of all bodies on the ways, and their accelerations less gravity.
  void accelerate(const SpanningMotion<T>& motion, const T* vdot, const Vec3<double>& gravity) {
    motion.expand(vdot, qdd_.data());
    const T* g = motion.g();
    for (std::size_t i = 0; g != nullptr && i < qdd_.size(); ++i) qdd_[i] += g[i];
    v_[0] = Motion<T>::zero();
    a_[0] = {Vec3<T>::zero(), Vec3<T>::from(scale(-1.0, gravity))};
    for (const int i : masses_->placed().bodies()) {
      const Body& body = model_.body(i);
      const Transform<T>& X = links_.X(i);
      const Vec3<T> arm = links_.origin(i) - X.r;
      Motion<T> rate = Motion<T>::zero(), change = Motion<T>::zero();
      with_subspace(model_.runs()[body.run], [&](auto ops) {
        const Motion<T>* S = motion.joints.S.data() + body.v;
        ops.add(rate, S, motion.qd() + body.v);
        ops.add(change, S, qdd_.data() + body.v);
        if constexpr (decltype(ops)::dense) change += motion.joints.bias[i];
      });
      const Motion<T> own = in_world(X.E, arm, rate);
      v_[i] = v_[body.parent] + own;
      a_[i] = a_[body.parent] + in_world(X.E, arm, change) + cross(v_[i], own);
    }
  }
  /// A body's motion in world axes about the point that is the arm away.
  static Motion<T> in_world(const Mat3<T>& E, const Vec3<T>& arm, const Motion<T>& m) {
    const Vec3<T> w = transpose_times(E, m.w);
    return {w, transpose_times(E, m.v) + cross(w, arm)};
  }

  const Model& model_;
  std::shared_ptr<const LinkMasses> masses_;
  LinkColumns<T> links_;
  std::vector<Motion<T>> v_, a_;
  std::vector<RigidInertia<T>> inertia_;
  std::vector<T> qdd_;
  std::vector<Force<T>> momentum_;  ///< dI J of one piece
};

}  // namespace espalier::contact
