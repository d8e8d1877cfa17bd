// Runs the fixed calls under callgrind, which counts between the marks and writes a dump for each:
// counts.cpp starts it and reads the dumps.

#include <cstdio>
#include <exception>

#include "tests/instructions/calls.hpp"
#include "tests/instructions/marks.hpp"

namespace espalier::test {
namespace {

void run_all() {
  const Host host(Host::Options{{ESPALIER_PLUGIN_DIR}, false});
  for (const Call& call : fixed_calls(host)) {
    for (int k = 0; k < warming_calls; ++k) call.run(k);
    start_counting();
    for (int k = 0; k < counted_calls; ++k) call.run(k);
    stop_counting(call.name);
  }
}

}  // namespace
}  // namespace espalier::test

int main(int, char** words) {
  try {
    espalier::test::run_all();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", words[0], error.what());
    return 1;
  }
}
