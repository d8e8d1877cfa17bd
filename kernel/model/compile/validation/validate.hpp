#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/joint.hpp"
#include "espalier/kernel/model/layout.hpp"
#include "espalier/kernel/spatial/limits.hpp"

/// What the passes of the model compiler share: the list of findings, and checks of single links
/// and joints that need no other.

namespace espalier::detail {

class Findings {
 public:
  void error(const SourceLocation& where, const std::string& text) {
    list_.push_back({Finding::Severity::error, text, where.text()});
  }
  void warning(const SourceLocation& where, const std::string& text) {
    list_.push_back({Finding::Severity::warning, text, where.text()});
  }
  /// Something that is computed as written, unless the user wants to be strict.
  void doubt(const CompileOptions& options, const SourceLocation& where, const std::string& text) {
    add({options.strict ? Finding::Severity::error : Finding::Severity::warning, text, where.text(),
         true});
    doubted_ = true;
  }
  void add(Finding finding) { list_.push_back(std::move(finding)); }
  bool failed() const;
  /// Whether something was computed as written.
  bool doubted() const { return doubted_; }
  /// @throws InvalidModel with the first error and the number of others
  void throw_if_failed(const std::string& robot) const;
  std::vector<Finding>&& take() { return std::move(list_); }

 private:
  std::vector<Finding> list_;
  bool doubted_ = false;
};

inline bool placed(const Pose& p) { return near(p.xyz) && finite(p.rpy); }

/// With six digits behind the point, or as few as it takes where it is small.
std::string number(double x);
/// "'a', 'b', 'c'", cut after a dozen names.
std::string list_of(const std::vector<std::string>& names);
/// ", expected one of 'a', 'b' (did you mean 'a'?)"
std::string one_of(const std::string& name, const std::vector<std::string>& known);

/// Names, numbers, types and references of a description: everything that can be said without
/// knowing what hangs on what.
void validate(const Description& robot, const ModelTypes& types, const CompileOptions& options,
              Findings& findings);

/// What states, inputs and rules of contact say of joints, links and shapes that are there.
void check_mentions(const Description& robot, const ModelTypes& types,
                    const CompileOptions& options, Findings& findings);

/// Names and other texts are UTF-8: what prints them, JSON and Python among them, expects it.
void check_texts(const Description& robot, Findings& findings);

/// Masses and moments of inertia of links, by themselves.
void check_inertias(const Description& robot, const CompileOptions& options, Findings& findings);

/// What a joint's type is told of it; the axis is normalised.
JointSpec spec_of(const JointDescription& joint);
/// What a joint has besides its type: armature, passive forces, limits.
void check_passive(const JointDescription& joint, Findings& findings);
/// What its type says of it.
void check_type(const std::string& who, const JointDescription& joint, const ModelTypes& types,
                Findings& findings);
/// @param reader  whom the parameters are given to, for the message
void check_parameter_names(const std::string& who, const std::string& reader,
                           const Parameters& given, const std::vector<std::string_view>& known,
                           const SourceLocation& where, Findings& findings);

}  // namespace espalier::detail
