#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <mutex>

/// What plugins/log.cpp opens when there is something to say.

namespace {

std::shared_ptr<spdlog::logger> logger() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (auto known = spdlog::get("espalier")) return known;
  return spdlog::stderr_color_mt("espalier");
}

}  // namespace

extern "C" __attribute__((visibility("default"))) void espalier_log(int warning, const char* text) {
  logger()->log(warning != 0 ? spdlog::level::warn : spdlog::level::debug, std::string_view(text));
}
