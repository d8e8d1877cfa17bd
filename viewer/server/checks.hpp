#pragma once

#include <spdlog/fmt/fmt.h>

#include <cmath>

#include "espalier/kernel/errors.hpp"

namespace espalier::viewer {

/// Whether a number of a client is one that a mechanism can have.
inline bool finite(double x) { return std::isfinite(x) && std::abs(x) < 1e6; }

[[noreturn]] inline void refuse_number(const char* what, double got) {
  throw InvalidModel(fmt::format("viewer: {} is {}, expected a number below 1e6", what, got));
}

/// @throws SizeMismatch unless 0 <= got < size
inline void expect_index(const char* what, int got, std::size_t size) {
  if (got >= 0 && static_cast<std::size_t>(got) < size) return;
  throw SizeMismatch(
      fmt::format("viewer: number of the {} is {}, expected one below {}", what, got, size));
}

}  // namespace espalier::viewer
