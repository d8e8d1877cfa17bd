#include "cli/progress.hpp"

#include <spdlog/fmt/fmt.h>
#include <unistd.h>
#include <iostream>

namespace espalier::cli {

Progress::Progress(std::string what)
    : what_(std::move(what)),
      terminal_(isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

Progress::~Progress() {
  if (drawn_) std::cerr << "\r\033[K" << std::flush;
}

void Progress::show(double part) {
  using std::chrono::milliseconds;
  const int tenths = static_cast<int>(10.0 * part);
  // Before the clock is read: a look at it takes a hundredth of the time of a step.
  if (!terminal_ && (tenths <= tenths_ || tenths >= 10)) return;
  const auto now = std::chrono::steady_clock::now();
  if (!terminal_) {
    tenths_ = tenths;
    if (now - start_ > milliseconds(1000)) {
      std::cerr << fmt::format("espalier: {}: {} %\n", what_, 10 * tenths);
    }
    return;
  }
  if (now - start_ < milliseconds(200) || now - last_ < milliseconds(50)) return;
  last_ = now;
  drawn_ = true;
  constexpr int width = 40;
  const int filled = static_cast<int>(width * part);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  std::cerr << fmt::format("\r{} [{}{}] {:3.0f} %, {:.0f} s left\033[K", what_,
                           std::string(filled, '#'), std::string(width - filled, ' '), 100.0 * part,
                           part > 0.0 ? seconds * (1.0 - part) / part : 0.0)
            << std::flush;
}

}  // namespace espalier::cli
