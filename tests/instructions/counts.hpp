#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

/// Instructions of the fixed calls, counted by callgrind: a measure of speed that does not depend
/// on what else the machine does.

namespace espalier::test {

/// What counts depend on besides the sources, by name: compiler, build, instruction set, C library
/// (sine and cosine at double), valgrind (whose processor it is). Where something is not there, it
/// is "none".
using Conditions = std::vector<std::pair<std::string, std::string>>;

struct Counts {
  Conditions conditions;
  std::vector<std::pair<std::string, long>> per_call;  ///< instructions, by the call's name
};

/// Those of this build on this machine.
Conditions conditions_here();

/// Runs the fixed calls under callgrind; takes some seconds.
/// @throws std::runtime_error with what valgrind or the calls say if they fail
Counts count_instructions();

/// What callgrind wrote in one file, a dump for each call.
/// @param calls  how often each was called between the marks
/// @throws std::runtime_error for a dump without a total
std::vector<std::pair<std::string, long>> read_dumps(const std::string& text, int calls);

/// Says in words which conditions differ; empty if none does.
std::string difference(const Conditions& recorded, const Conditions& here);

/// Difference that is taken for noise: compilers' patch releases, addresses of memory.
inline constexpr double tolerance = 0.03;

/// One line for each call whose count left the recorded one by more than the tolerance, in either
/// direction, and for each that only one of the two knows.
std::vector<std::string> compare(const Counts& recorded, const Counts& measured);

nlohmann::ordered_json to_json(const Counts& counts);
/// @throws nlohmann::json::exception for a document of another shape
Counts from_json(const nlohmann::ordered_json& document);

/// The counts in the repository. @throws std::runtime_error if the file is missing or no record
Counts read_record();
/// @throws std::runtime_error if the file cannot be written
void write_record(const Counts& counts);

}  // namespace espalier::test
