#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "espalier/kernel/format.hpp"
#include "espalier/kernel/model/description.hpp"

/// XML as a tree of values that know their file and line, so that elements of included files and of
/// the including one are treated alike.

namespace espalier::formats {

struct XmlNode {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string text;  ///< of the element itself
  std::vector<XmlNode> children;
  SourceLocation where;

  /// The value of an attribute, or null.
  const std::string* find(std::string_view attribute) const;
  /// The first child of this name, or null.
  const XmlNode* child(std::string_view child_name) const;
  /// @throws InvalidModel "<who> (file:line): <what>"
  [[noreturn]] void fail(const std::string& who, const std::string& what) const;
};

/// Parses XML. @param format  for messages: "mjcf". @throws InvalidModel naming file and line
XmlNode parse_xml(std::string_view text, const std::string& format, const std::string& origin);

/// A file that another one names, and its contents.
struct NamedFile {
  std::string path, text;
};
/// A file or a folder.
struct NamedPlace {
  std::string path;
  bool folder = false;
};
/// Looks for what is named in a robot's file: relative to that file's folder, then to the search
/// paths.
/// @throws InvalidModel if it is missing, or outside of these folders without leave
NamedPlace find_named_place(const std::string& name, const XmlNode& at, const std::string& who,
                            const std::string& origin, const ReadOptions& options);
/// Reads a file. @throws InvalidModel if it cannot be read or is too large
NamedFile read_file(const std::string& path, const XmlNode& at, const std::string& who);
/// Both. @throws InvalidModel as they do, and for a folder
NamedFile read_named_file(const std::string& name, const XmlNode& at, const std::string& who,
                          const std::string& origin, const ReadOptions& options);

/// Numbers of a text. @param count  how many are expected; 0: any number of them
/// @throws InvalidModel naming `what`, the text and what was expected
std::vector<double> numbers_of(const XmlNode& at, const std::string& who, const std::string& what,
                               std::string_view text, std::size_t count);

}  // namespace espalier::formats
