#pragma once

#include <cstdio>
#include <cstring>

namespace espalier::bench {

/// Most memory that this process has had at once [kB], as the system counts it; 0 where it does not
/// say. What the system tells a parent holds the parent's own.
inline long most_memory() {
  std::FILE* file = std::fopen("/proc/self/status", "r");
  if (file == nullptr) return 0;
  char line[256];
  long kilobytes = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::strncmp(line, "VmHWM:", 6) == 0) std::sscanf(line + 6, "%ld", &kilobytes);
  }
  std::fclose(file);
  return kilobytes;
}

}  // namespace espalier::bench
