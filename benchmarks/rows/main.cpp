// What the text of a number costs on the way into a CSV: a row of Markdown for each kind of
// number, nanoseconds a number by std::to_chars and by write_row(). See docs/speed.md.
//
//   espalier_bench_rows

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <random>
#include <span>
#include <vector>

#include "benchmarks/thread_time.hpp"
#include "cli/output/shortest_text.hpp"

namespace espalier::bench {

namespace {

constexpr int columns = 83, rows = 1000, rounds = 40;  // those of the humanoid

char* write_by_the_library(std::span<const double> row, char* to) {
  for (const double x : row) {
    to = std::to_chars(to, to + cli::longest_text, x).ptr;
    *to++ = ',';
  }
  return to;
}

using Writer = char* (*)(std::span<const double>, char*);
constexpr std::array<Writer, 2> writers{write_by_the_library, cli::write_row};

/// The best of all rounds, in turns, for each writer [ns a number].
std::array<double, writers.size()> times(std::span<const double> numbers) {
  std::vector<char> text(numbers.size() * cli::longest_text);
  std::array<double, writers.size()> best{HUGE_VAL, HUGE_VAL};
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t k = 0; k < writers.size(); ++k) {
      const double start = thread_time();
      char* end = text.data();
      for (int row = 0; row < rows; ++row) {
        end = writers[k](numbers.subspan(static_cast<std::size_t>(row) * columns, columns), end);
      }
      best[k] = std::min(best[k], (thread_time() - start) / (rows * columns));
    }
  }
  return best;
}

template <class F>
void row(const char* name, F&& number) {
  std::vector<double> numbers(static_cast<std::size_t>(rows) * columns);
  std::ranges::generate(numbers, number);
  const auto [library, ours] = times(numbers);
  std::printf("| %s | %.1f | %.1f |\n", name, library, ours);
}

}  // namespace

}  // namespace espalier::bench

int main() {
  std::mt19937_64 generator(1);
  std::normal_distribution<double> normal;
  std::printf("| numbers | std::to_chars, ns | write_row(), ns |\n| --- | --- | --- |\n");
  using espalier::bench::row;
  row("about one", [&] { return normal(generator); });
  row("1e-6 to 1e3", [&] { return std::exp(3.0 * normal(generator)) - 1.0; });
  row("rounding errors", [&] { return 1e-17 * normal(generator); });
  row("millimetres", [&] { return 1e-3 * std::round(1e3 * normal(generator)); });
  row("zero", [] { return 0.0; });
  return 0;
}
