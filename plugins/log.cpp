#include "espalier/plugins/log.hpp"

#include <dlfcn.h>
#include <link.h>
#include <cstddef>
#include <cstdio>
#include <string_view>

namespace espalier::detail {

namespace {

using Writer = void(int warning, const char* text);

/// The writer of libespalier_log.so, which stands in espalier/ beside this library; null where it
/// does not.
Writer* writer() {
  static Writer* const found = []() -> Writer* {
    Dl_info here{};
    if (::dladdr(reinterpret_cast<void*>(&log_warning), &here) == 0) return nullptr;
    const std::string file = here.dli_fname;
    const std::string beside = file.substr(0, file.rfind('/') + 1) + "espalier/libespalier_log.so";
    void* const library = ::dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const symbol = library == nullptr ? nullptr : ::dlsym(library, "espalier_log");
    return reinterpret_cast<Writer*>(symbol);
  }();
  return found;
}

/// Whether the program has loaded spdlog. A walk over its libraries: dlopen(RTLD_NOLOAD) reads the
/// linker's cache and opens the file each time.
bool has_spdlog() {
  const auto is_spdlog = [](dl_phdr_info* library, std::size_t, void*) -> int {
    const std::string_view path = library->dlpi_name;
    return path.substr(path.rfind('/') + 1).starts_with(ESPALIER_SPDLOG) ? 1 : 0;
  };
  return ::dl_iterate_phdr(is_spdlog, nullptr) != 0;
}

}  // namespace

void log_warning(const std::string& text) {
  if (Writer* write = writer()) {
    write(1, text.c_str());
  } else {
    // Streams of the library would be set up at every program's start, 0.06 ms.
    std::fputs(("espalier: warning: " + text + '\n').c_str(), stderr);
  }
}

void log_debug(const std::string& text) {
  if (!has_spdlog()) return;
  if (Writer* write = writer()) write(0, text.c_str());
}

}  // namespace espalier::detail
