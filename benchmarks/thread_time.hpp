#pragma once

#include <ctime>

namespace espalier::bench {

/// Time of this thread [ns]: what else the machine does does not count.
inline double thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

}  // namespace espalier::bench
