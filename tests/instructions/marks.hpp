#pragma once

#include <string>

#if __has_include(<valgrind/callgrind.h>)
#include <valgrind/callgrind.h>
#endif

/// Marks in a program for callgrind; nothing where valgrind's header is not installed.

namespace espalier::test {

#ifdef CALLGRIND_DUMP_STATS_AT
inline constexpr bool has_marks = true;
inline void start_counting() { CALLGRIND_START_INSTRUMENTATION; }
inline void stop_counting(const std::string& name) {
  CALLGRIND_STOP_INSTRUMENTATION;
  CALLGRIND_DUMP_STATS_AT(name.c_str());
}
#else
inline constexpr bool has_marks = false;
inline void start_counting() {}
inline void stop_counting(const std::string&) {}
#endif

}  // namespace espalier::test
