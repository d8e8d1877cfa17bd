#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/plugins/formats/yaml_document.hpp"
#include "espalier/plugins/formats/yaml_fields.hpp"

namespace espalier::formats {

/// What subsystems are instances of: a mapping of a file.
struct Definition {
  std::string name;
  const std::string* file = nullptr;  ///< owned by Definitions
  YamlPtr value;
};

/// The definitions of a robot's file and of all files that it includes.
class Definitions {
 public:
  /// Parses a robot and all it includes. @returns the robot's own content
  Definition load(std::string_view text, const std::string& origin);

  /// Where types are resolved: the definitions of the files. (Registered sub-mechanisms are no
  /// definitions in files; a reader that takes them looks them up after these.)
  /// @throws InvalidModel from `use`, listing the known types
  const Definition& find(const std::string& type, const Fields& use) const;

 private:
  YamlPtr load_file(std::string_view text, const std::string& path, bool library);
  void include(const std::string& name, const Fields& from, int line);

  std::deque<std::string> files_;  ///< their elements stay where they are
  std::map<std::string, Definition> definitions_;
  std::set<std::string> done_;        ///< canonical paths
  std::vector<std::string> current_;  ///< canonical paths from the robot to the file being read
  Expressions no_parameters_;
};

}  // namespace espalier::formats
