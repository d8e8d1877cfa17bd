#pragma once

#include <optional>

namespace espalier::cli {

/// Number of memory blocks that this thread has taken from the heap so far, by new, malloc or
/// Eigen, in this program or a plugin. None where the C library gives no way to count.
std::optional<long> allocation_count();

/// Bytes that this thread has taken from the heap and not given back, as the C library has set them
/// aside; negative where it gave back what others took. None where there is no way to count, and
/// under sanitizers.
std::optional<long> held_bytes();

}  // namespace espalier::cli
