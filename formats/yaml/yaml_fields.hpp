#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/model/description.hpp"
#include "formats/yaml/yaml_document.hpp"
#include "formats/yaml/yaml_expression.hpp"

namespace espalier::formats {

/// Where values stand and what their expressions may use.
struct YamlContext {
  const std::string& file;
  const Expressions& expressions;
};

/// A mapping with known keys, read key by key; every error names `who`, file and line.
class Fields {
 public:
  /// @param value   a mapping, or nothing for an empty one; it has to outlive the fields
  /// @throws InvalidModel if it is neither, or has keys that are not in `known`
  Fields(YamlContext context, std::string who, const YamlValue& value,
         std::vector<std::string> known);

  bool has(std::string_view key) const { return value_.find(key) != nullptr; }
  /// The value of a key. @throws InvalidModel if it is missing
  const YamlValue& required(std::string_view key) const;

  double number(std::string_view key, std::optional<double> fallback = std::nullopt) const;
  std::optional<double> optional_number(std::string_view key) const;
  Vec3<double> vector(std::string_view key, const Vec3<double>& fallback) const;
  /// Exactly `count` numbers.
  std::vector<double> numbers(std::string_view key, std::size_t count) const;
  std::string text(std::string_view key) const;
  std::optional<bool> optional_bool(std::string_view key) const;
  /// Keys `xyz` and `rpy`.
  Pose pose() const;
  /// The shape of one of the keys `box`, `sphere`, ... (shape_fields()).
  Shape shape() const;
  /// Key `parameters`: numbers and lists of numbers by name.
  Parameters parameters() const;
  /// Entries of the mapping under a key; none if it is missing.
  const std::vector<YamlEntry>& entries(std::string_view key) const;
  /// Items of the list under a key; none if it is missing.
  const std::vector<YamlPtr>& items(std::string_view key) const;

  const YamlContext& context() const { return context_; }
  const std::string& who() const { return who_; }
  SourceLocation where() const { return {context_.file, value_.line}; }
  SourceLocation where(std::string_view key) const;
  [[noreturn]] void fail(int line, const std::string& what) const;

  /// One number or expression; `what` names it in errors.
  double number_of(const YamlValue& value, const std::string& what) const;
  /// One name; `what` names it in errors.
  std::string text_of(const YamlValue& value, const std::string& what) const;

 private:
  std::vector<double> numbers_of(const YamlValue& value, const std::string& what) const;

  YamlContext context_;
  std::string who_;
  const YamlValue& value_;
};

/// Fields of one shape of a link.
Fields shape_fields(const Fields& link, const YamlValue& value);

}  // namespace espalier::formats
