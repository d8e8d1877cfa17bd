#pragma once

#include <cmath>
#include <espalier/plugin.hpp>
#include <numbers>

#include "subsystems/planar.hpp"

namespace espalier {

/// What Tello's two differentials share: two rotors on the base and two links in series, the
/// positions of whose joints are (rotor1, rotor2, l1, l2). The motors' angles behind the gears are
/// y_i = q_rotor_i / ratio. Masses and frames are those of the robot unless given.
/// Source: equations, masses and frames in theory/tello; Sim et al., Tello Leg (2022).
struct Tello {
  static constexpr double ratio = 6.0;
  static Inertial body(double mass, Vec3<double> com, Sym3<double> I) {
    return {{com, {0, 0, 0}}, mass, I};
  }
  static Inertial rotor() {
    return body(0.07, {0, 0, 0}, {2.5984e-5, 0, 0, 2.5984e-5, 0, 5.1512e-5});
  }
  /// Rotor frame at a height y on the base's y axis: z along +y or -y.
  static Pose facing(double side, double y) {
    if (side > 0.0) return Pose::from({{{{-1, 0, 0}, {0, 0, 1}, {0, 1, 0}}}, {0, y, 0}});
    return Pose::from({{{{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}}, {0, y, 0}});
  }
  static void add_rotors(Assembly& a, const PartSpec& spec, const Pose& first, const Pose& second) {
    const Inertial rotor = Tello::rotor();
    a.body("rotor1", "continuous", "base", spec.inertial("rotor1", rotor),
           spec.pose("rotor1", first))
        .independent = true;
    a.body("rotor2", "continuous", "base", spec.inertial("rotor2", rotor),
           spec.pose("rotor2", second))
        .independent = true;
  }
};

/// Tello's hip differential: both motors on the hip clamp (`base`); l1 turns `gimbal` about x, l2
/// turns `thigh` about y.
class TelloHip {
 public:
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"ratio", ESPALIER_POSE_PARAMETERS("rotor1"), ESPALIER_POSE_PARAMETERS("rotor2"),
       ESPALIER_POSE_PARAMETERS("gimbal"), ESPALIER_INERTIA_PARAMETERS("rotor1"),
       ESPALIER_INERTIA_PARAMETERS("rotor2"), ESPALIER_INERTIA_PARAMETERS("gimbal"),
       ESPALIER_INERTIA_PARAMETERS("thigh")});
  static constexpr std::array<std::string_view, 1> law_parameters{"ratio"};
  static constexpr std::array<std::string_view, 1> inputs{"base"};
  static constexpr std::array<std::string_view, 2> outputs{"gimbal", "thigh"};

  explicit TelloHip(const PartSpec& spec)
      : spec_(spec), gear_(1.0 / spec.nonzero("ratio", Tello::ratio)) {}

  void build(Assembly& a) const {
    Tello::add_rotors(a, spec_, Tello::facing(1.0, 0.04), Tello::facing(-1.0, -0.04));
    const Inertial gimbal =
        Tello::body(0.4433, {-0.0027, 0, 0.0258}, {0.0018, 0, 0, 0.0017, 0, 0.0015});
    a.body("gimbal", "revolute", "base", spec_.inertial("gimbal", gimbal),
           spec_.pose("gimbal", {{0, 0, -0.1425}, {0, 0, 0}}))
        .axis = {1, 0, 0};
    const Inertial thigh =
        Tello::body(1.5424, {0.003, -0.0001, -0.0323}, {0.0103, 0, -0.0005, 0.0097, 0, 0.0027});
    a.body("thigh", "revolute", "gimbal", spec_.inertial("thigh", thigh)).axis = {0, 1, 0};
    a.law<TelloHip>("tello_hip", {"rotor1", "rotor2", "gimbal", "thigh"}, spec_.parameters);
    for (const char* link : {"gimbal", "thigh"}) a.output(link);
  }

  static constexpr int positions = 4, equations = 2;
  template <class T>
  void phi(const T* q, T* phi) const {
    const Angles<T> l = terms(q);
    for (int i = 0; i < 2; ++i) {
      const Motor<T> m(i, l);
      phi[i] = A * m.s - B * l.c1 - C * m.s1 - D * m.c * l.c2 - A * l.c1 * l.s2 -
               E * m.s1 * (m.s - l.s2) - D * m.s * m.c1s2 + F;
    }
  }
  /// Sines and cosines of y, l1 and l2.
  template <class T>
  struct Angles {
    T s[2], c[2], s1, c1, s2, c2;
  };
  template <class T>
  Angles<T> terms(const T* q) const {
    const T angles[] = {T(q[0] * gear_), T(q[1] * gear_), q[2], q[3]};
    T s[4], c[4];
    sincos_of(angles, s, c);
    return {{s[0], s[1]}, {c[0], c[1]}, s[2], c[2], s[3], c[3]};
  }
  template <class T>
  void K(const Angles<T>& l, T* K) const {
    for (int i = 0; i < 2; ++i) {
      const Motor<T> m(i, l);
      T* row = K + 4 * i;
      row[i] = gear_ * (m.c * (A - E * m.s1 - D * m.c1s2) + D * m.s * l.c2);
      row[1 - i] = T(0.0);
      row[2] = l.s1 * (B + A * l.s2 + D * m.s * l.s2) - m.c1 * (C + E * (m.s - l.s2));
      row[3] = D * m.c * l.s2 + l.c2 * (E * m.s1 - A * l.c1 - D * l.c1 * m.s);
    }
  }
  template <class T>
  void k(const Angles<T>& l, const T* qd, T* k) const {
    for (int i = 0; i < 2; ++i) {
      const Motor<T> m(i, l);
      // Second derivatives of phi by y, l1 and l2.
      const T yy = D * (m.c * l.c2 + m.s * m.c1s2) - m.s * (A - E * m.s1);
      const T y1 = m.c * (D * l.s1 * l.s2 - E * m.c1);
      const T y2 = -D * (m.s * l.s2 + l.c1 * m.c * l.c2);
      const T l11 = l.c1 * (B + A * l.s2 + D * m.s * l.s2) + m.s1 * (C + E * (m.s - l.s2));
      const T l12 = l.c2 * (A * l.s1 + E * m.c1 + D * l.s1 * m.s);
      const T l22 = D * (m.c * l.c2 + m.s * m.c1s2) + l.s2 * (A * l.c1 - E * m.s1);
      const T y = qd[i] * gear_, d1 = qd[2], d2 = qd[3];
      const T mixed = y * (y1 * d1 + y2 * d2) + l12 * d1 * d2;
      k[i] = -(yy * y * y + l11 * d1 * d1 + l22 * d2 * d2 + (mixed + mixed));
    }
  }

 private:
  static constexpr double A = 57.0 / 2500.0, B = 49.0 / 5000.0, C = 399.0 / 20000.0,
                          D = 8.0 / 625.0, E = 7.0 / 625.0, F = 3021.0 / 160000.0;
  /// Sine and cosine of y_i, and of l1 with the side's sign.
  template <class T>
  struct Motor {
    T s, c, s1, c1, c1s2;
    Motor(int i, const Angles<T>& l)
        : s(l.s[i]),
          c(l.c[i]),
          s1(i == 0 ? l.s1 : -l.s1),
          c1(i == 0 ? l.c1 : -l.c1),
          c1s2(l.c1 * l.s2) {}
  };

  PartSpec spec_;
  double gear_;
};

/// Tello's knee-ankle differential: both motors on the thigh (`base`); l1 turns `shin` and l2 turns
/// `foot`, both about y. l1 is the mean of the motors' angles, l2 follows their difference through
/// a four-bar.
class TelloKneeAnkle {
 public:
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"ratio", ESPALIER_POSE_PARAMETERS("rotor1"), ESPALIER_POSE_PARAMETERS("rotor2"),
       ESPALIER_POSE_PARAMETERS("shin"), ESPALIER_POSE_PARAMETERS("foot"),
       ESPALIER_INERTIA_PARAMETERS("rotor1"), ESPALIER_INERTIA_PARAMETERS("rotor2"),
       ESPALIER_INERTIA_PARAMETERS("shin"), ESPALIER_INERTIA_PARAMETERS("foot")});
  static constexpr std::array<std::string_view, 1> law_parameters{"ratio"};
  static constexpr std::array<std::string_view, 1> inputs{"base"};
  static constexpr std::array<std::string_view, 2> outputs{"shin", "foot"};

  explicit TelloKneeAnkle(const PartSpec& spec)
      : spec_(spec), half_gear_(0.5 / spec.nonzero("ratio", Tello::ratio)) {}

  void build(Assembly& a) const {
    Tello::add_rotors(a, spec_, Tello::facing(-1.0, 0.02655), Tello::facing(1.0, -0.02655));
    const Inertial shin =
        Tello::body(0.3072, {0.0047, -0.0003, -0.1043}, {0.0054, 0, -0.0002, 0.0054, 0, 0.0001});
    a.body("shin", "revolute", "base", spec_.inertial("shin", shin),
           spec_.pose("shin", {{0, 0, -0.2268}, {0, 0, 0}}))
        .axis = {0, 1, 0};
    const Inertial foot =
        Tello::body(0.1025, {0.0042, 0, -0.0251}, {9.4e-5, 0, -3.8e-6, 1.773e-4, 0, 9.01e-5});
    a.body("foot", "revolute", "shin", spec_.inertial("foot", foot),
           spec_.pose("foot", {{0, 0, -0.26}, {0, 0, 0}}))
        .axis = {0, 1, 0};
    a.law<TelloKneeAnkle>("tello_knee_ankle", {"rotor1", "rotor2", "shin", "foot"},
                          spec_.parameters);
    for (const char* link : {"shin", "foot"}) a.output(link);
  }

  static constexpr int positions = 4, equations = 2;
  template <class T>
  void phi(const T* q, T* phi) const {
    const Waves<T> t = terms(q);
    phi[0] = t.motors - t.both + t.foot + a6;
    phi[1] = q[2] - half_gear_ * (q[0] + q[1]);
  }
  /// The parts of phi_1 with their derivatives, of which the second is minus the part:
  /// motors(d) = a1 cos(d + d1) - a2 cos(d + d2), foot(l2) = a4 sin(l2 + d4) - a5 sin(l2 + d5) and
  /// both(d + l2) = a3 sin(d + l2 + d3), d being half the difference of y.
  template <class T>
  struct Waves {
    T motors, motors_rate, foot, foot_rate, both, both_rate;
  };
  template <class T>
  Waves<T> terms(const T* q) const {
    const T d = half_gear_ * (q[0] - q[1]);
    const T angles[] = {d, q[3], T(d + q[3] + d3)};
    T s[3], c[3];
    sincos_of(angles, s, c);
    return {motors_cos * c[0] + motors_sin * s[0],
            motors_sin * c[0] - motors_cos * s[0],
            foot_cos * c[1] + foot_sin * s[1],
            foot_sin * c[1] - foot_cos * s[1],
            a3 * s[2],
            a3 * c[2]};
  }
  template <class T>
  void K(const Waves<T>& t, T* K) const {
    K[0] = half_gear_ * (t.motors_rate - t.both_rate);
    K[1] = -K[0];
    K[2] = T(0.0);
    K[3] = t.foot_rate - t.both_rate;
    K[4] = K[5] = T(-half_gear_);
    K[6] = T(1.0);
    K[7] = T(0.0);
  }
  template <class T>
  void k(const Waves<T>& t, const T* qd, T* k) const {
    const T rate = half_gear_ * (qd[0] - qd[1]), both = rate + qd[3];
    k[0] = t.motors * (rate * rate) - t.both * (both * both) + t.foot * (qd[3] * qd[3]);
    k[1] = T(0.0);
  }

  /// Branch 0 holds the zero position. For a given d, phi_1 is P sin l2 + Q cos l2 + R.
  static constexpr int branches = 2;
  bool solve(double* q, int branch) const {
    const double d = half_gear_ * (q[0] - q[1]);
    const double P = foot_sin - a3 * std::cos(d + d3);
    const double Q = foot_cos - a3 * std::sin(d + d3);
    const double R = motors_cos * std::cos(d) + motors_sin * std::sin(d) + a6;
    const double sine = -R / std::hypot(P, Q);
    if (!(std::abs(sine) <= 1.0)) return false;
    const double turn = std::asin(sine);
    q[2] = half_gear_ * (q[0] + q[1]);
    q[3] = principal((branch == 0 ? turn : std::numbers::pi - turn) - std::atan2(Q, P));
    return true;
  }

 private:
  static constexpr double pi = std::numbers::pi;
  static constexpr double a1 = 21.0 / 6250.0, a2 = 13.0 / 625.0, a3 = 7.0 / 2500.0,
                          a4 = 91.0 / 5000.0, a5 = 147.0 / 50000.0;
  static constexpr double d1 = 1979.0 * pi / 4500.0, d2 = 493.0 * pi / 1500.0,
                          d3 = 231.0 * pi / 500.0, d4 = 2.0 * pi / 15.0, d5 = pi / 45.0;
  /// 163349/6250000 - 273/12500 cos(pi/9).
  static inline const double a6 = 163349.0 / 6250000.0 - 273.0 / 12500.0 * std::cos(pi / 9.0);
  /// Coefficients of the cosine and the sine of d in `motors`, of l2 in `foot`.
  static inline const double motors_cos = a1 * std::cos(d1) - a2 * std::cos(d2),
                             motors_sin = a2 * std::sin(d2) - a1 * std::sin(d1),
                             foot_cos = a4 * std::sin(d4) - a5 * std::sin(d5),
                             foot_sin = a4 * std::cos(d4) - a5 * std::cos(d5);

  PartSpec spec_;
  double half_gear_;
};

}  // namespace espalier
