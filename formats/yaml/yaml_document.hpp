#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

/// A YAML file as a tree of values that know their lines. Built from the parser's events, so that
/// duplicate keys are seen, aliases cost no copies and cannot blow up, and depth is limited.

namespace espalier::formats {

struct YamlValue;
using YamlPtr = std::shared_ptr<const YamlValue>;

struct YamlEntry {
  std::string key;
  int line = 0;
  YamlPtr value;
};

struct YamlValue {
  enum class Kind { null, scalar, sequence, mapping };

  Kind kind = Kind::null;
  int line = 0;                    ///< from 1
  std::string text;                ///< of a scalar
  std::vector<YamlPtr> items;      ///< of a sequence
  std::vector<YamlEntry> entries;  ///< of a mapping, in the file's order, keys unique
  std::size_t size = 1;            ///< values in it, itself included, aliases counted as copies

  const YamlEntry* find(std::string_view key) const;
  /// "nothing", "a text", "a list" or "a mapping", for messages.
  const char* kind_name() const;
};

/// Bytes of a document: the parser takes some seconds for these.
inline constexpr std::size_t max_yaml_size = 4u << 20;

/// Parses one YAML document.
/// @throws InvalidModel naming the line if it is no YAML, too large or too deep, holds no or
/// several
///         documents, tags or keys that are not texts; DuplicateName for a key given twice
YamlPtr parse_yaml(std::string_view text, const std::string& origin);

}  // namespace espalier::formats
