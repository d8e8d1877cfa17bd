#include "espalier/plugins/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <mutex>

namespace espalier::detail {

std::shared_ptr<spdlog::logger> logger() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (auto known = spdlog::get("espalier")) return known;
  return spdlog::stderr_color_mt("espalier");
}

}  // namespace espalier::detail
