#include "cli/table.hpp"

#include <spdlog/fmt/fmt.h>
#include <algorithm>

namespace espalier::cli {

namespace {

bool is_number(const std::string& cell) {
  if (cell.empty() || cell == "-") return true;  // says nothing, hinders nothing
  return cell.find_first_not_of("0123456789+-.e") == std::string::npos &&
         cell.find_first_of("0123456789") != std::string::npos;
}

/// Columns on the screen: bytes that start a UTF-8 character.
std::size_t width(const std::string& cell) {
  return static_cast<std::size_t>(std::count_if(cell.begin(), cell.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

}  // namespace

std::string Table::text() const {
  const std::size_t n = header_.size();
  std::vector<std::size_t> widths(n);
  std::vector<bool> right(n, !rows_.empty());
  for (std::size_t j = 0; j < n; ++j) {
    widths[j] = width(header_[j]);
    for (const auto& row : rows_) {
      widths[j] = std::max(widths[j], width(row[j]));
      right[j] = right[j] && is_number(row[j]);
    }
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t j = 0; j < n; ++j) {
      const std::string pad(widths[j] - width(cells[j]), ' ');
      if (j > 0) text += "  ";
      text += right[j] ? pad + cells[j] : cells[j] + pad;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  };
  line(header_);
  for (const auto& row : rows_) line(row);
  return out;
}

std::string Table::markdown() const {
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    out += "|";
    for (std::string cell : cells) {
      for (std::size_t at = 0; (at = cell.find('|', at)) != std::string::npos; at += 2) {
        cell.insert(at, 1, '\\');
      }
      out += " " + cell + " |";
    }
    out += "\n";
  };
  line(header_);
  line(std::vector<std::string>(header_.size(), "---"));
  for (const auto& row : rows_) line(row);
  return out;
}

std::string number(double x) { return fmt::format("{:.6g}", x); }

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

}  // namespace espalier::cli
