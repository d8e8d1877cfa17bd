#include "benchmarks/markdown.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "espalier/host/output_file.hpp"

namespace espalier::bench {

namespace {

/// Characters, not bytes: UTF-8 continuation bytes take no place.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// Where the text of a section begins, and its size.
struct Span {
  std::size_t begin, size;
};
Span find_section(const std::string& path, const std::string& all, const std::string& section) {
  const std::string begin = "<!-- " + section + ":begin -->\n",
                    end = "<!-- " + section + ":end -->\n";
  const std::size_t first = all.find(begin), last = all.find(end);
  if (first == std::string::npos || last == std::string::npos || last < first) {
    throw std::runtime_error(path + ": section '" + section +
                             "' is missing, expected the lines <!-- " + section +
                             ":begin --> and <!-- " + section + ":end -->");
  }
  const std::size_t start = first + begin.size();
  return {start, last - start};
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths(rows_.front().size(), 3);
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string space(widths[i] - width(rows_[r][i]), ' ');
      out += i == 0 ? "| " : " | ";
      const bool at_the_end = i + 1 == widths.size();  // words there need no alignment
      out += i >= left_ ? space + rows_[r][i] : at_the_end ? rows_[r][i] : rows_[r][i] + space;
    }
    out += " |\n";
    if (r > 0) continue;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      out += i == 0 ? "| " : " | ";
      // Numbers are flush right; words at the end have a column of any width.
      const bool at_the_end = i + 1 == widths.size() && i < left_;
      out += std::string(at_the_end ? 2 : widths[i] - 1, '-') + (i < left_ ? "-" : ":");
    }
    out += " |\n";
  }
  return out;
}

void replace_section(const std::string& path, const std::string& section, const std::string& text) {
  std::string all = "<!-- " + section + ":begin -->\n<!-- " + section + ":end -->\n";
  if (std::filesystem::exists(path)) all = contents(path);
  const Span at = find_section(path, all, section);
  all.replace(at.begin, at.size, text);
  write_file(path, all);
}

std::string section_of(const std::string& path, const std::string& section) {
  const std::string all = contents(path);
  const Span at = find_section(path, all, section);
  return all.substr(at.begin, at.size);
}

std::string where_different(const std::string& path, const std::string& section,
                            const std::string& text, const std::string& command) {
  std::istringstream there(section_of(path, section)), here(text);
  for (int number = 1;; ++number) {
    std::string is, wanted;
    const bool more = !!std::getline(there, is), expected = !!std::getline(here, wanted);
    if (!more && !expected) return "";
    if (more == expected && is == wanted) continue;
    return path + ": line " + std::to_string(number) + " of section '" + section + "' is '" + is +
           "', expected '" + wanted + "' (" + command + " writes it)";
  }
}

}  // namespace espalier::bench
