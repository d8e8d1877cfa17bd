#include <espalier/plugin.hpp>
using namespace espalier;

// A knee driven by a ball screw. The screw spans two points at the distances a and b from the
// knee's axis and is `length` long at motor angle 0; one turn of it adds `lead`.
struct ScrewKnee {
  static constexpr int positions = 2, equations = 1;  // of the motor and of the knee
  static constexpr std::array<std::string_view, 4> parameters{"a", "b", "length", "lead"};
  explicit ScrewKnee(const PartSpec& spec)
      : a(spec.number("a")),
        b(spec.number("b")),
        length(spec.number("length")),
        per_radian(spec.number("lead") / 6.283185307179586) {}

  template <class T>  // a double, eight doubles at once, a double that counts, a derivative
  void phi(const T* q, T* phi) const {  // 0 = phi(motor, knee): the law of cosines
    const T screw = per_radian * q[0] + length;
    phi[0] = a * a + b * b - 2 * a * b * cos(q[1]) - screw * screw;
  }
  double a, b, length, per_radian;  // [m]
};

ESPALIER_PLUGIN("screw-knee", "1.0") {
  registrar.sub_mechanism<ScrewKnee>({.name = "screw_knee", .summary = "knee driven by a screw"});
}
