#include "espalier/kernel/model/joint.hpp"

#include <cmath>

#include "espalier/kernel/errors.hpp"

namespace espalier {

namespace {

const std::vector<double>* find(const Parameters& parameters, std::string_view key) {
  const auto it = parameters.find(std::string(key));
  return it == parameters.end() ? nullptr : &it->second;
}

std::string who(const JointSpec& joint) {
  return "joint '" + joint.name + "'" + (joint.where.empty() ? "" : " (" + joint.where + ")");
}

}  // namespace

double JointSpec::number(std::string_view key, std::optional<double> fallback) const {
  const auto* values = find(parameters, key);
  if (values == nullptr) {
    if (fallback) return *fallback;
    throw InvalidModel(who(*this) + ": parameter '" + std::string(key) +
                       "' is missing, expected a number");
  }
  if (values->size() != 1 || !std::isfinite(values->front())) {
    throw InvalidModel(who(*this) + ": parameter '" + std::string(key) + "' has " +
                       std::to_string(values->size()) + " values, expected one finite number");
  }
  return values->front();
}

Vec3<double> JointSpec::direction(std::string_view key,
                                  std::optional<Vec3<double>> fallback) const {
  const auto* values = find(parameters, key);
  if (values == nullptr) {
    if (fallback) return *fallback;
    throw InvalidModel(who(*this) + ": parameter '" + std::string(key) +
                       "' is missing, expected a direction of three numbers");
  }
  Vec3<double> d{0, 0, 0};
  if (values->size() == 3) d = {(*values)[0], (*values)[1], (*values)[2]};
  const double length = std::sqrt(dot(d, d));
  if (!(length > 1e-9) || !std::isfinite(length)) {
    throw InvalidModel(who(*this) + ": parameter '" + std::string(key) +
                       "' is no direction, expected three finite numbers that are not all zero");
  }
  return scale(1.0 / length, d);
}

Mat3<double> turn_onto_z(const Vec3<double>& axis) {
  const double ax = std::abs(axis.x), ay = std::abs(axis.y), az = std::abs(axis.z);
  // Coordinate axes: rotations whose entries are exactly 0, 1 and -1. That the long component is 1
  // says little about the others: it is also 1 for a direction that is 1e-9 away.
  const double exact = 1e-15;
  if (ax + ay < exact) {
    if (axis.z > 0.0) return Mat3<double>::identity();
    return {{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}};
  }
  if (ay + az < exact) {
    if (axis.x > 0.0) return {{{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}};
    return {{{0, -1, 0}, {0, 0, 1}, {-1, 0, 0}}};
  }
  if (az + ax < exact) {
    if (axis.y > 0.0) return {{{0, 0, 1}, {1, 0, 0}, {0, 1, 0}}};
    return {{{0, 0, 1}, {-1, 0, 0}, {0, -1, 0}}};
  }
  // Otherwise rows x, y, z with z = axis and x perpendicular to it and to the coordinate axis that
  // is farthest from it.
  Vec3<double> e{0, 0, 0};
  (ax <= ay && ax <= az ? e.x : ay <= az ? e.y : e.z) = 1.0;
  Vec3<double> x = cross(e, axis);
  x = scale(1.0 / std::sqrt(dot(x, x)), x);
  return {{x, cross(axis, x), axis}};
}

}  // namespace espalier
