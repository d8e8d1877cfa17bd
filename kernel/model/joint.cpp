#include "espalier/kernel/model/joint.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "espalier/kernel/errors.hpp"

namespace espalier {

namespace {

const std::vector<double>* find(const Parameters& parameters, std::string_view key) {
  const auto it = parameters.find(std::string(key));
  return it == parameters.end() ? nullptr : &it->second;
}

std::string who(const PartSpec& joint) {
  const std::string where = joint.where.empty() ? "" : " (" + joint.where + ")";
  return std::string(joint.what) + " '" + joint.name + "'" + where;
}

}  // namespace

bool PartSpec::has(std::string_view key) const { return find(parameters, key) != nullptr; }

void PartSpec::refuse(std::string_view key, const std::string& got,
                      const std::string& wanted) const {
  throw InvalidModel(who(*this) + ": parameter '" + std::string(key) + "' is " + got +
                     ", expected " + wanted);
}
void PartSpec::refuse(std::string_view key, double got, const std::string& wanted) const {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", got);
  refuse(key, text, wanted);
}

double PartSpec::number(std::string_view key, std::optional<double> fallback) const {
  const auto* values = find(parameters, key);
  if (values == nullptr) {
    if (fallback) return *fallback;
    refuse(key, "missing", "a number");
  }
  if (values->size() != 1 || !std::isfinite(values->front())) {
    throw InvalidModel(who(*this) + ": parameter '" + std::string(key) + "' has " +
                       std::to_string(values->size()) + " values, expected one finite number");
  }
  return values->front();
}

double PartSpec::positive(std::string_view key, std::optional<double> fallback) const {
  const double value = number(key, fallback);
  if (!(value > 0.0)) refuse(key, value, "a number greater than zero");
  return value;
}

double PartSpec::nonzero(std::string_view key, std::optional<double> fallback) const {
  const double value = number(key, fallback);
  if (value == 0.0) refuse(key, value, "a number other than zero");
  return value;
}

std::vector<double> PartSpec::numbers(std::string_view key, std::size_t size,
                                      std::optional<std::vector<double>> fallback) const {
  const auto* values = find(parameters, key);
  if (values == nullptr) {
    if (fallback) return *fallback;
    refuse(key, "missing", std::to_string(size) + " numbers");
  }
  if (values->size() != size ||
      !std::all_of(values->begin(), values->end(), [](double x) { return std::isfinite(x); })) {
    throw InvalidModel(who(*this) + ": parameter '" + std::string(key) + "' has " +
                       std::to_string(values->size()) + " values, expected " +
                       std::to_string(size) + " finite numbers");
  }
  return *values;
}

Vec3<double> PartSpec::vector(std::string_view key, std::optional<Vec3<double>> fallback) const {
  std::optional<std::vector<double>> list;
  if (fallback) list = {{fallback->x, fallback->y, fallback->z}};
  const std::vector<double> values = numbers(key, 3, std::move(list));
  return {values[0], values[1], values[2]};
}

Vec3<double> PartSpec::direction(std::string_view key, std::optional<Vec3<double>> fallback) const {
  const auto* values = find(parameters, key);
  if (values == nullptr) {
    if (fallback) return *fallback;
    refuse(key, "missing", "a direction of three numbers");
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

Pose PartSpec::pose(const std::string& prefix, const Pose& fallback) const {
  return {vector(prefix + "_xyz", fallback.xyz), vector(prefix + "_rpy", fallback.rpy)};
}

std::optional<Inertial> PartSpec::inertial(const std::string& prefix,
                                           const std::optional<Inertial>& fallback) const {
  const std::string mass = prefix + "_mass", com = prefix + "_com", inertia = prefix + "_inertia";
  if (!has(mass) && !has(com) && !has(inertia)) return fallback;
  Inertial body = fallback.value_or(Inertial{});
  if (!has(mass) && !fallback) refuse(mass, "missing", "the mass of the body in kg");
  body.mass = number(mass, body.mass);
  if (!(body.mass >= 0.0)) refuse(mass, body.mass, "a mass that is not negative");
  body.origin.xyz = vector(com, body.origin.xyz);
  const Sym3<double>& I = body.I;
  const auto list = numbers(inertia, 6, std::vector<double>{I.xx, I.yy, I.zz, I.xy, I.xz, I.yz});
  body.I = {list[0], list[3], list[4], list[1], list[5], list[2]};
  return body;
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

std::pair<Vec3<double>, Vec3<double>> across(const Vec3<double>& axis) {
  const Mat3<double> E = turn_onto_z(axis);
  return {E.row[0], E.row[1]};
}

void keep_axis(const Vec3<double>& axis, std::vector<LoopRow>& rows) {
  const auto [u, w] = across(axis);
  rows.push_back({LoopRow::Kind::aligned, u, axis, 0.0});
  rows.push_back({LoopRow::Kind::aligned, w, axis, 0.0});
  rows.push_back({LoopRow::Kind::facing, axis, axis, 0.0});
}

void keep_offset(const Vec3<double>& direction, std::vector<LoopRow>& rows) {
  rows.push_back({LoopRow::Kind::along, direction, {0, 0, 0}, 0.0});
}

}  // namespace espalier
