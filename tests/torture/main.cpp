#include <charconv>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/host.hpp"
#include "tests/torture/sandbox.hpp"

/// Hostile testing for some seconds: see docs/reliability.md. Exit code 1 where there is a defect.

namespace espalier::torture {
namespace {

constexpr const char* usage =
    "torture [SECONDS] [--seed N] [--kind robots|files|laws|commands] [--case N]\n"
    "Random robots, files, laws and command lines for so many seconds (60). A defect is told with\n"
    "its case, which --kind KIND --case N runs alone.\n";

struct Options {
  double seconds = 60.0;
  std::uint64_t seed = 1;
  std::string kind;
  bool one = false;
  std::uint64_t number = 0;
};

bool number(const char* word, std::uint64_t& value) {
  const char* end = word + std::strlen(word);
  const auto [stop, error] = std::from_chars(word, end, value);
  return error == std::errc() && stop == end && stop != word;
}

bool parse(int count, char** words, Options& options) {
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const char* next = i + 1 < count ? words[i + 1] : "";
    std::uint64_t value = 0;
    if (word == "--seed" && number(next, options.seed)) {
      ++i;
    } else if (word == "--case" && number(next, options.number)) {
      options.one = true, ++i;
    } else if (word == "--kind") {
      options.kind = next, ++i;
    } else if (number(word.c_str(), value) && value > 0) {
      options.seconds = static_cast<double>(value);
    } else {
      return false;
    }
  }
  return true;
}

int one_case(const Kind& kind, std::uint64_t number) {
  const Outcome outcome = kind.run(number);
  const char* const words[] = {"good", "refused", "defect"};
  std::cout << kind.name << " " << number << ": " << words[static_cast<int>(outcome.verdict)]
            << (outcome.what.empty() ? "" : ": ") << outcome.what << '\n'
            << outcome.particulars << '\n'
            << outcome.evidence;
  return outcome.verdict == Outcome::Verdict::defect;
}

int report(const std::vector<Kind>& kinds, const std::vector<Tally>& tallies) {
  int defects = 0;
  std::printf("%-10s %10s %10s %10s %8s\n", "kind", "cases", "good", "refused", "defects");
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const Tally& t = tallies[k];
    std::printf("%-10s %10ld %10ld %10ld %8zu\n", kinds[k].name.c_str(), t.cases, t.good, t.refused,
                t.defects.size());
    defects += static_cast<int>(t.defects.size());
  }
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    std::printf("\n%s: %s\n", kinds[k].name.c_str(), kinds[k].summary.c_str());
    for (const auto& [name, count] : tallies[k].counts) {
      std::printf("  %10ld %s\n", count, name.c_str());
    }
    for (const auto& [what, d] : tallies[k].defects) {
      std::printf("  DEFECT %s (%ld times; first: --kind %s --case %llu)\n    %s\n", what.c_str(),
                  d.times, kinds[k].name.c_str(), static_cast<unsigned long long>(d.number),
                  d.particulars.c_str());
    }
  }
  return defects == 0 ? 0 : 1;
}

int run(int count, char** words) {
  Options options;
  if (!parse(count, words, options)) {
    std::cerr << usage;
    return 2;
  }
  test::host();  // once, for all processes
  std::vector<Kind> kinds;
  double shares = 0.0;
  const std::pair<const char*, Kind (*)()> all[] = {
      {"robots", robots}, {"files", files}, {"laws", laws}, {"commands", commands}};
  for (const auto& [name, make] : all) {
    if (!options.kind.empty() && name != options.kind) continue;
    kinds.push_back(make());
    shares += kinds.back().share;
  }
  if (kinds.empty()) {
    std::cerr << usage;
    return 2;
  }
  if (options.one) return one_case(kinds.front(), options.number);
  std::vector<Tally> tallies(kinds.size());
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    tallies[k].next = options.seed * 1'000'000'000;
    run_cases(kinds[k], options.seconds * kinds[k].share / shares, tallies[k]);
  }
  return report(kinds, tallies);
}

}  // namespace
}  // namespace espalier::torture

int main(int count, char** words) {
  try {
    return espalier::torture::run(count, words);
  } catch (const std::exception& error) {
    std::cerr << "torture: " << error.what() << '\n';
    return 2;
  }
}
