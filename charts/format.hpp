#pragma once

#include <string>

namespace espalier::charts {

/// printf into a string of at most 499 characters.
[[gnu::format(printf, 1, 2)]] std::string format(const char* pattern, ...);

}  // namespace espalier::charts
