#include "formats/shapes.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "espalier/kernel/text.hpp"

namespace espalier::formats {

namespace {

using Sizes = std::vector<std::pair<const char*, double>>;

/// Sizes by what messages call them.
struct SizesOf {
  Sizes operator()(const Box& s) const {
    return {{"edge x", s.size.x}, {"edge y", s.size.y}, {"edge z", s.size.z}};
  }
  Sizes operator()(const Sphere& s) const { return {{"radius", s.radius}}; }
  Sizes operator()(const Cylinder& s) const { return {{"radius", s.radius}, {"length", s.length}}; }
  Sizes operator()(const Capsule& s) const { return {{"radius", s.radius}, {"length", s.length}}; }
  Sizes operator()(const Ellipsoid& s) const {
    return {{"radius x", s.radii.x}, {"radius y", s.radii.y}, {"radius z", s.radii.z}};
  }
  Sizes operator()(const Plane& s) const { return {{"edge x", s.x}, {"edge y", s.y}}; }
  Sizes operator()(const Mesh&) const { return {}; }  // a negative scale mirrors it
  Sizes operator()(const HeightField& s) const {
    return {{"edge x", s.size.x}, {"edge y", s.size.y}, {"height", s.size.z}, {"base", s.base}};
  }
};

}  // namespace

std::optional<std::string> wrong_size(const Shape& shape) {
  for (const auto& [what, size] : std::visit(SizesOf(), shape)) {
    if (size >= 0.0) continue;
    return std::string(what) + " of " + std::string(shape_kind(shape)) + " is " +
           text::number(size) + ", expected a number that is not negative";
  }
  return std::nullopt;
}

bool is_flat(const Shape& shape) {
  if (std::holds_alternative<Plane>(shape)) return false;  // 0 means without an end
  const Sizes sizes = std::visit(SizesOf(), shape);
  const bool field = std::holds_alternative<HeightField>(shape);
  return std::any_of(sizes.begin(), sizes.end(), [&](const auto& size) {
    return size.second == 0.0 && !(field && size.first == std::string("base"));
  });
}

}  // namespace espalier::formats
