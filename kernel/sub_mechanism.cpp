#include "espalier/kernel/sub_mechanism.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "espalier/kernel/linear_algebra/decompositions.hpp"

namespace espalier {

namespace {

/// The uniform solid that has a body's inertia: a cylinder about z where that turns freely, as of a
/// wheel or a rotor, else a box along the principal axes. None for point masses and for inertias
/// that no solid has.
std::optional<ShapeDescription> solid_of(const Inertial& inertial) {
  const Sym3<double>& I = inertial.I;
  const double m = inertial.mass, size = std::abs(I.xx) + std::abs(I.yy) + std::abs(I.zz);
  if (!(m > 0.0) || !(size > 0.0) || !std::isfinite(m + size)) return std::nullopt;
  ShapeDescription shape;
  shape.origin = inertial.origin;
  const double across = std::abs(I.xy) + std::abs(I.xz) + std::abs(I.yz) + std::abs(I.xx - I.yy);
  const double radius = std::sqrt(std::max(0.0, 2.0 * I.zz / m));
  const double length = 12.0 * (I.xx / m - radius * radius / 4.0);
  if (across < 1e-9 * size && radius > 0.0) {
    // The thinnest disc turns as easily about its diameter; its rim is drawn a tenth as wide.
    shape.shape = Cylinder{radius, length > 0.0 ? std::sqrt(length) : 0.1 * radius};
    return shape;
  }
  Eigen::Matrix3d M;
  M << I.xx, I.xy, I.xz, I.xy, I.yy, I.yz, I.xz, I.yz, I.zz;
  Vec3<double> moments{I.xx, I.yy, I.zz};
  if (I.xy != 0.0 || I.xz != 0.0 || I.yz != 0.0) {
    const detail::SymmetricEigen<3> principal = detail::eigen_of_symmetric(M);
    Eigen::Matrix3d axes = principal.vectors;
    if (axes.determinant() < 0.0) axes.col(0) *= -1.0;
    Transform<double> turn = Transform<double>::identity();
    for (int i = 0; i < 3; ++i) {
      moments[i] = principal.values[i];
      turn.E.row[i] = {axes(0, i), axes(1, i), axes(2, i)};
    }
    shape.origin = Pose::from(turn * inertial.origin.transform());
  }
  const double sum = moments.x + moments.y + moments.z;
  Box box;
  for (int i = 0; i < 3; ++i) {
    const double square = 6.0 * (sum - 2.0 * moments[i]) / m;
    if (square < -1e-9 * sum / m) return std::nullopt;
    box.size[i] = std::sqrt(std::max(square, 1e-6 * sum / m));  // rods are drawn with some width
  }
  shape.shape = box;
  return shape;
}

}  // namespace

JointDescription& Assembly::body(const std::string& name, const std::string& type,
                                 const std::string& parent, const std::optional<Inertial>& inertial,
                                 const Pose& origin) {
  parts.links.push_back({name, inertial, {}});
  if (inertial) {
    if (const auto shape = solid_of(*inertial)) parts.links.back().visuals.push_back(*shape);
  }
  JointDescription joint;
  joint.name = name;
  joint.type = type;
  joint.parent = parent;
  joint.child = name;
  joint.origin = origin;
  joint.axis = {0, 0, 1};
  parts.joints.push_back(std::move(joint));
  return parts.joints.back();
}

void Assembly::couple(const std::string& predecessor, const std::string& successor, double ratio) {
  parts.couplings.push_back({predecessor + ":" + successor, predecessor, successor, ratio, {}});
}

void Assembly::law(const std::string& type, const std::vector<std::string>& joints,
                   const Parameters& parameters, const std::vector<std::string_view>& names) {
  parts.laws.push_back({type, type, joints, detail::only(parameters, names), {}});
}

Parameters detail::only(const Parameters& parameters, const std::vector<std::string_view>& names) {
  Parameters some;
  for (const auto& [name, values] : parameters) {
    if (std::find(names.begin(), names.end(), name) != names.end()) some.emplace(name, values);
  }
  return some;
}

LoopDescription& Assembly::loop(const std::string& name, const std::string& type,
                                const std::string& predecessor, const Pose& predecessor_origin,
                                const std::string& successor, const Pose& successor_origin) {
  LoopDescription loop;
  loop.name = name;
  loop.type = type;
  loop.predecessor = predecessor;
  loop.predecessor_origin = predecessor_origin;
  loop.successor = successor;
  loop.successor_origin = successor_origin;
  loop.axis = {0, 0, 1};
  parts.loops.push_back(std::move(loop));
  return parts.loops.back();
}

}  // namespace espalier
