#pragma once

#include <type_traits>

#include "algorithms/chains/kernels.hpp"
#include "espalier/kernel/model/motion/subspace.hpp"
#include "espalier/kernel/spatial/second_moments.hpp"

namespace espalier {

/// The inertia that a body of a sweep inward shows: its own moments, nine numbers, until anything
/// but rigid bodies hangs on it. Leaves and most bodies of loops stay so, and cost half.
template <class T>
class BodyInertia {
 public:
  void start(const Moments<T>& own) {
    rigid_ = own;
    is_rigid_ = true;
  }
  ESPALIER_ALWAYS_INLINE void add(const Moments<T>& b) {
    if (is_rigid_) {
      rigid_ += b;
    } else {
      b.add_to(IA_);
    }
  }
  ESPALIER_ALWAYS_INLINE void add(const ArticulatedInertia<T>& b) {
    if (is_rigid_) {
      ArticulatedInertia<T> sum = b;
      rigid_.add_to(sum);
      IA_ = sum;
      is_rigid_ = false;
    } else {
      IA_ += b;
    }
  }
  /// Adds this to that of a body whose origin is at -r.
  ESPALIER_ALWAYS_INLINE void propagate_to(BodyInertia& other, const Vec3<T>& r) const {
    if (is_rigid_) {
      other.add(shifted(rigid_, r));
    } else {
      other.add(shifted(IA_, r));
    }
  }
  /// All of it, to be changed.
  ArticulatedInertia<T>& open() {
    if (is_rigid_) IA_ = rigid_.articulated();
    is_rigid_ = false;
    return IA_;
  }

  ArticulatedInertia<T> articulated() const { return is_rigid_ ? rigid_.articulated() : IA_; }
  /// About a point from which the body's origin is seen at r.
  ESPALIER_ALWAYS_INLINE ArticulatedInertia<T> shifted_by(const Vec3<T>& r) const {
    return is_rigid_ ? shifted(rigid_, r).articulated() : shifted(IA_, r);
  }
  /// What an acceleration takes.
  ESPALIER_ALWAYS_INLINE Force<T> times(const Motion<T>& a) const {
    if (!is_rigid_) return IA_ * a;
    return {rigid_.inertia() * a.w + cross(rigid_.h, a.v),
            scale(rigid_.m, a.v) - cross(rigid_.h, a.w)};
  }
  /// What a unit acceleration about z through the origin takes.
  ESPALIER_ALWAYS_INLINE Force<T> about(const Vec3<T>& z) const {
    if (is_rigid_) return {rigid_.inertia() * z, cross(z, rigid_.h)};
    return {IA_.A * z, transpose_times(IA_.B, z)};
  }

 private:
  bool is_rigid_ = true;
  Moments<T> rigid_;
  ArticulatedInertia<T> IA_;
};

/// E^T I E.
template <class T>
ArticulatedInertia<T> congruence(const Mat3<T>& E, const ArticulatedInertia<T>& I) {
  return {congruence(E, I.A), E.transposed() * (I.B * E), congruence(E, I.C)};
}

/// A rate of a body of ABA (aba.hpp), world axes at the body's origin.
template <class T>
struct WorldRate {
  Motion<T> S;  ///< unit motion, where it is no turn
  Force<T> U;   ///< IA S, over D where the body has no other rate
  T u;          ///< tau - S^T pA, likewise
  double armature = 0.0;
  bool turns = false;  ///< about the body's z-axis
};

/// A body of ABA, world axes at its origin.
template <class T>
struct WorldBody {
  int parent = 0;
  bool aligned = false;     ///< its axes stand for the world's: E is the identity
  bool turned = false;      ///< E comes from the sine and cosine of its joint
  bool coaxial = false;     ///< and its placement does not turn it
  bool seen = false;        ///< others ask for its motion
  bool followed = false;    ///< bodies outside its cluster ask for its acceleration
  Moments<double> moments;  ///< body axes
  Mat3<T> E;                ///< world to body axes
  Vec3<T> r;                ///< from the parent's origin to the body's
  FrameMotion<T> motion;    ///< at vdot = 0
  BodyInertia<T> inertia;   ///< of the body, and of what has been passed beyond
  Force<T> pA;
  Motion<T> da;

  /// E and r. @param s, c  sine and cosine of the joint
  ESPALIER_ALWAYS_INLINE void place(const WorldBody& p, const Transform<double>& placement,
                                    const T& s, const T& c) {
    if (p.aligned) {
      E = rotate_rows(s, c, placement.E);
      r = Vec3<T>::from(placement.r);
      return;
    }
    if (coaxial) {
      E = rotate_rows(s, c, p.E);
    } else {
      E = rotate_rows(s, c, placement.E * p.E);
    }
    r = transpose_times(p.E, placement.r);
  }

  Vec3<T> to_body(const Vec3<T>& x) const { return aligned ? x : E * x; }
  Vec3<T> to_world(const Vec3<T>& x) const { return aligned ? x : transpose_times(E, x); }

  // I S and S^T f for a rate, without the half of S that is zero.
  template <class Ops>
  Force<T> times(const WorldRate<T>& rate) const {
    if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
      return inertia.about(E.row[2]);
    } else if constexpr (std::is_same_v<Ops, SubspaceOps<PrismaticAxes>>) {
      const ArticulatedInertia<T> I = inertia.articulated();
      return {I.B * rate.S.v, I.C * rate.S.v};
    } else {
      return inertia.articulated() * rate.S;
    }
  }
  template <class Ops>
  T S_transpose_times(const WorldRate<T>& rate, const Force<T>& f) const {
    if constexpr (std::is_same_v<Ops, SubspaceOps<RevoluteAxes>>) {
      return dot(E.row[2], f.n);
    } else if constexpr (std::is_same_v<Ops, SubspaceOps<PrismaticAxes>>) {
      return dot(rate.S.v, f.f);
    } else {
      return dot(rate.S, f);
    }
  }
  // The same where the subspace is not known.
  Force<T> times(const WorldRate<T>& rate) const {
    return rate.turns ? inertia.about(E.row[2]) : inertia.articulated() * rate.S;
  }
  T S_transpose_times(const WorldRate<T>& rate, const Force<T>& f) const {
    return rate.turns ? dot(E.row[2], f.n) : dot(rate.S, f);
  }
  Motion<T> unit(const WorldRate<T>& rate) const {
    return rate.turns ? Motion<T>{E.row[2], Vec3<T>::zero()} : rate.S;
  }
};

}  // namespace espalier
