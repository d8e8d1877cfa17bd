#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/format.hpp"

namespace espalier {

/// Espalier YAML: robots composed of subsystems with parameters and ports. docs/yaml.md is its
/// schema. Files named under `include` are looked for relative to the file that names them, then in
/// the search paths.
class YamlFormat final : public Format {
 public:
  std::vector<std::string> extensions() const override;
  using Format::read;
  /// @throws InvalidModel, and DuplicateName for names and keys given twice in one mapping and for
  ///         definitions that have the name of a registered sub-mechanism
  Description read(std::string_view text, const std::string& origin,
                   const SubMechanisms& parts) const override;
  Description read(std::string_view text, const std::string& origin, const SubMechanisms& parts,
                   const ReadOptions& options) const override;
  /// Writes the robot flat: its subsystems are expanded.
  std::string write(const Description& robot) const override;
};

}  // namespace espalier
