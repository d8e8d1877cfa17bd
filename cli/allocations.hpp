#pragma once

#include <optional>

namespace espalier::cli {

/// Number of memory blocks that this thread has taken from the heap so far, by new, malloc or
/// Eigen, in this program or a plugin. None where the C library gives no way to count.
std::optional<long> allocation_count();

}  // namespace espalier::cli
