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

  std::array<Quad, 3> axes;   ///< x, y and z of the body
  Quad origin;                ///< seen from the world's
  Quad w, v;                  ///< motion for unit rate, about the world's origin
  Quad h;                     ///< first moments of the composite body, about its origin
  std::array<Quad, 3> Sigma;  ///< second moments, likewise: the matrix by rows

  /// The world itself.
  static CompositeFrame world() {
    const Quad zero(0.0);
    return {{Quad(1.0, 0.0, 0.0, 0.0), Quad(0.0, 1.0, 0.0, 0.0), Quad(0.0, 0.0, 1.0, 0.0)},
            zero,
            zero,
            zero,
            zero,
            {zero, zero, zero}};
  }
  void clear_composite() { h = Sigma[0] = Sigma[1] = Sigma[2] = Quad(0.0); }

  /// Axes, origin, motion for unit rate, and the body's own moments.
  /// @param q     displacement, of a sliding joint alone
  /// @param c, s  of the angle of one that turns
  ESPALIER_ALWAYS_INLINE void place(const Constants& b, const CompositeFrame& parent,
                                    const double* q, const double* c, const double* s) {
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
    origin = parent.origin + shift;
    if (!b.slides) w = z, v = cross(origin, z);
    axes = {x, y, z};
    const Vec3<double>& m = b.moments.h;
    const Sym3<double>& M = b.moments.Sigma;
    h = times(axes, m.x, m.y, m.z);
    const Quad X = times(axes, M.xx, M.xy, M.xz), Y = times(axes, M.xy, M.yy, M.yz),
               Z = times(axes, M.xz, M.yz, M.zz);
    for (int k = 0; k < 3; ++k) Sigma[k] = Quad(x[k]) * X + Quad(y[k]) * Y + Quad(z[k]) * Z;
  }
  /// Adds the composite body, which is complete, to the parent's, by Steiner:
  /// h' = h + m r,  Sigma' = Sigma + h r^T + r h'^T.
  ESPALIER_ALWAYS_INLINE void add_to_parent(double mass, CompositeFrame& parent) const {
    const Quad r = origin - parent.origin, moved = h + Quad(mass) * r;
    parent.h += moved;
    for (int k = 0; k < 3; ++k) {
      parent.Sigma[k] += Sigma[k] + (Quad(h[k]) * r + Quad(r[k]) * moved);
    }
  }
  /// The wrench that a unit acceleration of the rate takes, about the world's origin.
  ESPALIER_ALWAYS_INLINE Wrench wrench(const Constants& b) const {
    Wrench F;
    if (b.slides) {  // f = m z, n = h x z
      F = {cross(h, v), Quad(b.mass) * v};
    } else {  // f = z x h, n = (tr(Sigma) - Sigma) z
      const Quad& z = w;
      const double trace = Sigma[0][0] + Sigma[1][1] + Sigma[2][2];
      F = {Quad(trace) * z - times(Sigma, z[0], z[1], z[2]), cross(z, h)};
    }
    F.n += cross(origin, F.f);
    return F;
  }

 private:
  ESPALIER_ALWAYS_INLINE static Quad times(const std::array<Quad, 3>& axes, double x, double y,
                                           double z) {
    return Quad(x) * axes[0] + Quad(y) * axes[1] + Quad(z) * axes[2];
  }
};

}  // namespace espalier
