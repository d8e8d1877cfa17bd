#include "benchmarks/operations/assembly.hpp"

namespace espalier::bench {

Assembly::Assembly(const std::string& name, const std::string& root) {
  description_.name = name;
  description_.links.push_back({root, inertial(), {}});
}

void Assembly::link(const std::string& name, const std::string& parent, const Vec3<double>& axis,
                    const std::string& offsets, const Vec3<double>& rpy) {
  JointDescription& j = joint(name, parent, "revolute");
  j.axis = axis;
  j.origin.rpy = rpy;
  const auto offset = [&](char coordinate) {
    return offsets.find(coordinate) == std::string::npos ? 0.0 : uniform_.between(0.1, 0.3);
  };
  j.origin.xyz = {offset('x'), offset('y'), offset('z')};
}

void Assembly::link(const std::string& name, const std::string& parent, char axis,
                    const std::string& offsets) {
  const Vec3<double> direction{axis == 'x' ? 1.0 : 0.0, axis == 'y' ? 1.0 : 0.0,
                               axis == 'z' ? 1.0 : 0.0};
  link(name, parent, direction, offsets);
}

std::string Assembly::chain(const std::string& prefix, const std::string& parent,
                            const std::string& axes) {
  std::string last = parent;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::string name = prefix + std::to_string(i + 1);
    link(name, last, axes[i]);
    last = name;
  }
  return last;
}

void Assembly::fixed(const std::string& name, const std::string& parent) {
  joint(name, parent, "fixed");
}

Vec3<double> Assembly::point() {
  const double x = 0.1 * uniform_(), y = 0.1 * uniform_();
  return {x, y, 0.1 * uniform_()};
}

Inertial Assembly::inertial() {
  Inertial out;
  out.mass = uniform_.between(1.0, 2.0);
  out.origin.xyz = point();
  const double roll = uniform_(), pitch = uniform_();
  out.origin.rpy = {roll, pitch, uniform_()};
  // Of a box of density one: second moments of its sides, two and two.
  const double x = uniform_.between(1e-3, 5e-3), y = uniform_.between(1e-3, 5e-3),
               z = uniform_.between(1e-3, 5e-3);
  out.I = {y + z, 0, 0, x + z, 0, x + y};
  return out;
}

JointDescription& Assembly::joint(const std::string& name, const std::string& parent,
                                  const char* type) {
  description_.links.push_back({name, inertial(), {}});
  JointDescription& out = description_.joints.emplace_back();
  out.name = name + "_joint", out.type = type;
  out.parent = parent, out.child = name;
  return out;
}

}  // namespace espalier::bench
