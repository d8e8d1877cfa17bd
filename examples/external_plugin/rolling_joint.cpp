#include <espalier/plugin.hpp>
using namespace espalier;

// Two equal cylinders that roll on each other, as in a knee without a pin: while the child turns by
// q about z, its centre goes round the parent's by q/2, two radii away; at q = 0 it lies along y.
struct Rolling {
  static constexpr int nq = 1, nv = 1;
  using Subspace = Dense<1>;  // one column, which depends on q
  static constexpr std::array<std::string_view, 1> parameters{"radius"};
  explicit Rolling(const JointSpec& joint) : r(joint.number("radius")) {}
  template <class T>  // a double, eight doubles at once, a double that counts
  Transform<T> position(const T* q) const {  // parent to child: rotation, and where the child is
    const auto turn = RotationZ<T>::by(q[0]), half = RotationZ<T>::by(q[0] * 0.5);
    return {rotation_z(turn.s, turn.c), {half.s * (-2 * r), half.c * (2 * r), T(0.0)}};
  }
  template <class T>
  void subspace(const T* q, Motion<T>* S) const {  // twist at unit rate, child's frame
    const auto half = RotationZ<T>::by(q[0] * 0.5);
    S[0] = {{T(0.0), T(0.0), T(1.0)}, {half.c * -r, half.s * r, T(0.0)}};
  }
  template <class T>
  Motion<T> bias(const T* q, const T* v) const {  // how S changes: (dS/dt) v
    const auto half = RotationZ<T>::by(q[0] * 0.5);
    const T a = v[0] * v[0] * (r / 2);
    return {Vec3<T>::zero(), {half.s * a, half.c * a, T(0.0)}};
  }
  double r;  // [m]
};

ESPALIER_PLUGIN("rolling-joint", "1.0") {
  registrar.joint<Rolling>(
      {.name = "rolling", .summary = "two equal cylinders that roll on each other"});
}
