#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/session.hpp"
#include "espalier/kernel/problems/derivatives/design_variation.hpp"

/// Families of robots by numbers of the robot's file: what the problem design-variation
/// differentiates along.

namespace espalier::cli {

/// --design, for commands that solve problems by name.
class DesignOption {
 public:
  void add_to(CLI::App& app);
  bool given() const { return !texts_.empty(); }
  /// Whether a problem has families.
  static bool is_for(std::string_view problem);
  /// Gives an algorithm of design-variation its families; leaves others alone.
  /// @param model  that it is bound to
  /// @throws Failure naming a target that the file does not have; Unsupported where there is no
  ///         number
  void add_families(Session& session, const ModelArguments& model, Algorithm& algorithm);

 private:
  struct Design {
    std::string name;
    std::vector<std::string> targets;
    ModelPtr less, more;
    double apart = 0.0;
  };
  /// Reads [NAME=]TARGET[,TARGET...].
  static void take(const std::string& text, Design& design);
  void compile(Session& session, const ModelArguments& model);

  std::vector<std::string> texts_;
  std::vector<Design> designs_;
  bool compiled_ = false;
};

}  // namespace espalier::cli
