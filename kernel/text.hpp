#pragma once

#include <cstdio>
#include <string>
#include <string_view>

/// Words for messages.

namespace espalier::text {

inline std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

/// With `digits` significant digits.
inline std::string number(double x, int digits = 6) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.*g", digits, x);
  return buffer;
}

}  // namespace espalier::text
