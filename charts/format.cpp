#include "charts/format.hpp"

#include <cstdarg>
#include <cstdio>

namespace espalier::charts {

std::string format(const char* pattern, ...) {
  std::va_list arguments;
  va_start(arguments, pattern);
  char text[500];
  std::vsnprintf(text, sizeof text, pattern, arguments);
  va_end(arguments);
  return text;
}

}  // namespace espalier::charts
