#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/files/json_form.hpp"

/// End-effectors in state files, on the command line and in tables.

namespace espalier::cli {

/// What tools take where nobody says which end-effectors a robot has: its tips; the first link
/// where nothing moves.
std::vector<EndEffector> default_end_effectors(const Model& model);

/// Link, offset, rows and axes of an object in a state file, which may have other members, too.
/// @param list  the key under which the object stands  @param who  what messages call it
/// @throws Failure (wrong form), UnknownName, SizeMismatch
EndEffector read_end_effector(const Json& item, const std::string& list, const std::string& who,
                              const JsonForm& form, const Model& model);
/// The same members.
Json end_effector_json(const EndEffector& end_effector);

/// End-effectors of a state file and the accelerations that are wanted of all their rows:
///   [{"link": name, "offset": [x, y, z], "rows": "6d" | "3d" | [[6 numbers], ...],
///     "axes": "link" | "world", "acceleration": [by rows]}]
struct EndEffectorList {
  std::vector<EndEffector> end_effectors;
  std::vector<double> acceleration;

  /// @throws Failure (wrong form), UnknownName, SizeMismatch
  static EndEffectorList read(const Json& list, const JsonForm& form, const Model& model);
  /// What reads back as this list; without accelerations where there are none.
  Json json() const;
};

/// Names of the task's rows: "foot[0]"; from the second end-effector on a link on, "foot(2)[0]".
std::vector<std::string> row_labels(const std::vector<EndEffector>& end_effectors);

/// The option --end-effector LINK[:6d|:3d].
class EndEffectorOption {
 public:
  /// @param otherwise  what the help says of a run without the option
  void add_to(CLI::App& app, const std::string& otherwise);
  bool given() const { return !words_.empty(); }
  /// The end-effectors of the option, or the default ones.
  /// @throws UnknownName for a link; Failure with exit code 2 for rows
  std::vector<EndEffector> read(const Model& model) const;

 private:
  std::vector<std::string> words_;
};

}  // namespace espalier::cli
