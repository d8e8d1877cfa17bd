#pragma once

#include <string>
#include <vector>

namespace espalier::cli {

/// A table of texts whose columns line up; numbers stand on the right.
class Table {
 public:
  /// Columns of a screen that a table fits if nothing else is asked for.
  static constexpr std::size_t screen = 100;

  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}

  /// Columns that are left out where the table has to fit a screen.
  Table& wide_only(std::vector<std::string> columns) {
    wide_only_ = std::move(columns);
    return *this;
  }
  /// Columns that are left out, in this order, where a screen is too narrow for the names of all.
  Table& give_way(std::vector<std::string> columns) {
    give_way_ = std::move(columns);
    return *this;
  }

  /// @param cells  as many as the header has
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  /// @param limit  columns of the screen: long cells are broken between words, or after ',', '+'
  ///               and '|', and go on in the next line; 0: all columns, each as wide as it is.
  ///               A name is never broken: one that is too long makes the table wider.
  std::string text(std::size_t limit = 0) const;
  /// The columns in as many tables as the screen's columns ask for, one below the other; each
  /// begins with the first column.
  std::string blocks(std::size_t limit) const;
  /// The same as a Markdown table.
  std::string markdown() const;

 private:
  struct Layout {
    std::vector<std::size_t> columns;  ///< those that are shown
    std::vector<std::size_t> widths;   ///< of all columns
    std::vector<bool> right;           ///< of all columns: numbers
  };
  Layout layout(std::size_t limit) const;

  std::vector<std::string> header_, wide_only_, give_way_;
  std::vector<std::vector<std::string>> rows_;
};

/// Lines of at most `limit` columns, broken as the cells of a table are.
std::vector<std::string> broken(const std::string& text, std::size_t limit);
/// Six significant digits, for people.
std::string number(double x);
/// "1 body", "2 bodies".
std::string counted(std::size_t count, const char* one, const char* several);
/// "3 bodies, 2 degrees of freedom".
std::string size_of(std::size_t bodies, std::size_t degrees_of_freedom);
/// A cell of CSV: in quotes where it holds a comma, a quote or the end of a line.
std::string csv_cell(const std::string& text);
/// "a, b, c".
std::string joined(const std::vector<std::string>& words, const std::string& separator = ", ");

}  // namespace espalier::cli
