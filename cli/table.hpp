#pragma once

#include <string>
#include <vector>

namespace espalier::cli {

/// A table of texts whose columns line up; numbers stand on the right.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}

  /// @param cells  as many as the header has
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  std::string text() const;
  /// The same as a Markdown table.
  std::string markdown() const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

/// Six significant digits, for people.
std::string number(double x);
/// "a, b, c".
std::string joined(const std::vector<std::string>& words, const std::string& separator = ", ");

}  // namespace espalier::cli
