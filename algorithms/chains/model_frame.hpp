#pragma once

#include "algorithms/chains/composites/composite_moments.hpp"

namespace espalier {

/// Between a body's frame in the model and that of its chain (ChainBody::F): turned about the axis
/// of the joint, z of both, and slid along it. What others exchange with a chain costs a turn
/// instead of a general transform.
class ModelFrame {
 public:
  /// @param F  from the model's frame to the chain's: E = Rz, r = (0, 0, slide)
  explicit ModelFrame(const Transform<double>& F)
      : turn_(Turn<double>::of(F.E.row[0].x, F.E.row[0].y)),
        back_(Turn<double>::of(F.E.row[0].x, -F.E.row[0].y)),
        slide_(F.r.z) {}

  double slide() const { return slide_; }

  /// E^T v.
  template <class T>
  Vec3<T> to_model(Vec3<T> v) const {
    rotate_to_parent(v.x, v.y, turn_);
    return v;
  }
  /// F^-1 m.
  template <class T>
  Motion<T> to_model(const Motion<T>& m) const {
    const Vec3<T> w = to_model(m.w), v = to_model(m.v);
    return {w, {v.x - slide_ * w.y, v.y + slide_ * w.x, v.z}};
  }

  /// F^-T f.
  template <class T>
  Force<T> to_chain(Force<T> f) const {
    f.n.x += slide_ * f.f.y;
    f.n.y -= slide_ * f.f.x;
    rotate_to_parent<0, 1>(f, back_);
    return f;
  }
  /// F^-T I F^-1.
  template <class T>
  ArticulatedInertia<T> to_chain(ArticulatedInertia<T> I) const {
    rotate_to_parent<0, 1, false>(I.A, back_);
    rotate_to_parent<0, 1, false>(I.B, back_);
    rotate_to_parent<0, 1, false>(I.C, back_);
    if (slide_ == 0.0) return I;
    const double z = -slide_;  // B' = B + r x C, A' = A + r x B'^T + B (r x)^T for r = (0, 0, z)
    const Mat3<T> B = I.B;
    I.B.row[0] -= scale(z, Vec3<T>{I.C.xy, I.C.yy, I.C.yz});
    I.B.row[1] += scale(z, Vec3<T>{I.C.xx, I.C.xy, I.C.xz});
    I.A.xx -= z * (I.B(0, 1) + B(0, 1));
    I.A.xy += z * (B(0, 0) - I.B(1, 1));
    I.A.xz -= z * B(2, 1);
    I.A.yy += z * (I.B(1, 0) + B(1, 0));
    I.A.yz += z * B(2, 0);
    return I;
  }
  /// The same of a composite body.
  template <class T>
  CompositeMoments<T> to_chain(CompositeMoments<T> I) const {
    rotate_to_parent<0, 1>(I, back_);
    const T h = I.h.z;
    I.h.z -= slide_ * I.m;
    I.Sigma.xz -= slide_ * I.h.x;
    I.Sigma.yz -= slide_ * I.h.y;
    I.Sigma.zz -= slide_ * (h + I.h.z);
    return I;
  }

 private:
  Turn<double> turn_, back_;  ///< from the chain's axes to the model's, and back
  double slide_;
};

}  // namespace espalier
