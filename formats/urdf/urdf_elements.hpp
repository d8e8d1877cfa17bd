#pragma once

#include <tinyxml2.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/description.hpp"

namespace espalier::urdf {

using tinyxml2::XMLElement;

/// Attributes and children of URDF's elements; every error names who, file and line.
class Elements {
 public:
  explicit Elements(const std::string& origin) : origin_(origin) {}

  /// Elements are matched with the namespace prefix of the root element.
  void use_prefix_of(const XMLElement& root);
  /// An element's name without the prefix; "" where it has another prefix or none.
  std::string_view local_name(const XMLElement& e) const;
  /// Whether an element has this name, apart from the prefix.
  bool is(const XMLElement& e, std::string_view local) const;
  /// The child element of this name, or null. @throws InvalidModel if there are two
  const XMLElement* child(const std::string& who, const XMLElement& parent,
                          const char* local) const;
  const XMLElement& required_child(const std::string& who, const XMLElement& parent,
                                   const char* local) const;

  std::string name(const std::string& who, const XMLElement& e, const char* attribute) const;
  std::optional<double> optional_number(const std::string& who, const XMLElement& e,
                                        const char* attribute) const;
  double number(const std::string& who, const XMLElement& e, const char* attribute,
                std::optional<double> fallback = std::nullopt) const;
  /// One or more numbers. @throws InvalidModel if the attribute is missing
  std::vector<double> numbers(const std::string& who, const XMLElement& e,
                              const char* attribute) const;
  Vec3<double> vector(const std::string& who, const XMLElement& e, const char* attribute,
                      Vec3<double> fallback) const;
  Vec3<double> required_vector(const std::string& who, const XMLElement& e,
                               const char* attribute) const;
  std::optional<bool> boolean(const std::string& who, const XMLElement& e,
                              const char* attribute) const;
  /// The child <axis>.
  Vec3<double> axis(const std::string& who, const XMLElement& parent) const;
  /// The child <origin>, or another one of that form.
  Pose pose(const std::string& who, const XMLElement& parent, const char* element = "origin") const;
  /// The children <parameter>.
  Parameters parameters(const std::string& who, const XMLElement& parent) const;

  SourceLocation at(const XMLElement& e) const { return {origin_, e.GetLineNum()}; }
  [[noreturn]] void fail(const std::string& who, const XMLElement& e,
                         const std::string& what) const;
  static std::string attribute_of(const char* attribute, const XMLElement& e);

 private:
  const std::string& origin_;
  std::string prefix_;  ///< namespace prefix of the root element, with its colon
};

}  // namespace espalier::urdf
