#pragma once

#include <espalier/plugin.hpp>

namespace espalier {

/// How one cross-section of an elastic beam moves with the beam's shape. Frame: that of the tip
/// while the beam is straight, along x, so that the clamped end is at x = -L.
///
/// Positions q: deflection of the tip along y [m] and its slope dy/dx [rad], the same along z,
/// the twist of the tip about x [rad], and how far the middle twists beyond half of that [rad].
///   y = N q_y,  N = (3 s² - 2 s³, L (s³ - s²)), s from 0 at the clamped end to 1; z likewise,
///   twist = s q_4 + 4 s (1 - s) q_5,
///   the section is at (L (s - 1) - 1/2 ∫ y'² + z'², y, z), turned by R = Rz(y') Ry(-z') Rx(twist).
class BeamSection {
 public:
  template <class T>
  struct Motion {
    Vec3<T> p;               ///< where it is
    Mat3<T> R;               ///< section to frame
    Vec3<T> Jp[6];           ///< dp/dq
    Vec3<T> Jw[6];           ///< angular velocity for unit rates
    Vec3<T> pd, w;           ///< velocities seen from the frame
    Vec3<T> p_bias, w_bias;  ///< their derivatives at constant rates
  };

  BeamSection() = default;
  /// @param s  0 at the clamped end, 1 at the tip
  BeamSection(double length, double s) : x_(length * (s - 1.0)) {
    const double L = length, s2 = s * s, s3 = s2 * s;
    shape_[0] = 3.0 * s2 - 2.0 * s3;
    shape_[1] = L * (s3 - s2);
    slope_[0] = 6.0 * (s - s2) / L;
    slope_[1] = 3.0 * s2 - 2.0 * s;
    twist_[0] = s;
    twist_[1] = 4.0 * s * (1.0 - s);
    // ∫ N'^T N' from 0 to x.
    shortening_[0] = 36.0 / L * s3 * (1.0 / 3.0 - 0.5 * s + 0.2 * s2);
    shortening_[1] = s3 * (-4.0 + 7.5 * s - 3.6 * s2);
    shortening_[2] = L * s3 * (4.0 / 3.0 - 3.0 * s + 1.8 * s2);
  }

  /// @param qd  rates, or nullptr for none
  template <class T>
  Motion<T> at(const T* q, const T* qd) const {
    Motion<T> m;
    const T zero = T(0.0);
    T still[6] = {zero, zero, zero, zero, zero, zero};
    if (qd == nullptr) qd = still;
    const auto along = [](const double(&n)[2], const T* x) { return n[0] * x[0] + n[1] * x[1]; };
    T sa, ca, sb, cb, sc, cc;
    sincos(along(slope_, q), sa, ca);
    sincos(-along(slope_, q + 2), sb, cb);
    sincos(along(twist_, q + 4), sc, cc);
    const T a = along(slope_, qd), b = -along(slope_, qd + 2), c = along(twist_, qd + 4);

    m.p = {T(x_), along(shape_, q), along(shape_, q + 2)};
    m.pd = {zero, along(shape_, qd), along(shape_, qd + 2)};
    m.p_bias = Vec3<T>::zero();
    for (int j = 0; j < 4; j += 2) {
      const T A0 = shortening_[0] * q[j] + shortening_[1] * q[j + 1];
      const T A1 = shortening_[1] * q[j] + shortening_[2] * q[j + 1];
      const T Ad0 = shortening_[0] * qd[j] + shortening_[1] * qd[j + 1];
      const T Ad1 = shortening_[1] * qd[j] + shortening_[2] * qd[j + 1];
      m.p.x -= 0.5 * (q[j] * A0 + q[j + 1] * A1);
      m.pd.x -= qd[j] * A0 + qd[j + 1] * A1;
      m.p_bias.x -= qd[j] * Ad0 + qd[j + 1] * Ad1;
      m.Jp[j] = {-A0, zero, zero};
      m.Jp[j + 1] = {-A1, zero, zero};
    }
    m.Jp[0].y = T(shape_[0]), m.Jp[1].y = T(shape_[1]);
    m.Jp[2].z = T(shape_[0]), m.Jp[3].z = T(shape_[1]);
    m.Jp[4] = m.Jp[5] = Vec3<T>::zero();

    // Rz(alpha) Ry(beta) Rx(gamma): its columns, and the axes of the three turns.
    const Vec3<T> x{ca * cb, sa * cb, -sb}, y{-sa, ca, zero}, z{ca * sb, sa * sb, cb};
    const Vec3<T> Ry = scale(cc, y) + scale(sc, z), Rz = scale(cc, z) - scale(sc, y);
    m.R = {{{x.x, Ry.x, Rz.x}, {x.y, Ry.y, Rz.y}, {x.z, Ry.z, Rz.z}}};
    m.w = {c * x.x + b * y.x, c * x.y + b * y.y, a + c * x.z};
    // The axis y turns with alpha, x with alpha and beta.
    m.w_bias = scale(a * b, Vec3<T>{-ca, -sa, zero}) +
               scale(c, scale(a, Vec3<T>{-sa * cb, ca * cb, zero}) - scale(b, z));
    for (int k = 0; k < 2; ++k) {
      m.Jw[k] = {zero, zero, T(slope_[k])};
      m.Jw[2 + k] = scale(-slope_[k], y);
      m.Jw[4 + k] = scale(twist_[k], x);
    }
    return m;
  }

 private:
  double x_ = 0.0;
  double shape_[2] = {}, slope_[2] = {}, twist_[2] = {};
  double shortening_[3] = {};  ///< 00, 01, 11
};

}  // namespace espalier
