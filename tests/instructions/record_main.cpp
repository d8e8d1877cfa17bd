// Counts the instructions of the fixed calls and writes them into recorded.json:
// ./espalier record-instructions

#include <cstdio>
#include <exception>
#include <map>

#include "tests/instructions/counts.hpp"

namespace espalier::test {
namespace {

/// What was recorded before, by call; empty where there is no record yet.
std::map<std::string, long> before() {
  try {
    const Counts counts = read_record();
    return {counts.per_call.begin(), counts.per_call.end()};
  } catch (const std::exception&) {
    return {};
  }
}

void record() {
  const std::map<std::string, long> old = before();
  const Counts counts = count_instructions();
  for (const auto& [name, value] : counts.conditions) {
    std::printf("%s: %s\n", name.c_str(), value.c_str());
  }
  std::printf("\n%-34s %12s %12s\n", "instructions per call", "now", "before");
  for (const auto& [call, count] : counts.per_call) {
    const auto found = old.find(call);
    if (found == old.end()) {
      std::printf("%-34s %12ld %12s\n", call.c_str(), count, "-");
    } else {
      const double change = static_cast<double>(count) / static_cast<double>(found->second) - 1.0;
      std::printf("%-34s %12ld %12ld  %+.2f %%\n", call.c_str(), count, found->second,
                  100.0 * change);
    }
  }
  write_record(counts);
}

}  // namespace
}  // namespace espalier::test

int main(int count, char** words) {
  if (count > 1) {
    std::fprintf(stderr, "usage: %s (counts, and writes recorded.json)\n", words[0]);
    return 2;
  }
  try {
    espalier::test::record();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", words[0], error.what());
    return 1;
  }
}
