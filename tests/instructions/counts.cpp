#include "tests/instructions/counts.hpp"

#include <gnu/libc-version.h>
#include <sys/wait.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "espalier/espalier.hpp"
#include "espalier/host/output_file.hpp"
#include "espalier/plugins/loader.hpp"
#include "tests/instructions/calls.hpp"
#include "tests/instructions/marks.hpp"
#include "tests/support/temporary_folder.hpp"

namespace espalier::test {

namespace {

const std::string record_file = ESPALIER_SOURCE_DIR "/tests/instructions/recorded.json";

/// The widest that valgrind 3.19 knows, so that it is chosen on any processor that has it.
constexpr const char* instruction_set = "x86-64-v3";

struct Answer {
  int code;
  std::string text;
};

/// Runs a command by the shell; what it prints, errors too.
Answer run(const std::string& command) {
  Answer answer{-1, ""};
  FILE* pipe = popen(("(" + command + ") 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no process can be started for: " + command);
  std::array<char, 4096> buffer;
  while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) {
    answer.text.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status)) answer.code = WEXITSTATUS(status);
  while (answer.text.ends_with('\n')) answer.text.pop_back();
  return answer;
}

std::string valgrind_version() {
  if (!has_marks) return "none";
  const Answer answer = run("valgrind --version");
  return answer.code == 0 ? answer.text : "none";
}

/// Instruction set of the plugin that the loader takes for most of the calls.
std::string loaded_instruction_set() {
  const Host host(Host::Options{{ESPALIER_PLUGIN_DIR}, false});
  const std::string& origin = host.registry().find_algorithm("forward-dynamics", "aba").origin;
  for (const LoadedPlugin& plugin : host.loader().loaded()) {
    if (plugin.file == origin) return plugin.instruction_set;
  }
  return "none";
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error(path + ": file is missing or unreadable");
  return text.str();
}

/// "+3.4 %"
std::string percent(double ratio) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.1f %%", 100.0 * (ratio - 1.0));
  return text;
}

}  // namespace

Conditions conditions_here() {
  ::setenv("ESPALIER_INSTRUCTION_SET", instruction_set, 1);  // for programs started here, too
  return {{"compiler", __VERSION__},
          {"build", ESPALIER_BUILD},
          {"instruction_set", loaded_instruction_set()},
          {"c_library", std::string("glibc ") + gnu_get_libc_version()},
          {"valgrind", valgrind_version()}};
}

Counts count_instructions() {
  Counts counts{conditions_here(), {}};
  const TemporaryFolder folder;
  const std::string file = folder / "counts";
  const Answer answer =
      run("valgrind -q --tool=callgrind --instr-atstart=no --combine-dumps=yes "
          "--callgrind-out-file='" +
          file + "' '" ESPALIER_INSTRUCTION_CALLS "'");
  if (answer.code != 0) {
    throw std::runtime_error("valgrind: exit code is " + std::to_string(answer.code) +
                             ", expected 0; it says: " + answer.text);
  }
  const std::string text = contents(file);
  counts.per_call = read_dumps(text, counted_calls);
  return counts;
}

std::vector<std::pair<std::string, long>> read_dumps(const std::string& text, int calls) {
  constexpr std::string_view dump = "desc: Trigger: Client Request: ", total = "totals: ";
  std::vector<std::pair<std::string, long>> counts;
  std::string name;  // of the dump that has no total yet
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("part: ") && !name.empty()) break;
    if (line.starts_with(dump)) name = line.substr(dump.size());
    if (!line.starts_with(total) || name.empty()) continue;
    counts.emplace_back(name, std::lround(std::stod(line.substr(total.size())) / calls));
    name.clear();
  }
  if (!name.empty() || counts.empty()) {
    throw std::runtime_error("callgrind: total of '" + name +
                             "' is missing, expected one for each "
                             "call (valgrind and its header may be of different versions)");
  }
  return counts;
}

std::string difference(const Conditions& recorded, const Conditions& here) {
  const std::map<std::string, std::string> ours(here.begin(), here.end());
  std::string text;
  for (const auto& [name, value] : recorded) {
    const auto found = ours.find(name);
    const std::string is = found == ours.end() ? "none" : found->second;
    if (is == value) continue;
    text += (text.empty() ? "" : "; ") + name + " is '" + is + "', recorded with '" + value + "'";
  }
  return text;
}

std::vector<std::string> compare(const Counts& recorded, const Counts& measured) {
  std::map<std::string, long> left(recorded.per_call.begin(), recorded.per_call.end());
  std::vector<std::string> lines;
  for (const auto& [call, count] : measured.per_call) {
    const auto found = left.find(call);
    if (found == left.end()) {
      lines.push_back(call + ": instructions per call are " + std::to_string(count) +
                      ", expected a recorded number");
      continue;
    }
    const double ratio = static_cast<double>(count) / static_cast<double>(found->second);
    if (!(std::abs(ratio - 1.0) <= tolerance)) {
      lines.push_back(call + ": instructions per call are " + std::to_string(count) +
                      ", expected " + std::to_string(found->second) + " within 3 % (" +
                      percent(ratio) + (ratio < 1.0 ? ", faster)" : ", slower)"));
    }
    left.erase(found);
  }
  for (const auto& [call, count] : left) {
    lines.push_back(call + ": recorded call is missing, expected one of " + std::to_string(count) +
                    " instructions");
  }
  return lines;
}

nlohmann::ordered_json to_json(const Counts& counts) {
  nlohmann::ordered_json document{{"recorded_with", nlohmann::ordered_json::object()},
                                  {"instructions_per_call", nlohmann::ordered_json::object()}};
  for (const auto& [name, value] : counts.conditions) document["recorded_with"][name] = value;
  for (const auto& [name, n] : counts.per_call) document["instructions_per_call"][name] = n;
  return document;
}

Counts from_json(const nlohmann::ordered_json& document) {
  Counts counts;
  for (const auto& [name, value] : document.at("recorded_with").items()) {
    counts.conditions.emplace_back(name, value.get<std::string>());
  }
  for (const auto& [name, n] : document.at("instructions_per_call").items()) {
    counts.per_call.emplace_back(name, n.get<long>());
  }
  return counts;
}

Counts read_record() {
  try {
    return from_json(nlohmann::ordered_json::parse(contents(record_file)));
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(record_file + ": " + error.what());
  }
}

void write_record(const Counts& counts) { write_file(record_file, to_json(counts).dump(2) + "\n"); }

}  // namespace espalier::test
