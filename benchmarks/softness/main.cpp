// How soft MuJoCo's constraints are, beside exact ones.
//
//   espalier_bench_softness [SVG]             accelerations as equality constraints stiffen
//   espalier_bench_softness contacts [SVG]    slope, slide, stack and loop at MuJoCo's defaults
//
// Each prints its figures and writes its chart.

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmarks/softness/softness.hpp"

int main(int count, char** words) {
  using namespace espalier::bench;
  std::vector<std::string> arguments(words + 1, words + count);
  try {
    const bool contacts = !arguments.empty() && arguments.front() == "contacts";
    if (contacts) arguments.erase(arguments.begin());
    if (arguments.size() > 1) {
      throw std::runtime_error("argument is '" + arguments[1] +
                               "', expected [contacts] [FILE.svg]");
    }
    const std::string svg = arguments.empty() ? "mujoco_softness.svg" : arguments.front();
    (contacts ? draw_contacts : draw_equality)(svg);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "espalier_bench_softness: %s\n", error.what());
    return 1;
  }
}
