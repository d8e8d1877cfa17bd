#pragma once

namespace espalier::cli {

/// Ctrl-C asks to come to an end while an object of this lives; a second one ends the program.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// Whether it was asked for.
  static bool asked();
};

}  // namespace espalier::cli
