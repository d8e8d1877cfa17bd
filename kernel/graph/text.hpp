#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "espalier/kernel/text.hpp"

/// Words for error messages and Graphviz; used inside kernel/graph only.

namespace espalier::graph::text {

using espalier::text::quoted;

/// "'a', 'b', 'c'", shortened after `most` names; "none" if there are none.
inline std::string listed(const std::vector<std::string>& names, std::size_t most = 12) {
  if (names.empty()) return "none";
  std::string result;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i) {
    result += (i > 0 ? ", " : "") + quoted(names[i]);
  }
  if (names.size() > most) result += " and " + std::to_string(names.size() - most) + " more";
  return result;
}

/// A Graphviz string literal that shows exactly `label`.
inline std::string dot_string(std::string_view label) {
  std::string result = "\"";
  for (const char c : label) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else if (c != '\r') {
      result += c;
    }
  }
  return result + "\"";
}

}  // namespace espalier::graph::text
