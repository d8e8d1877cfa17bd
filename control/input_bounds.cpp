#include "espalier/control/input_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "espalier/kernel/text.hpp"

namespace espalier {

namespace {

using text::number;
using text::quoted;
constexpr double infinity = QuadraticProgram::infinity;

[[noreturn]] void refuse(const std::string& who, const std::string& is, const char* expected) {
  throw InvalidModel("task control: " + who + ": " + is + ", expected " + expected);
}

/// Sides of a pyramid; 1000 are a cone to 5e-6 of its width.
void expect_sides(const std::string& who, int sides) {
  constexpr int least = 3, most = 1000;
  if (sides >= least && sides <= most) return;
  refuse(who, "number of the pyramid's sides is " + std::to_string(sides), "3 to 1000");
}

void expect_weight(const std::string& who, double weight) {
  if (weight > 0.0 && std::isfinite(weight)) return;
  refuse(who, "weight is " + number(weight), "a finite number above 0");
}

/// Bounds may be infinite, but must leave room.
void expect_range(const std::string& who, double lower, double upper) {
  if (lower <= upper && lower < infinity && upper > -infinity) return;
  refuse(who, "range is " + number(lower) + " to " + number(upper),
         "a lower bound that is not above the upper one");
}

std::string who_is(const ControlContact& contact) {
  return "contact " + quoted(contact.name.empty() ? contact.link : contact.name);
}

/// A unit vector across a unit normal.
Vec3<double> tangent(const Vec3<double>& n) {
  // Any axis that is far from the normal.
  const Vec3<double> axis = std::abs(n.x) < 0.7 ? Vec3<double>{1, 0, 0} : Vec3<double>{0, 1, 0};
  const Vec3<double> t = axis - scale(dot(axis, n), n);
  return scale(1.0 / std::sqrt(dot(t, t)), t);
}

}  // namespace

InputBounds::InputBounds(const Model& model, const TaskControlSetup& setup) {
  long columns = 3 * static_cast<long>(setup.contacts.size());
  long rows = 0;
  for (const ControlMotor& motor : setup.motors) {
    columns += model.joint(motor.joint).nv;
    rows += model.joint(motor.joint).nv;
  }
  for (const ControlContact& contact : setup.contacts) {
    expect_sides(who_is(contact), contact.sides);
    rows += 1 + contact.sides;
  }
  C = Eigen::MatrixXd::Zero(rows, columns);
  lower = Eigen::VectorXd::Constant(rows, -infinity);
  upper = Eigen::VectorXd::Constant(rows, infinity);
  weights.resize(columns);
  for (const ControlMotor& motor : setup.motors) add(motor, model);
  for (const ControlContact& contact : setup.contacts) add(contact);
}

void InputBounds::add(const ControlMotor& motor, const Model& model) {
  const std::string who = "motor on joint " + quoted(motor.joint);
  const Joint& joint = model.joint(motor.joint);
  const double effort = joint.limits.effort.value_or(infinity);
  const double least = motor.lower.value_or(-effort), most = motor.upper.value_or(effort);
  expect_weight(who, motor.weight);
  expect_range(who, least, most);
  for (int k = 0; k < joint.nv; ++k, ++row_, ++column_) {
    C(row_, column_) = 1.0;
    lower[row_] = least;
    upper[row_] = most;
    weights[column_] = motor.weight;
  }
}

void InputBounds::add(const ControlContact& contact) {
  const std::string who = who_is(contact);
  expect_weight(who, contact.weight);
  if (!(contact.friction >= 0.0) || !std::isfinite(contact.friction)) {
    refuse(who, "friction is " + number(contact.friction), "a finite number not below 0");
  }
  if (!(contact.least >= 0.0)) {
    refuse(who, "least normal force is " + number(contact.least),
           "a number not below 0 (the ground does not pull)");
  }
  expect_range(who, contact.least, contact.most);
  const double length = std::sqrt(dot(contact.normal, contact.normal));
  if (!(length > 0.0) || !std::isfinite(length)) {
    refuse(who, "length of the normal is " + number(length), "a vector with a direction");
  }
  const Vec3<double> normal = scale(1.0 / length, contact.normal);
  const auto put = [&](const Vec3<double>& direction, double least, double most) {
    C.block<1, 3>(row_, column_) << direction.x, direction.y, direction.z;
    lower[row_] = least;
    upper[row_] = most;
    ++row_;
  };
  put(normal, contact.least, contact.most);
  // The pyramid's edges lie on the cone, hence its sides within.
  const Vec3<double> t = tangent(normal), s = cross(normal, t);
  const double step = 2.0 * std::numbers::pi / contact.sides;
  const double slope = contact.friction * std::cos(0.5 * step);
  for (int k = 0; k < contact.sides; ++k) {
    put(scale(std::cos(k * step), t) + scale(std::sin(k * step), s) - scale(slope, normal),
        -infinity, 0.0);
  }
  weights.segment<3>(column_).setConstant(contact.weight);
  column_ += 3;
}

}  // namespace espalier
