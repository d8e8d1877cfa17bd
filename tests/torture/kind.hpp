#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "tests/support/random.hpp"

/// Hostile testing: kinds of cases that are made of a number each, and what came of them.

namespace espalier::torture {

using test::Rng;

/// What came of a case.
struct Outcome {
  enum class Verdict {
    good,     ///< computed, and all that was computed agrees
    refused,  ///< an error that says what is wrong
    defect    ///< what must not be
  };
  Verdict verdict = Verdict::good;
  /// One word for each thing that was counted besides: "agreements", "singular".
  std::map<std::string, long> counts;
  /// Of a defect: what, the same words for the same cause, and then the particulars.
  std::string what, particulars;
  std::string evidence;  ///< all that was computed on, for who runs the case alone
};

/// Cases of one kind. A case depends on nothing but its number.
struct Kind {
  std::string name, summary;
  double share = 1.0;   ///< of the time
  double seconds = 10;  ///< of the processor; a case that takes longer hangs
  std::function<Outcome(std::uint64_t number)> run;
};

Kind robots();    ///< random robots, legal, singular and absurd, by all algorithms
Kind files();     ///< mutated files of every format
Kind laws();      ///< laws as plugins have them, good and bad
Kind commands();  ///< random words for the command line

/// A case that must not be.
Outcome defect(std::string what, std::string particulars = "");
/// A refusal, or the defect that an error does not have the form of errors:
/// `<who>: <what> is <got>, expected <wanted>`.
Outcome refusal(const std::string& message);

}  // namespace espalier::torture
