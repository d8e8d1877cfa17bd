#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "tests/torture/kind.hpp"

namespace espalier::torture {

/// What all cases of a kind came to.
struct Tally {
  struct Defect {
    long times = 0;
    std::uint64_t number = 0;  ///< of the first case
    std::string particulars;
  };
  long cases = 0, good = 0, refused = 0;
  std::map<std::string, long> counts;
  std::map<std::string, Defect> defects;  ///< by what they are
  std::uint64_t next = 0;                 ///< the case to go on with

  void add(std::uint64_t number, const Outcome& outcome);
};

/// Runs cases from tally.next on, for some seconds, in processes of their own: a crash or a hang is
/// a defect of the case that it happened in, and the next case goes on.
void run_cases(const Kind& kind, double seconds, Tally& tally);

/// What a process has used of processors [s]; 0 where there is none of that number.
double processor_time(int process);

}  // namespace espalier::torture
