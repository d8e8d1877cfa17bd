#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mu {
class Parser;
}

namespace espalier::formats {

/// Named numbers and the arithmetic on them: + - * / ^, parentheses, comparisons, `a ? b : c`, the
/// functions of muParser (sin, cos, tan, atan2, sqrt, exp, ln, abs, min, max, ...; angles in
/// radians) and pi.
class Expressions {
 public:
  Expressions();
  ~Expressions();
  Expressions(const Expressions&) = delete;
  Expressions& operator=(const Expressions&) = delete;

  /// Makes a number known. @returns what is wrong with the name, or nothing
  std::optional<std::string> define(const std::string& name, double value);
  /// The value of an expression without its $(); it is finite.
  /// @throws InvalidModel beginning with `who`
  double evaluate(const std::string& expression, const std::string& who) const;

  /// The text between "$(" and ")" if the whole of it is an expression.
  static std::optional<std::string> inner(std::string_view text);

 private:
  mu::Parser& parser() const;

  std::vector<std::string> names_;
  mutable std::unique_ptr<mu::Parser> parser_;  ///< made when first needed: most files need none
};

}  // namespace espalier::formats
