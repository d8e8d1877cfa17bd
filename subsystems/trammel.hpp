#pragma once

#include <cmath>
#include <espalier/plugin.hpp>

namespace espalier {

/// Trammel: two sliders on perpendicular rails, a massless rod of constant `length` between them:
/// an example of a law that gives phi alone. With the sliders at x0 + q_x and y0 + q_y on their
/// rails,
///   phi = ((x0 + q_x)² + (y0 + q_y)² - length²) / (2 length) = 0,
/// where x0 = `x` is between 0 and length, and y0 > 0 closes it at zero position.
///
/// `lower` and `upper` limit q_x (optional): with x0 + q_x = length the rod lies along its rail, a
/// dead point.
///
/// Input `base`: rails along its x and y axes. Bodies `slider_x`, `slider_y`; each is an output.
/// As a law: positions (q_x, q_y).
/// Source: the trammel of Archimedes.
class Trammel {
 public:
  static constexpr auto parameters = std::to_array<std::string_view>(
      {"length", "x", "lower", "upper", ESPALIER_INERTIA_PARAMETERS("slider_x"),
       ESPALIER_INERTIA_PARAMETERS("slider_y")});
  static constexpr std::array<std::string_view, 2> law_parameters{"length", "x"};
  static constexpr std::array<std::string_view, 1> inputs{"base"};
  static constexpr std::array<std::string_view, 2> outputs{"slider_x", "slider_y"};
  static Parameters sample() {
    return {{"length", {0.5}},        {"x", {0.3}},
            {"lower", {-0.15}},       {"upper", {0.1}},
            {"slider_x_mass", {0.4}}, {"slider_y_mass", {0.7}}};
  }

  explicit Trammel(const PartSpec& spec)
      : spec_(spec), length_(spec.positive("length")), x_(spec.positive("x")) {
    if (!(x_ < length_)) spec.refuse("x", x_, "less than the length of the rod");
    y_ = std::sqrt((length_ - x_) * (length_ + x_));
  }

  void build(Assembly& a) const {
    JointDescription& slider =
        a.body("slider_x", "prismatic", "base", spec_.inertial("slider_x"), {{x_, 0, 0}, {}});
    slider.axis = {1, 0, 0};
    slider.independent = true;
    if (spec_.has("lower")) slider.limits.lower = spec_.number("lower");
    if (spec_.has("upper")) slider.limits.upper = spec_.number("upper");
    a.body("slider_y", "prismatic", "base", spec_.inertial("slider_y"), {{0, y_, 0}, {}}).axis = {
        0, 1, 0};
    a.law<Trammel>("trammel", {"slider_x", "slider_y"}, spec_.parameters);
    for (const char* link : {"slider_x", "slider_y"}) a.output(link);
  }

  static constexpr int positions = 2, equations = 1;
  template <class T>
  void phi(const T* q, T* phi) const {
    const T x = q[0] + x_, y = q[1] + y_;
    phi[0] = (x * x + y * y - length_ * length_) * (0.5 / length_);
  }

 private:
  PartSpec spec_;
  double length_, x_, y_;
};

}  // namespace espalier
