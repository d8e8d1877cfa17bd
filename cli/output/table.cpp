#include "cli/output/table.hpp"

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

/// What a name begins with: the sign of an exponent does not stand before it.
bool begins_name(char c) { return c == '_' || std::isalpha(static_cast<unsigned char>(c)) != 0; }

/// Columns on the screen: bytes that start a UTF-8 character.
std::size_t width(const std::string& cell) {
  return static_cast<std::size_t>(std::count_if(cell.begin(), cell.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

/// What is not broken: words, and the parts of lists that ',', '+' and '|' divide.
std::vector<std::string> pieces_of(const std::string& cell) {
  std::vector<std::string> pieces(1);
  for (std::size_t k = 0; k < cell.size(); ++k) {
    pieces.back() += cell[k];
    const bool divides = cell[k] == ',' || cell[k] == '+' || cell[k] == '|';
    if (cell[k] == ' ' || (divides && k + 1 < cell.size() && begins_name(cell[k + 1]))) {
      pieces.emplace_back();
    }
  }
  return pieces;
}

std::string without_spaces_at_end(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

/// Columns of the widest piece of a cell.
std::size_t widest_piece(const std::string& cell) {
  std::size_t widest = 0;
  for (const std::string& piece : pieces_of(cell)) {
    widest = std::max(widest, width(without_spaces_at_end(piece)));
  }
  return widest;
}

}  // namespace

std::vector<std::string> broken(const std::string& text, std::size_t limit) {
  std::vector<std::string> lines;
  std::string line;
  for (const std::string& piece : pieces_of(text)) {
    if (!line.empty() && width(line) + width(without_spaces_at_end(piece)) > limit) {
      lines.push_back(without_spaces_at_end(line));
      line.clear();
    }
    line += piece;
  }
  lines.push_back(without_spaces_at_end(line));
  return lines;
}

Table::Layout Table::layout(std::size_t limit) const {
  const std::size_t n = header_.size();
  Layout out{{}, std::vector<std::size_t>(n), std::vector<bool>(n, !rows_.empty())};
  std::vector<std::size_t> least(n);
  for (std::size_t j = 0; j < n; ++j) {
    out.widths[j] = width(header_[j]),
    least[j] = std::max<std::size_t>(widest_piece(header_[j]), 12);
    for (const auto& row : rows_) {
      out.widths[j] = std::max(out.widths[j], width(row[j]));
      least[j] = std::max(least[j], widest_piece(row[j]));
      out.right[j] = out.right[j] && is_number(row[j]);
    }
    least[j] = out.right[j] ? out.widths[j] : std::min(out.widths[j], least[j]);
    out.columns.push_back(j);
  }
  if (limit == 0) return out;
  const auto omit = [&](const std::string& name) {
    std::erase_if(out.columns, [&](std::size_t j) { return header_[j] == name; });
  };
  const auto total = [&](const std::vector<std::size_t>& widths) {
    std::size_t sum = 0;
    for (const std::size_t j : out.columns) sum += widths[j] + 2;
    return sum - 2;
  };
  for (const std::string& name : wide_only_) omit(name);
  for (const std::string& name : give_way_) {
    if (total(least) > limit) omit(name);
  }
  // The widest column that can gives way until all fit.
  while (total(out.widths) > limit) {
    std::size_t widest = n;
    for (const std::size_t j : out.columns) {
      if (out.widths[j] > least[j] && (widest == n || out.widths[j] > out.widths[widest])) {
        widest = j;
      }
    }
    if (widest == n) break;
    --out.widths[widest];
  }
  return out;
}

std::string Table::text(std::size_t limit) const {
  const Layout layout = this->layout(limit);
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::vector<std::vector<std::string>> pieces(header_.size());
    std::size_t height = 1;
    for (const std::size_t j : layout.columns) {
      pieces[j] = broken(cells[j], layout.widths[j]);
      height = std::max(height, pieces[j].size());
    }
    for (std::size_t k = 0; k < height; ++k) {
      std::string text;
      for (const std::size_t j : layout.columns) {
        const std::string cell = k < pieces[j].size() ? pieces[j][k] : "";
        const std::string pad(layout.widths[j] - width(cell), ' ');
        if (j != layout.columns.front()) text += "  ";
        text += layout.right[j] ? pad + cell : cell + pad;
      }
      out += without_spaces_at_end(text) + "\n";
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

std::string counted(std::size_t count, const char* one, const char* several) {
  return fmt::format("{} {}", count, count == 1 ? one : several);
}

std::string size_of(std::size_t bodies, std::size_t degrees_of_freedom) {
  return counted(bodies, "body", "bodies") + ", " +
         counted(degrees_of_freedom, "degree of freedom", "degrees of freedom");
}

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
