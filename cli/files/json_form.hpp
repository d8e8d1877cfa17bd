#pragma once

#include <string>
#include <vector>

#include "cli/session.hpp"

namespace espalier::cli {

/// The contents of a file. @param what  it is, for messages: "state file"
/// @throws Failure with exit code 2 if it cannot be read
std::string text_of(const std::string& file, const std::string& what, const std::string& expected);

/// A JSON file in which no key stands twice. @param file  "-": standard input
/// @param what  it is, for messages: "state"  @throws Failure with exit code 2
Json parse_json(const std::string& file, const std::string& what);

/// Checks the form of what stands in a JSON file; messages begin with the file's name.
struct JsonForm {
  std::string file;

  /// @throws Failure with exit code 2
  [[noreturn]] void refuse(const std::string& what, const Json& got,
                           const std::string& expected) const;
  const Json& object(const Json& value, const std::string& what) const;
  /// Names of an object's members that are not among the known ones are refused.
  /// @throws UnknownName with a suggestion
  void expect_keys(const Json& object, const std::string& of,
                   const std::vector<std::string>& known) const;
  /// @throws Failure with exit code 2 where an object has no such key
  const Json& member(const Json& object, const std::string& who, const char* key) const;
  double number(const Json& value, const std::string& what) const;
  /// A number, or a list of any size.
  std::vector<double> list(const Json& value, const std::string& what) const;
  /// A number, or a list of `size` numbers.
  /// @throws Failure with exit code 2; SizeMismatch
  void numbers(const Json& value, const std::string& what, int size, double* out) const;
  /// @throws UnknownName with a suggestion; `key` is where the name stands
  const Joint& joint(const Model& model, const std::string& key, const std::string& name) const;
  /// @throws UnknownName with a suggestion; `key` is where the name stands
  const Link& link(const Model& model, const std::string& key, const std::string& name) const;
};

}  // namespace espalier::cli
