#pragma once

#include <array>
#include <espalier/plugin.hpp>

namespace espalier {

/// Screw along the axis: turns by q = [angle] and advances by pitch times it; v = [rate].
/// Parameter `pitch` [m/rad], positive for a right-handed thread; it has no default.
/// Source: Featherstone (2008), Table 4.1.
class Helical {
 public:
  static constexpr int nq = 1, nv = 1;
  using Subspace = Dense<1>;
  static constexpr std::array<std::string_view, 1> parameters{"pitch"};

  explicit Helical(const JointSpec& joint) : pitch_(joint.number("pitch")) {}

  template <class T>
  ScrewZ<T> position(const T* q) const {
    ScrewZ<T> X;
    sincos(q[0], X.s, X.c);
    X.d = pitch_ * q[0];
    return X;
  }
  template <class T>
  void subspace(const T* /*q*/, Motion<T>* S) const {
    S[0] = Motion<T>::zero();
    S[0].w.z = T(1.0);
    S[0].v.z = T(pitch_);
  }

 private:
  double pitch_;  // [m/rad]
};

}  // namespace espalier
