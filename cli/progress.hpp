#pragma once

#include <chrono>
#include <string>

namespace espalier::cli {

/// How far a long run has come, on standard error: a bar on a terminal once it has taken 0.2 s,
/// elsewhere a line at every tenth once it has taken a second.
class Progress {
 public:
  explicit Progress(std::string what);
  /// Takes the bar away.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// @param part  of the whole, 0 to 1
  void show(double part);

 private:
  std::string what_;
  bool terminal_;
  std::chrono::steady_clock::time_point start_, last_;
  int tenths_ = 0;
  bool drawn_ = false;
};

}  // namespace espalier::cli
