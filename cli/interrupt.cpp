#include "cli/interrupt.hpp"

#include <csignal>

namespace espalier::cli {

namespace {

volatile std::sig_atomic_t asked_for = 0;
struct sigaction before {};

void ask(int) { asked_for = 1; }

}  // namespace

Interrupt::Interrupt() {
  asked_for = 0;
  struct sigaction action {};
  action.sa_handler = ask;
  action.sa_flags = SA_RESETHAND;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before);
}

Interrupt::~Interrupt() { sigaction(SIGINT, &before, nullptr); }

bool Interrupt::asked() { return asked_for != 0; }

}  // namespace espalier::cli
