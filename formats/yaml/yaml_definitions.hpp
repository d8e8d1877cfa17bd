#pragma once

#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/format.hpp"
#include "espalier/kernel/sub_mechanism.hpp"
#include "formats/yaml/yaml_document.hpp"
#include "formats/yaml/yaml_fields.hpp"

namespace espalier::formats {

/// A mapping of a file that subsystems are instances of.
struct Definition {
  std::string name;
  const std::string* file = nullptr;  ///< owned by Definitions
  YamlPtr value;
};

/// What a subsystem is an instance of; one of the two is set.
struct SubsystemType {
  const Definition* definition = nullptr;
  const SubMechanism* registered = nullptr;
};

/// The definitions of a robot's file and of all files that it includes, and what is registered.
class Definitions {
 public:
  Definitions(const SubMechanisms& registered, const ReadOptions& options)
      : registered_(registered), options_(options) {}

  /// Parses a robot and all it includes. @returns the robot's own content
  Definition load(std::string_view text, const std::string& origin);

  /// Where types are resolved: a definition of the files or a registered sub-mechanism (a name is
  /// never both).
  /// @throws InvalidModel from `use`, listing the known types
  SubsystemType find(const std::string& type, const Fields& use) const;

 private:
  void define(const YamlEntry& entry, const std::string& file);
  YamlPtr load_file(std::string_view text, const std::string& path, bool library);
  void include(const std::string& name, const Fields& from, int line);
  /// The file that `include` names, beside the file that names it or in a search path.
  /// @throws InvalidModel if it lies outside of the robot's folder and of these without leave
  std::filesystem::path find_file(const std::string& name, const Fields& from, int line) const;

  const SubMechanisms& registered_;
  const ReadOptions& options_;
  std::deque<std::string> files_;  ///< their elements stay where they are
  std::map<std::string, Definition> definitions_;
  std::set<std::string> done_;        ///< canonical paths
  std::vector<std::string> current_;  ///< canonical paths from the robot to the file being read
  Expressions no_parameters_;
};

}  // namespace espalier::formats
