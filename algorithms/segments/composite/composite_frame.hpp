#pragma once

#include <array>

#include "algorithms/chains/kernels.hpp"
#include "espalier/kernel/spatial/quad_frame.hpp"

namespace espalier {

/// A body on a joint of one rate in the composite-rigid-body recursion, at double: the three
/// numbers of a vector stand in a register, beside a zero. Axes of the world, or of what stands for
/// it.
struct CompositeFrame {
  /// What stays the same.
  struct Constants {
    Transform<double> placement;  ///< on the parent, before the joint moves
    Moments<double> moments;      ///< body axes, at its origin
    double mass = 0.0;            ///< of the composite body
    bool slides = false;          ///< along z; else it turns about z
    bool turned_about_x = false;  ///< is_turned_about_x(placement): takes fewer operations

    static bool is_turned_about_x(const Transform<double>& placement) {
      const Vec3<double>& x = placement.E.row[0];
      return x.x == 1.0 && x.y == 0.0 && x.z == 0.0;
    }
  };

  struct Wrench {
    Quad n, f;
  };

  struct Place {
    std::array<Quad, 3> axes;  ///< x, y and z of the body
    Quad origin;               ///< seen from the world's
  };
  /// A composite body without its mass, about an origin.
  struct Composite {
    Quad h;                     ///< first moments
    std::array<Quad, 3> Sigma;  ///< second moments: the matrix by rows

    static Composite zero() { return {Quad(0.0), {Quad(0.0), Quad(0.0), Quad(0.0)}}; }
    ESPALIER_ALWAYS_INLINE Composite& operator+=(const Composite& b) {
      h += b.h;
      for (int k = 0; k < 3; ++k) Sigma[k] += b.Sigma[k];
      return *this;
    }
    /// About a point from which its origin is seen at r, by Steiner:
    /// h' = h + m r,  Sigma' = Sigma + h r^T + r h'^T.
    ESPALIER_ALWAYS_INLINE Composite shifted(double mass, const Quad& r) const {
      Composite moved{h + Quad(mass) * r, Sigma};
      for (int k = 0; k < 3; ++k) moved.Sigma[k] += Quad(h[k]) * r + Quad(r[k]) * moved.h;
      return moved;
    }
  };

  Place at;
  Quad w, v;            ///< motion for unit rate, about the world's origin
  Composite composite;  ///< about the body's origin

  /// The world itself.
  static CompositeFrame world() {
    const Quad zero(0.0);
    return {{{Quad(1.0, 0.0, 0.0, 0.0), Quad(0.0, 1.0, 0.0, 0.0), Quad(0.0, 0.0, 1.0, 0.0)}, zero},
            zero,
            zero,
            Composite::zero()};
  }

  /// Axes, origin, motion for unit rate, and the body's own moments.
  /// @param parent  where it is
  /// @param q       displacement, of a sliding joint alone
  /// @param c, s    of the angle of one that turns
  /// @returns  where this body is: its child, where that comes next, need not read it from memory
  ESPALIER_ALWAYS_INLINE Place place(const Constants& b, const Place& parent, const double* q,
                                     const double* c, const double* s) {
    const Mat3<double>& E = b.placement.E;
    const auto of_parent = [&](const Vec3<double>& a)
                               ESPALIER_INLINED { return times(parent.axes, a.x, a.y, a.z); };
    Quad x = parent.axes[0], y, z;
    if (b.turned_about_x) {
      y = Quad(E(1, 1)) * parent.axes[1] + Quad(E(1, 2)) * parent.axes[2];
      z = Quad(E(2, 1)) * parent.axes[1] + Quad(E(2, 2)) * parent.axes[2];
    } else {
      x = of_parent(E.row[0]), y = of_parent(E.row[1]), z = of_parent(E.row[2]);
    }
    Quad shift = of_parent(b.placement.r);
    if (b.slides) {
      shift += Quad(*q) * z;
      w = Quad(0.0), v = z;
    } else {
      const Quad cosine(*c), sine(*s), old = x;
      x = cosine * old + sine * y;
      y = cosine * y - sine * old;
    }
    const Place here{{x, y, z}, parent.origin + shift};
    if (!b.slides) w = z, v = cross(here.origin, z);
    const Vec3<double>& m = b.moments.h;
    const Sym3<double>& M = b.moments.Sigma;
    const std::array<Quad, 3>& axes = here.axes;
    composite.h = times(axes, m.x, m.y, m.z);
    const Quad X = times(axes, M.xx, M.xy, M.xz), Y = times(axes, M.xy, M.yy, M.yz),
               Z = times(axes, M.xz, M.yz, M.zz);
    for (int k = 0; k < 3; ++k) {
      composite.Sigma[k] = Quad(x[k]) * X + Quad(y[k]) * Y + Quad(z[k]) * Z;
    }
    at = here;
    return here;
  }
  /// The wrench that a unit acceleration of the rate takes, about the world's origin.
  /// @param I  the composite body, complete
  ESPALIER_ALWAYS_INLINE Wrench wrench(const Constants& b, const Composite& I) const {
    Wrench F;
    const Quad& h = I.h;
    const std::array<Quad, 3>& Sigma = I.Sigma;
    if (b.slides) {  // f = m z, n = h x z
      F = {cross(h, v), Quad(b.mass) * v};
    } else {  // f = z x h, n = (tr(Sigma) - Sigma) z
      const Quad& z = w;
      const double trace = Sigma[0][0] + Sigma[1][1] + Sigma[2][2];
      F = {Quad(trace) * z - times(Sigma, z[0], z[1], z[2]), cross(z, h)};
    }
    F.n += cross(at.origin, F.f);
    return F;
  }

 private:
  ESPALIER_ALWAYS_INLINE static Quad times(const std::array<Quad, 3>& axes, double x, double y,
                                           double z) {
    return Quad(x) * axes[0] + Quad(y) * axes[1] + Quad(z) * axes[2];
  }
};

}  // namespace espalier
