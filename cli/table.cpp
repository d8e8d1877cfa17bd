#include "cli/table.hpp"

#include <spdlog/fmt/fmt.h>
#include <algorithm>
#include <cctype>

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

/// A cell in pieces of at most `limit` columns, broken after spaces, commas, '+', '.', '_' and
/// hyphens; a word that is longer is cut.
std::vector<std::string> broken(const std::string& cell, std::size_t limit) {
  std::vector<std::string> pieces;
  std::string rest = cell;
  while (width(rest) > limit) {
    std::size_t end = 0, columns = 0, best = 0, good = 0;
    while (end < rest.size()) {
      std::size_t next = end + 1;
      while (next < rest.size() && (static_cast<unsigned char>(rest[next]) & 0xC0) == 0x80) ++next;
      if (columns + 1 > limit) break;
      ++columns, end = next;
      const char last = rest[end - 1];
      if (last == ' ' || last == ',') best = end;
      if (last == '+' || last == '.' || last == '_' || last == '/' || last == '|') good = end;
      // Of names, not of numbers.
      if (last == '-' && std::isalpha(static_cast<unsigned char>(rest[end]))) good = end;
    }
    const std::size_t cut = best > 0 ? best : good > 0 ? good : end;
    std::string piece = rest.substr(0, cut);
    piece.erase(piece.find_last_not_of(' ') + 1);
    pieces.push_back(std::move(piece));
    rest.erase(0, cut);
    rest.erase(0, std::min(rest.find_first_not_of(' '), rest.size()));
  }
  if (!rest.empty() || pieces.empty()) pieces.push_back(std::move(rest));
  return pieces;
}

}  // namespace

std::string Table::text(std::size_t limit) const {
  std::vector<std::size_t> columns;
  for (std::size_t j = 0; j < header_.size(); ++j) {
    const bool omitted = limit > 0 && std::find(wide_only_.begin(), wide_only_.end(), header_[j]) !=
                                          wide_only_.end();
    if (!omitted) columns.push_back(j);
  }
  const std::size_t n = columns.size();
  std::vector<std::size_t> widths(n), least(n);
  std::vector<bool> right(n, !rows_.empty());
  for (std::size_t j = 0; j < n; ++j) {
    const auto& name = header_[columns[j]];
    widths[j] = width(name);
    for (const auto& row : rows_) {
      widths[j] = std::max(widths[j], width(row[columns[j]]));
      right[j] = right[j] && is_number(row[columns[j]]);
    }
    least[j] = right[j] ? widths[j] : std::min<std::size_t>(widths[j], 12);
  }
  // The widest column gives way until all fit.
  while (limit > 0) {
    std::size_t total = 2 * (n - 1), widest = n;
    for (std::size_t j = 0; j < n; ++j) {
      total += widths[j];
      if (widths[j] > least[j] && (widest == n || widths[j] > widths[widest])) widest = j;
    }
    if (total <= limit || widest == n) break;
    --widths[widest];
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::vector<std::vector<std::string>> pieces;
    std::size_t height = 1;
    for (std::size_t j = 0; j < n; ++j) {
      pieces.push_back(broken(cells[columns[j]], widths[j]));
      height = std::max(height, pieces.back().size());
    }
    for (std::size_t k = 0; k < height; ++k) {
      std::string text;
      for (std::size_t j = 0; j < n; ++j) {
        const std::string cell = k < pieces[j].size() ? pieces[j][k] : "";
        const std::string pad(widths[j] - width(cell), ' ');
        if (j > 0) text += "  ";
        text += right[j] ? pad + cell : cell + pad;
      }
      text.erase(text.find_last_not_of(' ') + 1);
      out += text + "\n";
    }
  };
  line(header_);
  for (const auto& row : rows_) line(row);
  return out;
}

std::string Table::blocks(std::size_t limit) const {
  std::vector<std::size_t> widths;
  for (const std::string& name : header_) widths.push_back(width(name));
  for (const auto& row : rows_) {
    for (std::size_t j = 0; j < row.size(); ++j) widths[j] = std::max(widths[j], width(row[j]));
  }
  std::string out;
  std::size_t j = 1;
  do {
    const std::size_t first = j;
    for (std::size_t total = widths[0]; j < header_.size(); ++j) {
      total += 2 + widths[j];
      if (j > first && total > limit) break;
    }
    const auto part = [&](const std::vector<std::string>& cells) {
      std::vector<std::string> some{cells[0]};
      for (std::size_t k = first; k < j; ++k) some.push_back(cells[k]);
      return some;
    };
    Table block(part(header_));
    for (const auto& row : rows_) block.row(part(row));
    out += (out.empty() ? "" : "\n") + block.text();
  } while (j < header_.size());
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

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string joined(const std::vector<std::string>& words, const std::string& separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

}  // namespace espalier::cli
