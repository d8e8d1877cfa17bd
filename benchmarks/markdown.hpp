#pragma once

#include <string>
#include <vector>

#include "charts/format.hpp"

namespace espalier::bench {

/// A Markdown table with aligned columns, so that it can be read in a terminal, too.
class Table {
 public:
  /// @param left  so many columns of words come first; the others hold numbers
  explicit Table(std::vector<std::string> head, std::size_t left = 1)
      : rows_{std::move(head)}, left_(left) {}
  /// @param row  as many cells as the head; may not contain '|'
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
  std::size_t left_;
};

using charts::format;

/// Replaces what stands between the lines "<!-- <section>:begin -->" and "<!-- <section>:end -->"
/// of a file; a file that does not exist is made of that section alone.
/// @throws std::runtime_error if the file has no such section or cannot be written
void replace_section(const std::string& path, const std::string& section, const std::string& text);
/// What stands between these lines. @throws std::runtime_error if the file has no such section
std::string section_of(const std::string& path, const std::string& section);
/// Says where a section of a file is not the text; "" if it is.
/// @param command  that writes it
std::string where_different(const std::string& path, const std::string& section,
                            const std::string& text, const std::string& command);

}  // namespace espalier::bench
