#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "formats/urdf/urdf_elements.hpp"

namespace espalier::urdf {

/// Reads what links look like. What is wrong with a shape is no harm to dynamics: the shape is left
/// out, and said.
class Shapes {
 public:
  Shapes(const Elements& elements, std::vector<Finding>& findings)
      : in_(elements), findings_(findings) {}

  /// Materials may be used before they are defined, and be defined by any visual.
  void collect_materials(const XMLElement& parent);
  /// <visual> and <collision> of a link, and those and <frame> of its <espalier>.
  void read(const std::string& who, const XMLElement& e, LinkDescription& link);

 private:
  void tolerate(const std::function<void()>& read);
  void read_parts(const std::string& who, const XMLElement& parent, LinkDescription& link);
  ShapeDescription read_shape(const std::string& who, const XMLElement& e) const;
  Shape read_geometry(const std::string& who, const XMLElement& e) const;
  HeightField read_height_field(const std::string& who, const XMLElement& e) const;
  Color read_color(const std::string& who, const XMLElement& e) const;

  const Elements& in_;
  std::vector<Finding>& findings_;
  std::map<std::string, Color, std::less<>> materials_;
};

}  // namespace espalier::urdf
