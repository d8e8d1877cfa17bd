#pragma once

#include <array>
#include <cmath>
#include <espalier/plugin.hpp>
#include <string>

namespace espalier {

/// Two rotations in series: q = [angle about `axis`, which is fixed in the parent; angle about
/// `axis2`, which is fixed in the child], v their rates; that is, first about axis, then about
/// axis2 as it was carried along.
/// Parameter `axis2`: three numbers, in the joint frame at q = 0, not parallel to axis. Default:
/// perpendicular to it; y, z, x for the axes x, y, z.
/// Source: two revolute joints, Featherstone (2008), section 4.4.
class Universal {
 public:
  static constexpr int nq = 2, nv = 2;
  using Subspace = Dense<2>;
  static constexpr std::array<std::string_view, 1> parameters{"axis2"};

  explicit Universal(const JointSpec& joint) {
    const Mat3<double> turn = alignment(joint);
    sin_ = dot(turn.row[0], joint.axis);
    cos_ = dot(turn.row[2], joint.axis);
  }

  /// axis2 onto z, and axis into the half of the x-z plane with x > 0: axis = (sin, 0, cos).
  static Mat3<double> alignment(const JointSpec& joint) {
    const Vec3<double> z = joint.direction("axis2", turn_onto_z(joint.axis).row[0]);
    const Vec3<double> across = joint.axis - scale(dot(joint.axis, z), z);
    const double sin = std::sqrt(dot(across, across));
    if (!(sin > 1e-6)) {
      throw InvalidModel("joint '" + joint.name + "'" +
                         (joint.where.empty() ? "" : " (" + joint.where + ")") +
                         ": parameter 'axis2' is " + text(z) +
                         ", expected a direction that is not parallel to the axis " +
                         text(joint.axis) + " (for one axis use a revolute joint)");
    }
    const Vec3<double> x = scale(1.0 / sin, across);
    return {{x, cross(z, x), z}};
  }

  /// Origins together, and the angle between the two axes as it is at q = 0.
  static std::vector<LoopRow> loop_rows(const JointSpec& joint) {
    const Vec3<double> second = alignment(joint).row[2];
    std::vector<LoopRow> rows;
    const auto [u, w] = across(joint.axis);
    for (const Vec3<double>& direction : {u, w, joint.axis}) keep_offset(direction, rows);
    rows.push_back({LoopRow::Kind::aligned, joint.axis, second, dot(joint.axis, second)});
    return rows;
  }

  template <class T>
  Rotation<T> position(const T* q) const {
    T s1, c1, s2, c2;
    sincos(q[0], s1, c1);
    sincos(q[1], s2, c2);
    // E of the turn by q1 about (sin, 0, cos): c 1 - s [axis×] + (1 - c) axis axis^T.
    const T s_sin = s1 * sin_, s_cos = s1 * cos_, skew = (T(1.0) - c1) * (sin_ * cos_);
    const Mat3<T> E1{{{c1 * (cos_ * cos_) + sin_ * sin_, s_cos, skew},
                      {-s_cos, c1, s_sin},
                      {skew, -s_sin, c1 * (sin_ * sin_) + cos_ * cos_}}};
    return {rotate_rows(s2, c2, E1)};
  }
  template <class T>
  void subspace(const T* q, Motion<T>* S) const {
    T s2, c2;
    sincos(q[1], s2, c2);
    S[0] = Motion<T>::zero();
    S[0].w = {c2 * sin_, -(s2 * sin_), T(cos_)};
    S[1] = Motion<T>::zero();
    S[1].w.z = T(1.0);
  }
  /// The first axis turns about -z as seen from the body.
  template <class T>
  Motion<T> bias(const T* q, const T* qd) const {
    T s2, c2;
    sincos(q[1], s2, c2);
    const T rate = sin_ * (qd[0] * qd[1]);
    Motion<T> b = Motion<T>::zero();
    b.w.x = -(rate * s2);
    b.w.y = -(rate * c2);
    return b;
  }

 private:
  static std::string text(const Vec3<double>& a) {
    return "[" + std::to_string(a.x) + ", " + std::to_string(a.y) + ", " + std::to_string(a.z) +
           "]";
  }

  double sin_, cos_;  // of the angle between the axes
};

}  // namespace espalier
